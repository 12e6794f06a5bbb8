/**
 * Concerns that only some logs need: flows; and processes with all that goes between scopes. Here they are at hand.
 * Bundlers for pages take `later.ts` in the place of this file, as `package.json` tells them.
 */
import { amongCode } from "../among-code.ts";
import { lateCodecs } from "./codec.ts";
import { flowCode } from "../flow-code.ts";
import { Slot } from "./slot.ts";

export const flowSlot = new Slot("flows", flowCode);
export const amongSlot = new Slot("processes and other scopes", amongCode);
export const codecSlot = new Slot("events of flows, processes and other scopes", lateCodecs);
