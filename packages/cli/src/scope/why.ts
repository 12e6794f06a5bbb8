/** `pawl why`: says what a scope waits for, since when, and what would move it on. */
import { type State, effectWords, otherWords, waitsWords, why } from "@pawl/sansio-core";
import type { CallReason, EffectReason, OtherReason } from "@pawl/sansio-core/driver";
import type { Standing } from "@pawl/runtime/driver";
import type { Command } from "../command.ts";
import type { JournalFolders } from "../journal-file.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { withLogOrHost, hostOptions } from "../act/remote.ts";
import { type LogSource, givenFolders, placeOptions } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import {
  endedJson,
  endedWords,
  type History,
  type RefusedEdit,
  divergenceJson,
  divergenceLines,
  checkedHistoryOf,
} from "./history.ts";
import { isNever, sinceText, untilText } from "./time.ts";
import { remedies } from "./remedy.ts";

/** The event since which something waits, and its time. */
interface Since {
  readonly seq: number;
  readonly at: number | undefined;
}

type Timed = Pick<CallReason | EffectReason | OtherReason, "since" | "until" | "movedBy">;

const sinceOf = ({ timeOf }: History, seq: number | undefined): Since | undefined =>
  seq === undefined ? undefined : { seq, at: timeOf(seq) };

const timedJson = (history: History, { until, movedBy }: Timed, seq: number | undefined): object => ({
  since: sinceOf(history, seq),
  until,
  moved_by: movedBy,
});

const effectJson = (history: History, effect: EffectReason): object => ({
  key: effect.key,
  what: effect.what,
  ...timedJson(history, effect, effect.since),
});

const sinceOfCall = ({ entered }: History, { call, since }: CallReason): number | undefined =>
  entered.get(call) ?? since;

/** Says where a call stands in its queue: its line there, and how many are before it. */
const inLine = (
  { call, what }: CallReason,
  standing: readonly Standing[],
): CallReason["what"] & { before?: number } => {
  if (what.type !== "queue") return what;
  const place = standing.find((one) => one.call.slice(0, one.call.lastIndexOf("#")) === call);
  if (place === undefined) return what;
  return { ...what, queue: place.queue, ...(place.before === undefined ? {} : { before: place.before }) };
};

const lineWords = (reason: CallReason, standing: readonly Standing[]): string => {
  const what = inLine(reason, standing);
  return what.before === undefined ? waitsWords(what) : `${waitsWords(what)}, ${what.before} before it`;
};

/** Returns the divergence if the call waits because of it. */
const divergenceOf = ({ diverged }: History, { call, what }: CallReason): object | undefined => {
  const event = what.type === "resolver" && what.cause === "diverged" ? diverged.get(call) : undefined;
  return event && divergenceJson(event);
};

/** Returns the failed edit if the call waits for approval again because of it. */
const refusedEditOf = ({ refusedEdits }: History, { call, what }: CallReason): RefusedEdit | undefined =>
  what.type === "approval" ? refusedEdits.get(call) : undefined;

const refusedEditWords = (history: History, reason: CallReason): readonly string[] => {
  const refused = refusedEditOf(history, reason);
  if (refused === undefined) return [];
  return [`  the arguments that ${refused.by} approved do not fit (event ${refused.seq}): ${refused.message}`];
};

const callJson = (
  history: History,
  reason: CallReason,
  told: readonly string[],
  standing: readonly Standing[],
): object => {
  const { call, tool, phase, life } = reason;
  const what = inLine(reason, standing);
  const effects = "effects" in what ? what.effects.map((effect) => effectJson(history, effect)) : undefined;
  const divergence = divergenceOf(history, reason);
  return {
    call,
    tool,
    phase,
    life,
    what: { ...what, effects, divergence, refused_edit: refusedEditOf(history, reason) },
    ...timedJson(history, reason, sinceOfCall(history, reason)),
    remedies: told,
  };
};

const timeWords = (history: History, { until }: Timed, seq: number | undefined, { now, paint }: Terminal): string => {
  const since = sinceOf(history, seq);
  const parts: string[] = [];
  if (since !== undefined) {
    parts.push(since.at === undefined ? `since event ${since.seq}` : `since ${sinceText(since.at, now())}`);
  }
  if (until !== undefined && !isNever(until)) parts.push(`until ${untilText(until, now())}`);
  return parts.length === 0 ? "" : `  ${paint("dim", parts.join(", "))}`;
};

const divergenceWords = (history: History, { call, what }: CallReason): readonly string[] => {
  const event = what.type === "resolver" && what.cause === "diverged" ? history.diverged.get(call) : undefined;
  return event === undefined ? [] : divergenceLines(event).map((line) => `  ${line}`);
};

const callWords = (
  history: History,
  reason: CallReason,
  told: readonly string[],
  { terminal, standing }: { readonly terminal: Terminal; readonly standing: readonly Standing[] },
): readonly string[] => {
  const { call, tool, phase, life, what } = reason;
  const { paint } = terminal;
  const when = timeWords(history, reason, sinceOfCall(history, reason), terminal);
  const effects = "effects" in what ? what.effects : [];
  return [
    `${paint("bold", call)}  ${tool}  ${paint("cyan", phase)}${life === undefined ? "" : `, life ${life}`}`,
    `  waits for ${lineWords(reason, standing)}${when}`,
    ...divergenceWords(history, reason),
    ...refusedEditWords(history, reason),
    ...effects.map((effect) => `    - ${effectWords(effect)}${timeWords(history, effect, effect.since, terminal)}`),
    ...told.map((line) => `  ${paint("green", line)}`),
  ];
};

