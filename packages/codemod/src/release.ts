/** The renamings of each release, in the order in which they are applied. */
import { call } from "./rename/call.ts";
import { inputSchema } from "./rename/input-schema.ts";
import { progress } from "./rename/progress.ts";
import { step } from "./rename/step.ts";
import { wait } from "./rename/wait.ts";
import type { Renaming } from "./rewrite.ts";

export const releases: { readonly [release: string]: readonly Renaming[] } = {
  "0.1-to-1.0": [inputSchema, step, wait, call, progress],
};
