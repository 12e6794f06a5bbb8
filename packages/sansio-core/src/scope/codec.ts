import { string, u64 } from "@pawl/tool-value";
import { Options } from "../options.ts";

/** The fields of the events of this concern that every log may have. */
export const scopeEvents = {
  "scope.opened": { epoch: u64, owner: string, protocol: u64, options: Options },
  "clock.ticked": {},
} as const;
