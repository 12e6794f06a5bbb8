/**
 * What a runtime does with processes, and between scopes: at hand here. Bundlers for pages take `scope-part-later.ts`
 * in the place of this file, as `package.json` tells them.
 */
import { Part } from "./loading.ts";
import * as scopes from "./scope-code.ts";

export const scopeParts = new Part(async () => scopes, scopes);
