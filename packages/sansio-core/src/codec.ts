/** The codec of all events: one union, its member picked by the tag. */
import { type Codec, string, tagged } from "@pawl/tool-value";
import { approvalEvents } from "./approval/codec.ts";
import { callEvents } from "./call/codec.ts";
import { catalogEvents } from "./catalog/codec.ts";
import { effectEvents } from "./effect/codec.ts";
import type { Event } from "./event.ts";
import { codecs } from "./part/at-hand.ts";
import type { lateCodecs } from "./part/codec.ts";
import { requestEvents } from "./request/codec.ts";
import { scopeEvents } from "./scope/codec.ts";
import { waitEvents } from "./wait/codec.ts";

type Late = (typeof lateCodecs)["events"];

/** Events whose codecs are made when the first of them is seen. */
const seldom = <T extends keyof Late>(...types: readonly T[]): { readonly [K in T]: () => Late[K] } =>
  Object.fromEntries(types.map((type) => [type, () => codecs.code.events[type]])) as {
    readonly [K in T]: () => Late[K];
  };

export const EventCodec: Codec<Event> = tagged<Event, "type">("Event", "type", {
  ...scopeEvents,
  ...catalogEvents,
  ...requestEvents,
  ...callEvents,
  ...approvalEvents,
  ...effectEvents,
  ...waitEvents,
  ...seldom(
    ...(["message.received", "message.answered", "link.retired"] as const),
    ...(["process.registered", "process.event_appended"] as const),
    ...(["handle.granted", "handles.transferred", "handles.revoked", "session.deleted"] as const),
    ...(["flow.submitted", "lambda.applied", "flow.consumer_gone"] as const),
    ...(["run.requested", "permit.answered", "run.reported", "artifacts.written"] as const),
    ...(["task.created", "task.updated", "task.cancel_requested", "task.messaged"] as const),
    ...(["schedule.requested", "schedule.planned", "schedule.cancelled", "probe.answered"] as const),
  ),
  "external.cancel_acked": { key: string },
  "wake.acked": { key: string },
  "session.told": { key: string },
});
