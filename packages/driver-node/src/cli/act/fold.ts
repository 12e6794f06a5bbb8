/** The state of a scope in a journal, from its segment and its lines. */
import { type State, describeFault, replay } from "@pawl/sansio-core";
import { CliError, exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";

export const stateOf = async (journal: JournalFile, scope: string): Promise<State> => {
  const { state, fault } = replay(await journal.textOf(scope));
  if (state !== undefined && fault === undefined) return state;
  const why = fault === undefined ? "it has no events" : (describeFault(fault).split("\n")[0] ?? fault.code);
  throw new CliError("quarantined", `${scope} is read-only: ${why}`, { exit: exit.wrong, hint: "pawl doctor" });
};
