/** The state of a scope in a journal, from its segment and its lines. */
import { type State, describeFault, replay } from "@pawl/sansio-core";
import { isSealedLine } from "@pawl/runtime";
import { CliError, exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";
import { linesIn } from "../log/head.ts";

/** Without their keys values are not themselves: nothing may be added to them. */
export const refuseSealed = (scope: string, lines: Iterable<string>): void => {
  for (const line of lines) {
    if (!isSealedLine(line)) continue;
    const message = `${scope} is not changed: its values are sealed`;
    throw new CliError("sealed", message, { exit: exit.refused, hint: "add --keys <folder>, or set PAWL_KEYS" });
  }
};

export const stateOf = async (journal: JournalFile, scope: string): Promise<State> => {
  const text = await journal.textOf(scope);
  refuseSealed(scope, linesIn(text));
  const { state, fault } = replay(await journal.textOf(scope));
  if (state !== undefined && fault === undefined) return state;
  const why = fault === undefined ? "it has no events" : (describeFault(fault).split("\n")[0] ?? fault.code);
  throw new CliError("quarantined", `${scope} is read-only: ${why}`, { exit: exit.wrong, hint: "pawl doctor" });
};
