/** The slots of `at-hand.ts`, each to be filled before it is needed. */
import type * as parts from "./at-hand.ts";
import { Slot } from "./slot.ts";

export const flowSlot: typeof parts.flowSlot = new Slot("flows");
export const amongSlot: typeof parts.amongSlot = new Slot("processes and other scopes");
export const codecSlot: typeof parts.codecSlot = new Slot("events of flows, processes and other scopes");
