/** The codecs of what only some logs record. */
import { array, nullable, optional, string } from "@pawl/tool-value";
import { approvalEvents } from "../approval/codec.ts";
import { backgroundEvents } from "../background/codec.ts";
import { seldomCallEvents, seldomResults } from "../call/seldom-codec.ts";
import { AvailabilityCodec } from "../catalog/codec.ts";
import { seldomEffectEvents, seldomEffects } from "../effect/seldom-codec.ts";
import { flowEvents } from "../flow/codec.ts";
import { handleEvents } from "../handle/codec.ts";
import { linkEvents } from "../link/codec.ts";
import { processEvents } from "../process/codec.ts";
import { scheduleEvents } from "../schedule/codec.ts";
import { seldomScopeEvents } from "../scope/seldom-codec.ts";
import { waitEvents } from "../wait/codec.ts";

export const lateCodecs = {
  seldomEffects,
  seldomResults,
  events: {
    ...seldomScopeEvents,
    "catalog.overridden": { names: array(string), availability: nullable(AvailabilityCodec) },
    "request.cancelled": { request: string, by: optional(string) },
    ...seldomCallEvents,
    ...approvalEvents,
    ...seldomEffectEvents,
    ...waitEvents,
    ...linkEvents,
    ...processEvents,
    ...handleEvents,
    ...flowEvents,
    ...backgroundEvents,
    ...scheduleEvents,
    "external.cancel_acked": { key: string },
    "wake.acked": { key: string },
    "session.told": { key: string },
  },
};
