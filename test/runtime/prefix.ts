/** What a runtime makes of a log, prefix by prefix: runs in Node and in a browser. */
import { describeFault, replay, stateHash } from "@pawl/sansio-core";

export interface Prefixes {
  /** Of the state after each event. */
  readonly hashes: readonly string[];
  readonly fault: string | undefined;
}

export const prefixesOf = (log: string): Prefixes => {
  const hashes: string[] = [];
  const { fault } = replay([log], { onStep: (_, { state }) => void hashes.push(stateHash(state)) });
  return { hashes, fault: fault === undefined ? undefined : describeFault(fault) };
};
