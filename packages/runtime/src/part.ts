/**
 * JSON Schema, which many pages never need: at hand here. Bundlers for pages take `part-later.ts` in the place of this
 * file, as `package.json` tells them.
 */
import * as jsonSchema from "./json-schema.ts";
import { Part } from "./loading.ts";

export const jsonSchemas = new Part(async () => jsonSchema, jsonSchema);
