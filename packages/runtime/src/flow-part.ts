/**
 * What a runtime does with flows: at hand here. Bundlers for pages take `flow-part-later.ts` in the place of this file,
 * as `package.json` tells them.
 */
import * as flows from "./flow-code.ts";
import { Part } from "./loading.ts";

export const flowParts = new Part(async () => flows, flows);
