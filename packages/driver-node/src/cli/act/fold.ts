/** The state of a scope in a journal, from its segment and its lines. */
import { linesIn } from "@pawl/runtime";
import { type State, describeFault, replay } from "@pawl/sansio-core";
import { CliError, exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";
import { refuseSealed } from "../log/sealed.ts";

/** Without their keys values are not themselves: nothing may be added to them. */
const unchanged = (scope: string): string => `${scope} is not changed: its values are sealed`;

export const refuseToChangeSealed = (scope: string, lines: Iterable<string>): void =>
  refuseSealed(lines, unchanged(scope), exit.refused);

export const stateOf = async (journal: JournalFile, scope: string, sealed = unchanged(scope)): Promise<State> => {
  const text = await journal.textOf(scope);
  refuseSealed(linesIn(text), sealed, exit.refused);
  const { state, fault } = replay(await journal.textOf(scope));
  if (state !== undefined && fault === undefined) return state;
  const why = fault === undefined ? "it has no events" : (describeFault(fault).split("\n")[0] ?? fault.code);
  const hint = `pawl doctor ${journal.file}#${scope}`;
  throw new CliError("quarantined", `${scope} is read-only: ${why}`, { exit: exit.wrong, hint });
};
