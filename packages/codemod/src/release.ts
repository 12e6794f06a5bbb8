/** Lists the renamings from one release to the next. */
import { call } from "./rename/call.ts";
import { driverImport } from "./rename/driver-import.ts";
import { inputSchema } from "./rename/input-schema.ts";
import { processStart, scopeOption, trigger } from "./rename/option.ts";
import { progress } from "./rename/progress.ts";
import { toolField } from "./rename/tool-field.ts";
import { callLabel, sessionId, sessionRequest } from "./rename/session.ts";
import { step } from "./rename/step.ts";
import { wait } from "./rename/wait.ts";
import type { Renaming } from "./rewrite.ts";

/** The renamings of each release, in the order in which they are applied. */
export const releases: { readonly [release: string]: readonly Renaming[] } = {
  "0.1-to-1.0": [
    driverImport,
    inputSchema,
    toolField,
    step,
    wait,
    call,
    progress,
    sessionRequest,
    callLabel,
    sessionId,
    scopeOption,
    trigger,
    processStart,
  ],
};
