/** `pawl check-upgrade`: checks whether logs continue under the current code. */
import { linesIn } from "@pawl/sansio-core/driver";
import { type Check, type CallCheck, checkUpgrade, isSafe } from "../upgrade/check.ts";
import type { ProtocolChange } from "../upgrade/protocol.ts";
import { isBad, verdictWords } from "../upgrade/verdict.ts";
import { type Command, countOf } from "../command.ts";
import { exit, usageError } from "../exit.ts";
import { refuseSealed } from "../log/replay-log.ts";
import { faultJson, faultWords } from "../log/fault.ts";
import { placeOf, placeOptions, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { loadModule, toolsIn } from "../module.ts";

const defaultPatienceMs = 200;

const callWords = ({ call, tool, verdict }: CallCheck, { paint }: Terminal): string => {
  const style = isBad(verdict) ? "red" : verdict.type === "waits_outside" ? "yellow" : "green";
  return `    ${call}  ${tool}  ${paint(style, verdictWords(verdict))}`;
};

const upgradeWords = ({ from, to, calls }: ProtocolChange, { paint }: Terminal): readonly string[] => [
  `    ${paint("dim", `of protocol ${from}: its next opening upgrades it to ${to}`)}`,
  ...calls.map(({ call, changes }) => `      ${call}  ${paint("dim", changes.join("; "))}`),
];

const words = (name: string, check: Check, terminal: Terminal): readonly string[] => {
  const { fault, calls, unchecked, events, upgrade } = check;
  const { paint } = terminal;
  const state = isSafe(check) ? paint("green", "safe") : paint("red", "not safe");
  const core = fault === undefined ? `${events} events replay` : "the core diverges";
  return [
    `${state}  ${name}  ${paint("dim", core)}`,
    ...(fault === undefined ? [] : faultWords(fault, terminal).map((line) => `    ${line}`)),
    ...(unchecked === undefined ? [] : [`    ${paint("yellow", unchecked)}`]),
    ...calls.map((call) => callWords(call, terminal)),
    ...(upgrade === undefined ? [] : upgradeWords(upgrade, terminal)),
  ];
};

/** Lists the patches that were seen in some log, and that no live call of any log needs. */
const unneededOf = (checks: readonly Check[]): readonly string[] => {
  const all = checks.flatMap(({ patches }) => patches);
  const needed = new Set(all.flatMap(({ name, isNeeded }) => (isNeeded ? name : [])));
  return [...new Set(all.map(({ name }) => name))].filter((name) => !needed.has(name)).toSorted();
};

const unneededWords = (names: readonly string[]): readonly string[] => [
  `patches that no live log needs any more, whose older branch may be deleted: ${names.join(", ")}`,
];

export const checkUpgradeCommand: Command = {
  name: "check-upgrade",
  summary: "Check whether logs continue under the current code: the core, and the bodies of live calls",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: {
    ...placeOptions,
    tools: { type: "string", short: "t", value: "<module>", what: "The module that exports the tools (`tools`)" },
    patience: {
      type: "string",
      value: "<ms>",
      what: `Time after which a silent body counts as waiting (${defaultPatienceMs})`,
    },
  },
  detail:
    "Bodies run again with their recorded results and a context that performs nothing. Code of a body that does not go\nthrough its context does run: use this where it can do no harm.",
  json: [
    { what: "Each log", fields: "log, safe, scope, events, calls, patches, upgrade?, unchecked?, fault?" },
    { what: "At the end, if there are any", fields: "unneeded_patches" },
  ],
  examples: [
    ["pawl check-upgrade journal.db --tools ./tools.ts", "all scopes of a journal, before a deployment"],
    ["pawl check-upgrade logs/*.jsonl -t ./tools.ts --json", "exported logs, in CI"],
  ],
  run: async (input, terminal) => {
    const file = input.text("tools");
    if (file === undefined) throw usageError("--tools is missing", "add --tools <module>");
    const tools = toolsIn(file, await loadModule(file));
    const patienceMs = countOf(input, "patience") ?? defaultPatienceMs;
    const places = input.positionals.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      const checks: Check[] = [];
      for (const log of logs) {
        terminal.progress(`checking ${log.name}`);
        refuseSealed(
          linesIn(await log.text()),
          `${log.name} cannot be run again: its values are sealed`,
          exit.unreachable,
        );
        const check = await checkUpgrade(await log.text(), tools, patienceMs);
        checks.push(check);
        const { fault, ...rest } = check;
        const json = { log: log.name, safe: isSafe(check), ...rest, fault: faultJson(fault) };
        terminal.print(json, () => words(log.name, check, terminal));
      }
      const unneeded = unneededOf(checks);
      if (unneeded.length > 0) terminal.print({ unneeded_patches: unneeded }, () => unneededWords(unneeded));
      return checks.every(isSafe) ? exit.fine : exit.wrong;
    });
  },
};
