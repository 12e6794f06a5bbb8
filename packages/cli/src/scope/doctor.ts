/**
 * `pawl doctor`: finds scopes whose log the current core rejects, or whose lines were changed, and proposes a remedy.
 */
import type { ChainCheck } from "@pawl/runtime/driver";
import type { Command } from "../command.ts";
import { CliError, exit } from "../exit.ts";
import { brokenWords, faultJson, faultWords, tornJson } from "../log/fault.ts";
import { replayOpen, printUnread, unreadJson } from "../log/replay-log.ts";
import { type LogSource, journalOf, placeOf, placeOptions, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";

/** Faults that a newer pawl solves. A fork would only hide them. */
const newer: ReadonlySet<string> = new Set(["newer_format", "newer_protocol"]);

/** Proposes a remedy: a fork after the last event that can be trusted, if one exists. */
const remedyOf = (name: string, code: string, trusted: number): string => {
  if (newer.has(code)) return "update pawl: this version is too old for the scope";
  if (trusted === 0) return "restore a backup: no event of it can be trusted";
  return name.includes("#session:") ? `pawl fork ${name} --at ${trusted}` : `pawl log replay ${name}`;
};

type Broken = Extract<ChainCheck, { readonly type: "broken" }>;
type Health = "sound" | "sick" | "altered" | "unread";

/** Prints that lines do not match their hashes. */
const printAltered = ({ name }: LogSource, chain: Broken, terminal: Terminal): void => {
  const remedy = "restore a backup: nobody knows which lines were changed";
  terminal.print({ log: name, trusted: chain.base, chain, remedy }, () => [
    `${terminal.paint("red", "altered")}  ${name}`,
    `    ${brokenWords(chain, terminal)}`,
    `    ${terminal.paint("green", remedy)}`,
  ]);
};

/** Checks one scope and prints a problem. */
const examine = async (log: LogSource, terminal: Terminal): Promise<Health> => {
  const replayed = await replayOpen(log, terminal);
  if (replayed instanceof CliError) {
    printUnread(log, replayed, terminal);
    return "unread";
  }
  const { fault, torn, state } = replayed;
  const chain = fault === undefined ? await log.storedCheck?.() : undefined;
  if (chain?.type === "broken") {
    printAltered(log, chain, terminal);
    return "altered";
  }
  if (fault === undefined && torn === undefined) return "sound";
  const trusted = state?.seq ?? 0;
  const remedy = fault === undefined ? undefined : remedyOf(log.name, fault.code, trusted);
  const json = { log: log.name, trusted, torn: tornJson(torn), fault: faultJson(fault), remedy };
  terminal.print(json, () => [
    `${terminal.paint("red", fault === undefined ? "torn" : "quarantined")}  ${log.name}`,
    ...(fault === undefined ? [] : faultWords(fault, terminal).map((line) => `    ${line}`)),
    `    events up to ${trusted} can be trusted`,
    ...(remedy === undefined ? [] : [`    ${terminal.paint("green", remedy)}`]),
  ]);
  return fault === undefined ? "sound" : "sick";
};

/** Prints the requests that a failover lost, and returns how many there are. */
const printLost = async (logs: readonly LogSource[], terminal: Terminal): Promise<number> => {
  const journals = new Set(logs.flatMap(({ journal }) => journal ?? []));
  let count = 0;
  for (const journal of journals)
    for (const lost of (await journal.lostRequests?.()) ?? []) {
      const { scope, request, what, seq } = lost;
      const told = what === "submitted" ? "was taken" : "was answered";
      const remedy = "submit it again: what it did outside may be done already";
      count += 1;
      terminal.print({ log: `${journal.file}#${scope}`, lost, remedy }, () => [
        `${terminal.paint("red", "lost")}  ${scope}: request ${request} ${told} at event ${seq}, and a failover lost that`,
        `    ${terminal.paint("green", remedy)}`,
      ]);
    }
  return count;
};

interface Counted {
  readonly scopes: number;
  readonly sick: number;
  readonly altered: number;
  readonly unread: number;
  readonly lost: number;
}

const summary = ({ scopes, sick, altered, unread, lost }: Counted, { paint }: Terminal): readonly string[] => {
  const many = scopes === 1 ? "scope" : "scopes";
  return [
    ...(sick > 0 ? [`${sick} of ${scopes} ${many} ${sick === 1 ? "is" : "are"} quarantined`] : []),
    ...(altered > 0 ? [`${altered} of ${scopes} ${many} ${altered === 1 ? "is" : "are"} altered`] : []),
    ...(unread > 0 ? [`${unread} of ${scopes} ${many} could not be read without keys`] : []),
    ...(lost > 0 ? [`${lost} acknowledged ${lost === 1 ? "request is" : "requests are"} lost`] : []),
    ...(sick + altered + unread + lost === 0 ? [`${paint("green", "fine")}: ${scopes} ${many}`] : []),
  ];
};

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Find scopes whose logs the current core rejects (quarantined), or that were changed",
  usage: "[log…]",
  minArgs: 0,
  maxArgs: Infinity,
  options: placeOptions,
  detail:
    "A quarantined scope is read-only; other scopes are not affected. A fork continues from its last trusted event as a new\nscope, and the old one does not change. An altered scope has lines that do not match their stored hash;\n`pawl log verify` says how far the hashes reach. A sealed scope needs --keys.",
  json: [
    { what: "Each scope with a problem", fields: "log, trusted, torn?, fault?, chain?, remedy?" },
    unreadJson,
    { what: "Each request that a failover lost", fields: "log, lost, remedy" },
    { what: "At the end", fields: "scopes, quarantined, altered, unread, lost?" },
  ],
  examples: [["pawl doctor journal.db", "every scope of a journal"]],
  run: async (input, terminal) => {
    const named = input.positionals.length === 0 ? [journalOf(input, terminal)] : input.positionals;
    const places = named.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      const found: Health[] = [];
      for (const log of logs) found.push(await examine(log, terminal));
      const count = (health: Health): number => found.filter((one) => one === health).length;
      const [scopes, sick, altered, unread] = [logs.length, count("sick"), count("altered"), count("unread")];
      const lost = await printLost(logs, terminal);
      const counted = { scopes, quarantined: sick, altered, unread };
      terminal.print(lost > 0 ? { ...counted, lost } : counted, () =>
        summary({ scopes, sick, altered, unread, lost }, terminal),
      );
      if (sick + altered + lost > 0) return exit.wrong;
      return unread > 0 ? exit.unreachable : exit.fine;
    });
  },
};
