/** `pawl log replay`: replays a log with the current code and shows where it first diverges. */
import { type Replay, outstanding } from "@pawl/sansio-core";
import type { Command } from "../command.ts";
import { exit } from "../exit.ts";
import { placeOf, placeOptions, withLog } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { textOfFile } from "../text-file.ts";
import { faultJson, faultWords, tornJson, tornWords } from "./fault.ts";
import { replayOrRefuse } from "./replay-log.ts";

/** Counts the live calls at the end, by phase. */
const phasesOf = ({ state }: Replay): { readonly [phase: string]: number } => {
  const counts = new Map<string, number>();
  for (const { phase } of state?.calls.rows() ?? []) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted());
};

const words = (result: Replay, terminal: Terminal): readonly string[] => {
  const { events, fault, torn, state } = result;
  const lines = [`${events} events replay as they were recorded`];
  if (torn !== undefined) lines.push(`${terminal.paint("yellow", "torn")}: ${tornWords(torn)}`);
  if (fault !== undefined) return [...lines, ...faultWords(fault, terminal)];
  const live = Object.entries(phasesOf(result)).map(([phase, count]) => `${count} ${phase}`);
  lines.push(live.length === 0 ? "no call is live" : `live calls: ${live.join(", ")}`);
  for (const command of state === undefined ? [] : outstanding(state)) {
    const whom = "call" in command ? command.call : "request" in command ? command.request : "";
    lines.push(`  outstanding: ${command.type} ${whom}`.trimEnd());
  }
  return lines;
};

export const logReplay: Command = {
  name: "log replay",
  summary: "Replay a log with the current code, and show the first divergence in full",
  usage: "<log>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...placeOptions,
    commands: { type: "string", value: "<file>", what: "A file of commands to compare field by field" },
    against: { type: "string", value: "<log>", what: "A second log to compare field by field" },
  },
  json: [{ what: "The log", fields: "log, ok, events, seq?, live, outstanding, torn?, fault?" }],
  examples: [
    ["pawl log replay alice.jsonl", "the first divergence: the event, and the commands of the current code"],
    ["pawl log replay golden.jsonl --commands golden.cmds.jsonl", "compare every command"],
  ],
  run: (input, terminal) => {
    const [argument = ""] = input.positionals;
    const commands = input.text("commands");
    const against = input.text("against");
    return withLog(placeOf(argument, input, terminal), async (log) => {
      const result = await replayOrRefuse(log, terminal, {
        ...(commands === undefined ? {} : { commands: textOfFile(commands) }),
        ...(against === undefined ? {} : { log: textOfFile(against) }),
      });
      const { events, state, fault, torn } = result;
      const left = state === undefined ? [] : outstanding(state).map(({ type }) => type);
      const json = {
        log: log.name,
        ok: fault === undefined,
        events,
        seq: state?.seq,
        live: phasesOf(result),
        outstanding: left,
      };
      terminal.print({ ...json, torn: tornJson(torn), fault: faultJson(fault) }, () => words(result, terminal));
      return fault === undefined ? exit.fine : exit.wrong;
    });
  },
};
