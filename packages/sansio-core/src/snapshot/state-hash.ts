/** Hashes a state: equal for equal states, however they came about. */
import { stableHash } from "@pawl/tool-value";
import type { State } from "../kernel/state.ts";
import { snapshot } from "./write.ts";

/** Hashes a state: equal states have equal hashes, however they came about. */
export const stateHash = (state: State): string => stableHash(snapshot(state));
