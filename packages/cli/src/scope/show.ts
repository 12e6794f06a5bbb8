/** `pawl show`: prints a scope's calls, effects, waits, approvals and processes, and follows new events. */
import {
  type EventOf,
  type Recorded,
  type State,
  effectWords,
  otherWords,
  replay,
  waitsWords,
  why,
} from "@pawl/sansio-core";
import { type CallReason, type EffectReason, bodyOf, commandsLine, producedBy } from "@pawl/sansio-core/driver";
import { type Json, noLimits, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "../command.ts";
import { exit } from "../exit.ts";
import { tornJson } from "../log/fault.ts";
import { type LogSource, placeOf, placeOptions, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { type History, divergenceJson, divergenceLines, checkedHistoryOf } from "./history.ts";
import {
  type RunViews,
  endJson,
  endText,
  backgroundLines,
  runJson,
  runText,
  runsOf,
  runInState,
  barOf,
  progressIn,
} from "./background.ts";
import { sinceText } from "./time.ts";

const shown = 100;
const shorten = (json: Json): string => {
  const text = stringify(json);
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
};

const callJson = ({ state, diverged }: History, { call, what }: CallReason): object | undefined => {
  const row = state.calls.at(call);
  const divergence = diverged.get(call);
  if (row === undefined) return undefined;
  const { tool, args, phase } = row;
  const body = bodyOf(row);
  const { attempt, run, life } = body ?? {};
  const of = body && { life: life?.number, attempt, run, settled: body.settled.size, open: body.open };
  return { call, tool, phase, args, body: of, divergence: divergence && divergenceJson(divergence), waits_for: what };
};

const scopeJson = (history: History): object => {
  const { state, torn } = history;
  const { scope, seq, at, calls, requests, waits, process } = state;
  const { calls: reasons, others } = why(state);
  const run = runInState(state);
  return {
    scope: scope.id,
    seq,
    at,
    epoch: scope.epoch,
    owner: scope.owner,
    protocol: scope.protocol,
    status: scope.status.type,
    requests: requests.rows().map(({ request, phase }) => ({ request, phase })),
    calls: reasons.map((reason) => callJson(history, reason)),
    waits: waits.rows().map(({ key, waiters, terminal, revoked }) => ({
      key,
      waiters: waiters.map(({ call }) => call),
      resolved: terminal?.seq,
      revoked,
    })),
    approvals: reasons.flatMap(({ call, what }) =>
      what.type === "approval" ? [{ call, args_hash: what.argsHash, args: calls.at(call)?.args }] : [],
    ),
    process: process && {
      id: process.registration.id,
      status: process.status.state,
      events: process.sequence,
      ended: endJson(process.status),
    },
    handles: state.handles.values().map(({ process: id, status }) => ({ process: id, status })),
    others: others.map(({ what }) => what),
    run: run && runJson(run),
    tasks: state.background.tasks.values().map(({ task }) => task),
    schedules: state.schedules.rows.values().map(({ schedule }) => schedule),
    torn: tornJson(torn),
  };
};

const effectLine = (effect: EffectReason): string => `      open: ${effectWords(effect)}`;

const divergedWords = (event: EventOf<"call.diverged">): readonly string[] => {
  const [first = "", ...fields] = divergenceLines(event);
  return [`    its code diverged ${first}`, ...fields.map((line) => `    ${line}`)];
};

const callWords = (
  { state, diverged }: History,
  { call, life, what }: CallReason,
  { paint }: Terminal,
): readonly string[] => {
  const row = state.calls.at(call);
  if (row === undefined) return [];
  const body = bodyOf(row);
  const divergence = diverged.get(call);
  const lives = life === undefined ? "" : `, life ${life}`;
  const counts =
    body === undefined
      ? ""
      : `${lives}, attempt ${body.attempt}, run ${body.run}, ${body.settled.size} effects settled`;
  return [
    `  ${paint("bold", call)}  ${paint("cyan", row.phase)}${paint("dim", counts)}`,
    `    ${row.tool} ${what.type === "approval" ? stringify(row.args) : shorten(row.args)}`,
    `    waits for ${waitsWords(what)}`,
    ...(divergence === undefined ? [] : divergedWords(divergence)),
    ...("effects" in what ? what.effects.map(effectLine) : []),
  ];
};

const scopeWords = (history: History, runs: RunViews, terminal: Terminal): readonly string[] => {
  const { state, torn } = history;
  const { scope, seq, at, process, handles, waits } = state;
  const { paint, now } = terminal;
  const { calls, others } = why(state);
  const open = waits.rows().filter(({ terminal: resolved, revoked }) => resolved === undefined && revoked !== true);
  return [
    `${paint("bold", scope.id)}  ${seq} events, the last ${sinceText(at, now())}; epoch ${scope.epoch}, ${scope.owner}`,
    ...(torn === undefined ? [] : [paint("yellow", `its last line, ${torn.line}, is torn`)]),
    ...(process === undefined
      ? []
      : [`process ${process.registration.id}: ${process.sequence} events, ${endText(process.status)}`]),
    calls.length === 0 ? "no live calls" : `live calls: ${calls.length}`,
    ...calls.flatMap((reason) => callWords(history, reason, terminal)),
    ...open.map(({ key, waiters }) => `wait ${key}: ${waiters.map(({ call }) => call).join(", ")}`),
    ...handles.values().map(({ process: id, status }) => `handle of process ${id}: ${status}`),
    ...others.filter(({ what }) => what.type !== "schedule").map(({ what }) => otherWords(what)),
    ...backgroundLines(state, runs, now()),
  ];
};

const eventWords = ({ seq, at, event }: Recorded, { paint, now }: Terminal): string => {
  const { type, ...fields } = event as { readonly type: string };
  const text = Object.entries(fields)
    .filter(([, value]) => typeof value === "string" || typeof value === "number")
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ");
  const bar = event.type === "run.reported" && event.progress !== undefined ? `  ${barOf(event.progress)}` : "";
  return `${paint("dim", `${seq} ${sinceText(at, now())}`)}  ${paint("cyan", type)}  ${text}${bar}`;
};

const followEveryMs = 250;

/** Describes the progress of a scope's own run, or of its tasks' runs. */
const barsOf = async (own: string, state: State | undefined, log: LogSource): Promise<string> =>
  state === undefined || own !== "" ? own : [...(await runsOf(state, log.journal)).values()].map(runText).join("; ");

/** Prints each new event until interrupted. */
const follow = async (log: LogSource, from: number, terminal: Terminal): Promise<void> => {
  let seq = from;
  let bar = "";
  while (!terminal.interrupted.aborted) {
    const fresh: [Recorded, Json][] = [];
    const { state } = replay(await log.text(), {
      onStep: (recorded, transition) => {
        if (recorded.seq <= seq) return;
        const line = parse(commandsLine(recorded.seq, producedBy(transition)), noLimits);
        fresh.push([recorded, E.isRight(line) ? line.right : null]);
      },
    });
    for (const [recorded, produced] of fresh) {
      seq = recorded.seq;
      const { at, event } = recorded;
      bar = progressIn(event) ?? bar;
      terminal.print({ seq, at, event, produced }, () => [eventWords(recorded, terminal)]);
    }
    terminal.progress(await barsOf(bar, state, log));
    await pause(followEveryMs, undefined, { signal: terminal.interrupted }).catch(() => undefined); // An abort ends the loop.
  }
};

export const showCommand: Command = {
  name: "show",
  summary: "Show a scope: calls, effects, waits, approvals, processes",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...placeOptions,
    follow: { type: "boolean", short: "f", what: "Keep printing events as they are recorded" },
  },
  json: [
    {
      what: "The scope",
      fields:
        "scope, seq, at, epoch, owner, protocol, status, requests, calls, waits, approvals, " +
        "process?, handles, others, run?, tasks, schedules, torn?",
    },
    { what: "Each event, with --follow", fields: "seq, at, event, produced" },
  ],
  examples: [
    ["pawl show alice -j journal.db", "the session alice"],
    ["pawl show journal.db#alice --follow", "and each new event"],
    ["pawl show alice.jsonl", "an exported log"],
  ],
  run: (input, terminal) =>
    withLog(placeOf(input.positionals[0] ?? "", input, terminal), async (log) => {
      const history = await checkedHistoryOf(log, terminal);
      const runs = await runsOf(history.state, log.journal);
      terminal.print(scopeJson(history), () => scopeWords(history, runs, terminal));
      if (input.isSet("follow")) await follow(log, history.state.seq, terminal);
      return exit.fine;
    }),
};
