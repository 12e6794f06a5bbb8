/** Folds logs and says how each goes, prefix by prefix: runs in every runtime. */
import { describeFault, digest, replay, stateHash } from "@pawl/sansio-core";

export interface Prefixes {
  /** The digest of the commands of each event, and the hash of the state after it. */
  readonly steps: readonly string[];
  readonly fault: string | undefined;
}

export const prefixesOf = (log: string): Prefixes => {
  const steps: string[] = [];
  const { fault } = replay([log], {
    onStep: (_, transition) => void steps.push(`${digest(transition)} ${stateHash(transition.state)}`),
  });
  return { steps, fault: fault === undefined ? undefined : describeFault(fault) };
};

/** The same of many logs, as JSON carries it. */
export const allPrefixesOf = (logs: readonly string[]): readonly Prefixes[] => logs.map(prefixesOf);
