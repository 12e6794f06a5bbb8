/** `pawl ls`: lists the scopes of a journal, once or as they change. */
import type { ScopeEntry } from "@pawl/runtime/driver";
import { type Status, scopeStatus } from "@pawl/sansio-core/driver";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, journalOption } from "../command.ts";
import { shownJournal } from "../database.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { type JournalFile, openJournalFile } from "../journal-file.ts";
import { journalFolders, journalOf } from "../place.ts";
import { type Terminal, jsonText } from "../terminal.ts";
import { stateOf } from "../log/replay-log.ts";
import { type RunView, runReader, runText } from "./background.ts";
import { sinceText, spanText, untilText } from "./time.ts";

const approvalWords = (approvals: number): string =>
  `, needs ${approvals === 1 ? "an approval" : `${approvals} approvals`}`;

const statusText = (entry: ScopeEntry, terminal: Terminal): string =>
  ownershipText(entry, terminal) + (entry.approvals === undefined ? "" : approvalWords(entry.approvals));

const ownershipText = ({ owner, held, wakeAt }: ScopeEntry, { now }: Terminal): string => {
  if (held !== undefined) return `owned by ${owner}${held.address === undefined ? "" : ` at ${held.address}`}`;
  if (owner !== undefined) return `left by ${owner}, whose lease has ended`;
  if (wakeAt === undefined) return "at rest";
  if (wakeAt === 0) return "due now";
  return wakeAt > now() ? `at rest until ${untilText(wakeAt, now())}` : `due since ${sinceText(wakeAt, now())}`;
};

/** A row of the list, with the run in that scope, or the error of reading it; and its status, where that is asked for. */
interface Listed {
  readonly entry: ScopeEntry;
  readonly run: RunView | CliError | undefined;
  readonly status?: ScopeStatus | CliError;
}

/** Says how far a scope is, and the time of its last event. */
interface ScopeStatus extends Status {
  readonly at: number;
}

/** Says it as sessions do: `waiting for a person`. */
const statusWords = ({ state, waitsFor }: Status): string =>
  waitsFor === undefined ? state : `${state} for ${waitsFor === "person" ? "a person" : waitsFor}`;

const statusColumn = (status: Listed["status"], now: number): string => {
  if (status === undefined) return "";
  if (status instanceof CliError) return `${`unreadable (${status.code})`.padEnd(30)}  `;
  return `${statusWords(status).padEnd(22)} ${spanText(Math.max(0, now - status.at)).padStart(7)}  `;
};

/** Counts scopes by their status: "3 done, 2 waiting for a person". */
const countLine = (list: readonly Listed[]): string => {
  const counts = new Map<string, number>();
  for (const { status } of list) {
    const words = status === undefined || status instanceof CliError ? "unreadable" : statusWords(status);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([words, count]) => `${count} ${words}`)
    .join(", ");
};

const runColumn = (run: Listed["run"]): string => {
  if (run === undefined) return "";
  return run instanceof CliError ? `unreadable (${run.code})  ` : `${runText(run)}  `;
};

/** The header and the row format of a list. */
interface Table {
  readonly head: string;
  readonly line: (one: Listed) => string;
}

const tableOf = (listed: readonly Listed[], terminal: Terminal): Table => {
  const entries = listed.map(({ entry }) => entry);
  const width = Math.max(...entries.map(({ scope }) => scope.length), 5);
  const digits = Math.max(...entries.map(({ seq }) => String(seq).length), 6);
  return {
    head: terminal.paint("dim", `${"scope".padEnd(width)}  ${"events".padStart(digits)}  epoch`),
    line: ({ entry, run, status }) => {
      const { scope, seq, epoch } = entry;
      const columns = `${scope.padEnd(width)}  ${String(seq).padStart(digits)}  ${String(epoch).padStart(5)}`;
      return `${columns}  ${statusColumn(status, terminal.now())}${runColumn(run)}${terminal.paint("dim", statusText(entry, terminal))}`;
    },
  };
};

/** Filters of the list. */
interface ListFilter {
  readonly prefix: string;
  readonly isOwned: boolean;
  readonly isAwaiting: boolean;
  /** Reads the status of each. */
  readonly hasStatus: boolean;
}

