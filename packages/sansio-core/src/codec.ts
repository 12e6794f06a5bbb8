/** The codec of all events: one union, its member picked by the tag. */
import { type Codec, tagged } from "@pawl/tool-value";
import { callEvents } from "./call/codec.ts";
import { catalogEvents } from "./catalog/codec.ts";
import type { PlainEventType } from "./core-seldom.ts";
import { effectEvents } from "./effect/codec.ts";
import type { Event } from "./event.ts";
import { codecs } from "./part/at-hand.ts";
import { requestEvents } from "./request/codec.ts";
import { scopeEvents } from "./scope/codec.ts";

export const EventCodec: Codec<Event> = tagged<Event, "type", PlainEventType>(
  "Event",
  "type",
  { ...scopeEvents, ...catalogEvents, ...requestEvents, ...callEvents, ...effectEvents },
  () => codecs.code.events,
);
