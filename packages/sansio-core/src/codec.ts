/** The codec of all events: one union, its member picked by the tag. */
import { type Codec, tagged } from "@pawl/tool-value";
import { approvalEvents } from "./call/approval-codec.ts";
import { backgroundEvents } from "./run/codec.ts";
import { callEvents } from "./call/codec.ts";
import { catalogEvents } from "./catalog/codec.ts";
import { effectEvents } from "./call/effect-codec.ts";
import type { Event } from "./kernel/event.ts";
import { flowEvents } from "./flow/codec.ts";
import { handleEvents } from "./link/handle-codec.ts";
import { linkEvents } from "./link/codec.ts";
import { outboxEvents } from "./link/outbox-codec.ts";
import { processEvents } from "./process/codec.ts";
import { requestEvents } from "./request/codec.ts";
import { scheduleEvents } from "./schedule/codec.ts";
import { scopeEvents } from "./scope/codec.ts";
import { waitEvents } from "./wait/codec.ts";

export const EventCodec: Codec<Event> = tagged<Event, "type">("Event", "type", {
  ...scopeEvents,
  ...catalogEvents,
  ...requestEvents,
  ...callEvents,
  ...approvalEvents,
  ...effectEvents,
  ...waitEvents,
  ...outboxEvents,
  ...linkEvents,
  ...processEvents,
  ...handleEvents,
  ...flowEvents,
  ...backgroundEvents,
  ...scheduleEvents,
});
