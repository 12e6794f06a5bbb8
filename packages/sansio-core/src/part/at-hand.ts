/**
 * The slots of `needed.ts`, filled: here all code is at hand. Bundlers for pages take `later.ts` in the place of this
 * file, as `package.json` tells them. Whatever the core is entered by imports its slots from here.
 */
import { lateCode } from "../late-code.ts";
import { lateCodecs } from "./codec.ts";
import { codecs as codecsNeeded, late as lateNeeded } from "./needed.ts";

export const late = lateNeeded.with(lateCode);
export const codecs = codecsNeeded.with(lateCodecs);
