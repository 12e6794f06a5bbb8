/** The part of `part.ts`, loaded when it is needed first. */
import { laterFile } from "./later-file.ts";
import { Part } from "./loading.ts";
import type * as parts from "./part.ts";

export const jsonSchemas: typeof parts.jsonSchemas = new Part(laterFile(() => import("./json-schema.ts")));
