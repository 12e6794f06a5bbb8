/** Calls that wait for approval, as the command line lists them: each has a number, which `approve` and `reject` take. */
import { type PendingApproval, pendingApprovals } from "@pawl/sansio-core/driver";
import { stringify } from "@pawl/tool-value";
import type { Input, JsonDocument } from "../command.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { openJournalFile } from "../journal-file.ts";
import { stateOf } from "../log/replay-log.ts";
import { type Place, journalFolders, journalOf, placeOf } from "../place.ts";
import { shellWord } from "../escape.ts";
import type { Terminal } from "../terminal.ts";

/** The call and the hash that a decision names. */
export interface Chosen {
  readonly call: string;
  readonly hash: string;
}

/** Returns the call that a number of the list stands for; undefined where a call is named. */
export const numbered = (word: string, pending: readonly Chosen[], scope: string): Chosen | undefined => {
  if (!/^\d+$/.test(word)) return undefined;
  const chosen = pending[Number(word) - 1];
  if (chosen !== undefined) return chosen;
  const count = pending.length === 1 ? "1 call waits" : `${pending.length} calls wait`;
  throw new CliError("no_such_call", `${scope} has no approval ${word}: ${count}`, {
    exit: exit.refused,
    hint: `pawl approve ${shellWord(scope)}`,
  });
};

export const pendingJson: JsonDocument = {
  what: "Without a call: what waits for approval",
  fields: "journal, approvals",
};

interface Listed {
  readonly scope: string;
  readonly pending: readonly PendingApproval[];
}

const placeIn = (input: Input, terminal: Terminal): Place => {
  const [scope] = input.positionals;
  if (scope !== undefined) return placeOf(scope, input, terminal);
  return { file: journalOf(input, terminal), ...journalFolders(input, terminal) };
};

const linesOf = ({ scope, pending }: Listed, verb: string, paint: Terminal["paint"]): readonly string[] => {
  const name = shellWord(scope.replace(/^session:/, ""));
  return [
    paint("bold", scope),
    ...pending.map(({ tool, args }, i) => {
      const line = paint("green", `pawl ${verb} ${name} ${i + 1}`);
      return `  ${i + 1}  ${tool} ${stringify(args)}  ${line}`;
    }),
  ];
};

/** Lists what waits for approval, in one scope or in the whole journal, with the command line of each decision. */
export const listPending = async (input: Input, terminal: Terminal, verb: string): Promise<Exit> => {
  const place = placeIn(input, terminal);
  const journal = await openJournalFile(place.file, place);
  try {
    const scopes =
      place.scope === undefined ? (await journal.awaitingApproval("")).map(({ scope }) => scope) : [place.scope];
    const listed: Listed[] = [];
    for (const scope of scopes) listed.push({ scope, pending: pendingApprovals(await stateOf(journal, scope)) });
    const waiting = listed.filter(({ pending }) => pending.length > 0);
    const approvals = waiting.flatMap(({ scope, pending }) =>
      pending.map(({ call, tool, label, args, hash }, i) => ({ scope, number: i + 1, call, tool, label, args, hash })),
    );
    terminal.print({ journal: journal.file, approvals }, () =>
      waiting.length === 0
        ? ["nothing waits for approval"]
        : waiting.flatMap((one) => linesOf(one, verb, terminal.paint)),
    );
    return exit.fine;
  } finally {
    await journal.close();
  }
};
