/** Slots for what only some logs need, as the rest of the core asks for it. */
import type { lateCode } from "../late-code.ts";
import type { lateCodecs } from "./codec.ts";
import { Slot } from "./slot.ts";

export const late = new Slot<typeof lateCode>("what calls seldom come to");
export const codecs = new Slot<typeof lateCodecs>("events that calls seldom come to");

/** Whether any event can come: then none tells that its code is needed. */
export const isFilled = (): boolean => late.isFilled;
