/** `@pawl/wire/frame`: the frames between hosts and clients. */
import { type Event, EventCodec } from "@pawl/sansio-core";
import { type HostFrameOf, hostFrameOf } from "./host-frame.ts";

export { ClientFrame, type Question, type QuestionType, protocolVersion } from "./client-frame.ts";
export { type CloseReason, type HostError, closeCodes } from "./host-frame.ts";
export { frameText, readFrame } from "./text.ts";

/** A frame as a host sends it. */
export type HostFrame = HostFrameOf<Event>;
export const HostFrame = hostFrameOf(EventCodec);
