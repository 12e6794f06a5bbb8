/** How often an effect may happen, and whether it did so more or less often. */
import type { Claim, Scenario } from "./scenario.ts";

export const claimOf = (effect: string, scenario: Scenario, claims: ReadonlyMap<string, Claim>): Claim =>
  scenario.claims?.[effect] ?? claims.get(effect) ?? "exactly_once";

const mayRepeat = (claim: Claim): boolean => claim === "at_least_once" || claim === "any";
export const mayMiss = (claim: Claim): boolean => claim === "at_most_once" || claim === "any";

/**
 * How a count breaks its claim, beside how often the effect happens undisturbed. Where an outcome is unknown a body may
 * leave out what hangs on it, and do once what it does in no other case: look what became of it, tell a person.
 */
export const breach = (
  claim: Claim,
  count: number,
  usual: number,
  isUnknown: boolean,
): "lost" | "doubled" | undefined => {
  const most = isUnknown ? Math.max(usual, 1) : usual;
  if (count > most && !mayRepeat(claim)) return "doubled";
  return count < usual && !mayMiss(claim) && !isUnknown ? "lost" : undefined;
};