const otherLine = (history: History, reason: OtherReason, terminal: Terminal): string =>
  `${otherWords(reason.what)}${timeWords(history, reason, reason.since, terminal)}`;

/**
 * Finds the process that owns the scope: the host that was asked, or the owner in the journal. An exported log names
 * none.
 */
const ownershipOf = async ({ host, journal, scope }: LogSource): Promise<Pick<Asked, "owned" | "host">> => {
  if (host !== undefined) return { owned: true, host };
  if (journal === undefined || scope === undefined) return { owned: undefined, host };
  const entry = (await journal.scopes(scope)).find((one) => one.scope === scope);
  return { owned: entry?.held !== undefined, host: entry?.held?.address };
};

/** Returns the proposals of a call: for its host if that is known, none if the scope has moved away. */
const remedyFor = ({ name, state }: History, { host, beside }: Asked): ((reason: CallReason) => readonly string[]) => {
  const { id, status } = state.scope;
  if (status.type === "moved") return () => [];
  const isAsked = host !== undefined && id.startsWith("session:");
  return (reason) => remedies(isAsked ? { scope: id, host } : { scope: name, beside }, reason);
};

const movedWords = ({ scope: { status } }: State): readonly string[] =>
  status.type === "moved" ? [`it has moved to ${status.to}`] : [];

const ownerWords = (shown: readonly CallReason[], owned: boolean | undefined): readonly string[] =>
  owned === false && shown.some(({ what }) => "owner" in what)
    ? ["nobody runs it now: its process has ended, and the next host of this journal continues it"]
    : [];

interface Asked {
  /** The call that was asked about. */
  readonly only: string | undefined;
  readonly owned: boolean | undefined;
  /** The host that owns the scope. */
  readonly host: string | undefined;
  readonly beside: JournalFolders;
  /** Its calls in queues, where the store says. */
  readonly standing: readonly Standing[];
}

const words = (history: History, asked: Asked, terminal: Terminal): readonly string[] => {
  const { only, owned, standing } = asked;
  const told = remedyFor(history, asked);
  const { calls, others } = why(history.state);
  const shown = only === undefined ? calls : calls.filter(({ call }) => call === only);
  const rest = only === undefined ? others : [];
  if (shown.length + rest.length === 0) return [`${history.state.scope.id} waits for nothing`];
  return [
    ...shown.flatMap((reason) => callWords(history, reason, told(reason), { terminal, standing })),
    ...rest.map((reason) => otherLine(history, reason, terminal)),
    ...movedWords(history.state),
    ...ownerWords(shown, owned),
  ];
};

/** Prints a finished call, or throws if the log never had it. */
const printEnd = (history: History, call: string, terminal: Terminal): Exit => {
  const { state, end } = history;
  if (end === undefined) {
    throw new CliError("no_such_call", `${state.scope.id} has no call ${call}`, { exit: exit.unreachable });
  }
  const { id: scope, owner } = state.scope;
  const json = { scope, seq: state.seq, at: state.at, owner, calls: [], others: [], ended: endedJson(history, end) };
  terminal.print(json, () => endedWords(history, end, terminal));
  return exit.fine;
};

export const whyCommand: Command = {
  name: "why",
  summary: "Say what a scope waits for, since when, and how to move it on",
  usage: "<scope> [call]",
  minArgs: 1,
  maxArgs: 2,
  options: { ...placeOptions, ...hostOptions },
  json: [{ what: "The scope", fields: "scope, seq, at, owner, owned?, calls, others, ended?" }],
  examples: [
    ["pawl why alice -j journal.db", "the session alice"],
    ["pawl why journal.db#process:p1 --json", "a process, for a script"],
    ["pawl why alice turn-1:call-1", "one call; if it has ended, its result"],
    ["pawl why alice --host ws://127.0.0.1:7777", "ask a host"],
  ],
  run: (input, terminal) => {
    const [, only] = input.positionals;
    return withLogOrHost(input, terminal, async (log) => {
      const history = await checkedHistoryOf(log, terminal, only);
      const { state } = history;
      if (only !== undefined && state.calls.at(only) === undefined) return printEnd(history, only, terminal);
      const { calls, others } = why(state);
      const shown = calls.filter(({ call }) => only === undefined || call === only);
      const standing = (log.scope && (await log.journal?.journal.queues?.standing(log.scope))) || [];
      const asked: Asked = { only, ...(await ownershipOf(log)), beside: givenFolders(input), standing };
      const told = remedyFor(history, asked);
      const json = {
        scope: state.scope.id,
        seq: state.seq,
        at: state.at,
        owner: state.scope.owner,
        owned: asked.owned,
        calls: shown.map((reason) => callJson(history, reason, told(reason), standing)),
        others:
          only === undefined
            ? others.map(({ what, ...rest }) => ({ what, ...timedJson(history, rest, rest.since) }))
            : [],
      };
      terminal.print(json, () => words(history, asked, terminal));
      return exit.fine;
    });
  },
};
