/**
 * What only some logs need: flows; processes, and all that goes between scopes. Here it is at hand. Bundlers for pages
 * take `later.ts` in the place of this file, as `package.json` tells them.
 */
import { lateCode } from "../late-code.ts";
import { lateCodecs } from "./codec.ts";
import { Slot } from "./slot.ts";

export const late = new Slot("flows, processes and other scopes", lateCode);
export const codecs = new Slot("events of flows, processes and other scopes", lateCodecs);