const statusIn = async (journal: JournalFile, scope: string): Promise<ScopeStatus | CliError> => {
  try {
    const state = await stateOf(journal, scope, `${scope} is not read: its values are sealed`);
    return { ...scopeStatus(state), at: state.at };
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
};

const lister = (
  journal: JournalFile,
  { prefix, isOwned, isAwaiting, hasStatus }: ListFilter,
): (() => Promise<readonly Listed[]>) => {
  const runOf = runReader(journal);
  return async () => {
    const found = isAwaiting ? await journal.awaitingApproval(prefix) : await journal.scopes(prefix);
    const entries = found.filter(({ held }) => held !== undefined || !isOwned);
    return Promise.all(
      entries.map(async (entry) => ({
        entry,
        run: await runOf(entry),
        ...(hasStatus ? { status: await statusIn(journal, entry.scope) } : {}),
      })),
    );
  };
};

const jsonOfStatus = (status: NonNullable<Listed["status"]>): object => {
  if (status instanceof CliError) return { unreadable: status.code };
  const { state, waitsFor, since, until, at } = status;
  return { state, waits_for: waitsFor, since, until, updated_at: at };
};

const jsonOf = ({ entry: { wakeAt, ...entry }, run, status }: Listed): object => ({
  ...entry,
  wake_at: wakeAt,
  ...(status === undefined ? {} : { status: jsonOfStatus(status) }),
  ...(run instanceof CliError ? { unreadable: run.code } : { run: run?.row }),
});

const lines = (file: string, list: readonly Listed[], terminal: Terminal): readonly string[] => {
  if (list.length === 0) return [`no scopes in ${file}`];
  const { head, line } = tableOf(list, terminal);
  const counts = list.some(({ status }) => status !== undefined) ? [terminal.paint("dim", countLine(list))] : [];
  return [head, ...list.map(line), ...counts];
};

const tell = (file: string, list: readonly Listed[], terminal: Terminal): void =>
  terminal.print({ journal: file, scopes: list.map(jsonOf) }, () => lines(file, list, terminal));

/** Maps each scope to its row as text, to find what has changed. */
const rowTexts = (list: readonly Listed[]): ReadonlyMap<string, string> =>
  new Map(list.map((one) => [one.entry.scope, jsonText(jsonOf(one))]));

/** Returns a function that prints the rows that changed since its last call. */
const changes = (file: string, first: readonly Listed[], terminal: Terminal): ((now: readonly Listed[]) => void) => {
  let before = rowTexts(first);
  return (now) => {
    const after = rowTexts(now);
    const changed = now.filter(({ entry: { scope } }) => after.get(scope) !== before.get(scope));
    const gone = [...before.keys()].filter((scope) => !after.has(scope));
    before = after;
    if (changed.length + gone.length === 0) return;
    terminal.print({ journal: file, scopes: changed.map(jsonOf), gone: gone.length === 0 ? undefined : gone }, () => [
      ...changed.map(tableOf(now, terminal).line),
      ...gone.map((scope) => `${scope}  ${terminal.paint("dim", "is not in the list any more")}`),
    ]);
  };
};

const followEveryMs = 500;

/** Lists repeatedly until interrupted: redraws on a terminal, and prints changes elsewhere. */
const follow = async (file: string, list: () => Promise<readonly Listed[]>, terminal: Terminal): Promise<void> => {
  const { redraw, interrupted } = terminal;
  const first = await list();
  const draw = (now: readonly Listed[]): void => redraw?.(lines(file, now, terminal));
  if (redraw === undefined) tell(file, first, terminal);
  else draw(first);
  const next = redraw === undefined ? changes(file, first, terminal) : draw;
  while (!interrupted.aborted) {
    await pause(followEveryMs, undefined, { signal: interrupted }).catch(() => undefined); // An abort ends the loop.
    next(await list());
  }
};

export const lsCommand: Command = {
  name: "ls",
  summary: "List the scopes of a journal",
  usage: "[journal]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    ...journalOption,
    prefix: { type: "string", value: "<text>", what: "Only scopes whose name starts with this, as process:" },
    approvals: { type: "boolean", what: "Only scopes with calls that need approval" },
    status: { type: "boolean", what: "What each scope is at, the age of its last event, and how many are at what" },
    owned: { type: "boolean", what: "Only scopes with a live owner" },
    follow: { type: "boolean", short: "f", what: "Keep printing changes; on a terminal, redraw the list" },
  },
  detail:
    "`at rest`: nothing is to run. All may be done, or something waits for a person or the outside: `--status` says which, and `pawl why <scope>` for what.\n`due`: a host of the journal resumes it within seconds, or when one starts.",
  json: [{ what: "The list; with --follow the scopes that have changed", fields: "journal, scopes, gone?" }],
  examples: [
    ["pawl ls journal.db", "all scopes"],
    ["pawl ls postgres://db.internal/app", "all scopes of a database"],
    ["pawl ls journal.db --status", "working, waiting, unknown, done, failed or cancelled, and for how long"],
    ["pawl ls journal.db --approvals", "sessions with calls that need approval; `pawl why` says how to decide"],
    ["pawl ls journal.db --prefix process: --json", "processes, for a script"],
    ["pawl ls journal.db --prefix process:bg_ --follow", "background runs and their progress"],
  ],
  run: async (input, terminal) => {
    const name = input.positionals[0] ?? journalOf(input, terminal);
    const shown = shownJournal(name);
    if (name.includes("#")) throw usageError(`pawl ls expects a journal, found \`${shown}\``, `pawl show ${shown}`);
    const journal = await openJournalFile(name, journalFolders(input, terminal));
    try {
      const wanted = {
        isOwned: input.isSet("owned"),
        isAwaiting: input.isSet("approvals"),
        hasStatus: input.isSet("status"),
      };
      const list = lister(journal, { prefix: input.text("prefix") ?? "", ...wanted });
      if (input.isSet("follow")) await follow(shown, list, terminal);
      else tell(shown, await list(), terminal);
      return exit.fine;
    } finally {
      await journal.close();
    }
  },
};
