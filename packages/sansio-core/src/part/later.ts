/** The slots of `at-hand.ts`, each to be filled before it is needed. */
import type * as parts from "./at-hand.ts";
import { Slot } from "./slot.ts";

export const late: typeof parts.late = new Slot("flows, processes and other scopes");
export const codecs: typeof parts.codecs = new Slot("events of flows, processes and other scopes");
