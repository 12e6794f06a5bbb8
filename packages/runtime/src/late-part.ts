/**
 * What many pages never need: at hand here. Bundlers for pages take `late-part-later.ts` in the place of this file, as
 * `package.json` tells them.
 */
import * as code from "./late-code.ts";
import { Part } from "./loading.ts";

export type LateCode = typeof code;

export const late = new Part(async () => code, code);
