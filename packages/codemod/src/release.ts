/** The renamings of each release, in the order in which they are applied. */
import { inputSchema } from "./rename/input-schema.ts";
import type { Renaming } from "./rewrite.ts";

export const releases: { readonly [release: string]: readonly Renaming[] } = {
  "0.1-to-1.0": [inputSchema],
};
