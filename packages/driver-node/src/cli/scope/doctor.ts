/** `pawl doctor`: scopes whose logs today's core does not accept, and what can be done about each. */
import type { Command } from "../command.ts";
import { exit } from "../exit.ts";
import { faultJson, faultWords } from "../log/fault.ts";
import { replayLog } from "../log/replaying.ts";
import { type LogSource, placeOf, placeOptions, withLogs } from "../place.ts";
import { journalOf } from "../place.ts";
import type { Terminal } from "../terminal.ts";

/** Faults that a newer pawl does away with, and that a fork would only hide. */
const newer: ReadonlySet<string> = new Set(["newer_format", "newer_protocol"]);

/** A fork begins after the last event that can be trusted. */
const remedyOf = (name: string, code: string, trusted: number): string => {
  if (newer.has(code)) return "update pawl: this one is too old for the scope";
  if (trusted === 0) return "restore a copy: no event of it can be trusted";
  return name.includes("#session:") ? `pawl fork ${name} --at ${trusted}` : `pawl log replay ${name}`;
};

/** Looks at one scope, and says whether it is sound. */
const examine = async (log: LogSource, terminal: Terminal): Promise<boolean> => {
  const { fault, torn, state } = await replayLog(log, terminal);
  if (fault === undefined && torn === undefined) return true;
  const trusted = state?.seq ?? 0;
  const remedy = fault === undefined ? undefined : remedyOf(log.name, fault.code, trusted);
  const json = { log: log.name, trusted, torn: torn?.line, fault: faultJson(fault), remedy };
  terminal.tell(json, () => [
    `${terminal.paint("red", fault === undefined ? "torn" : "quarantined")}  ${log.name}`,
    ...(fault === undefined ? [] : faultWords(fault, terminal).map((line) => `    ${line}`)),
    `    events up to ${trusted} can be trusted`,
    ...(remedy === undefined ? [] : [`    ${terminal.paint("green", remedy)}`]),
  ]);
  return fault === undefined;
};

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Find quarantined scopes: those whose logs today's core does not accept",
  usage: "[log…]",
  least: 0,
  most: Infinity,
  options: placeOptions,
  detail:
    "A quarantined scope is read-only, and others are unaffected. A fork goes on from the last event that can be\ntrusted, as a new scope; the old one stays as it is.",
  examples: [["pawl doctor journal.db", "every scope of a journal"]],
  run: async (input, terminal) => {
    const named = input.positionals.length === 0 ? [journalOf(input, terminal)] : input.positionals;
    const places = named.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      let sick = 0;
      for (const log of logs) if (!(await examine(log, terminal))) sick += 1;
      terminal.tell({ scopes: logs.length, quarantined: sick }, () => [
        sick === 0
          ? `${terminal.paint("green", "fine")}: ${logs.length} scopes`
          : `${sick} of ${logs.length} scopes are quarantined`,
      ]);
      return sick === 0 ? exit.fine : exit.wrong;
    });
  },
};
