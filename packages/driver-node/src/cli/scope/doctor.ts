/** `pawl doctor`: scopes whose logs today's core does not accept, and what can be done about each. */
import type { Command } from "../command.ts";
import { CliError, exit } from "../exit.ts";
import { faultJson, faultWords, tornJson } from "../log/fault.ts";
import { replayOpen, tellUnread, unreadJson } from "../log/sealed.ts";
import { type LogSource, journalOf, placeOf, placeOptions, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";

/** Faults that a newer pawl does away with, and that a fork would only hide. */
const newer: ReadonlySet<string> = new Set(["newer_format", "newer_protocol"]);

/** A fork begins after the last event that can be trusted. */
const remedyOf = (name: string, code: string, trusted: number): string => {
  if (newer.has(code)) return "update pawl: this one is too old for the scope";
  if (trusted === 0) return "restore a copy: no event of it can be trusted";
  return name.includes("#session:") ? `pawl fork ${name} --at ${trusted}` : `pawl log replay ${name}`;
};

type Health = "sound" | "sick" | "unread";

/** Looks at one scope, and says how it is. */
const examine = async (log: LogSource, terminal: Terminal): Promise<Health> => {
  const replayed = await replayOpen(log, terminal);
  if (replayed instanceof CliError) {
    tellUnread(log, replayed, terminal);
    return "unread";
  }
  const { fault, torn, state } = replayed;
  if (fault === undefined && torn === undefined) return "sound";
  const trusted = state?.seq ?? 0;
  const remedy = fault === undefined ? undefined : remedyOf(log.name, fault.code, trusted);
  const json = { log: log.name, trusted, torn: tornJson(torn), fault: faultJson(fault), remedy };
  terminal.tell(json, () => [
    `${terminal.paint("red", fault === undefined ? "torn" : "quarantined")}  ${log.name}`,
    ...(fault === undefined ? [] : faultWords(fault, terminal).map((line) => `    ${line}`)),
    `    events up to ${trusted} can be trusted`,
    ...(remedy === undefined ? [] : [`    ${terminal.paint("green", remedy)}`]),
  ]);
  return fault === undefined ? "sound" : "sick";
};

const summary = (scopes: number, sick: number, unread: number, { paint }: Terminal): readonly string[] => {
  const many = scopes === 1 ? "scope" : "scopes";
  return [
    ...(sick > 0 ? [`${sick} of ${scopes} ${many} ${sick === 1 ? "is" : "are"} quarantined`] : []),
    ...(unread > 0 ? [`${unread} of ${scopes} ${many} could not be read without keys`] : []),
    ...(sick + unread === 0 ? [`${paint("green", "fine")}: ${scopes} ${many}`] : []),
  ];
};

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Find quarantined scopes: those whose logs today's core does not accept",
  usage: "[log…]",
  least: 0,
  most: Infinity,
  options: placeOptions,
  detail:
    "A quarantined scope is read-only, and others are unaffected. A fork goes on from the last event that can be\ntrusted, as a new scope; the old one stays as it is. A scope whose values are sealed is looked at with its --keys.",
  json: [
    { what: "Each scope that is not sound", fields: "log, trusted, torn?, fault?, remedy?" },
    unreadJson,
    { what: "At the end", fields: "scopes, quarantined, unread" },
  ],
  examples: [["pawl doctor journal.db", "every scope of a journal"]],
  run: async (input, terminal) => {
    const named = input.positionals.length === 0 ? [journalOf(input, terminal)] : input.positionals;
    const places = named.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      const found: Health[] = [];
      for (const log of logs) found.push(await examine(log, terminal));
      const count = (health: Health): number => found.filter((one) => one === health).length;
      const [sick, unread] = [count("sick"), count("unread")];
      terminal.tell({ scopes: logs.length, quarantined: sick, unread }, () =>
        summary(logs.length, sick, unread, terminal),
      );
      if (sick > 0) return exit.wrong;
      return unread > 0 ? exit.unreachable : exit.fine;
    });
  },
};
