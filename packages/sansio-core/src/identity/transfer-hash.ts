/** The identity of handles on their way, which needs a hash. The runtime makes it; no step does. */
import { hashed } from "./hash.ts";
import { processEffectId } from "./process.ts";
import type { SessionScope } from "./session-scope.ts";

/** The id of the effect that moves handles from one scope to another. */
export const transferEffectId = (from: SessionScope, to: SessionScope, processIds: readonly string[]): string =>
  processEffectId({ op: "transfer", from, to, ids_hash: hashed(processIds).hash });
