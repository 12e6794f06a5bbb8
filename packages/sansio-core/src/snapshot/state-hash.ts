/** Hashes a state; no step does. */
import { stableHash } from "@pawl/tool-value";
import type { State } from "../kernel/vocabulary.ts";
import { snapshot } from "./write.ts";

/** Hashes a state: equal states have equal hashes, however they came about. */
export const stateHash = (state: State): string => stableHash(snapshot(state));
