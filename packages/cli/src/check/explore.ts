/** `pawl explore`: tests tools in a simulated world, under crashes, faults and reordering. */
import type * as testkit from "@pawl/testkit";
import type { Again, Scenario } from "@pawl/testkit";
import { type Command, type Input, countOf } from "../command.ts";
import { CliError, exit, usageError } from "../exit.ts";
import { loadModule } from "../module.ts";
import { loaded } from "../optional.ts";
import type { Terminal } from "../terminal.ts";

const isScenario = (one: unknown): one is Scenario =>
  typeof one === "object" &&
  one !== null &&
  "tools" in one &&
  typeof one.tools === "function" &&
  "host" in one &&
  typeof one.host === "function";

/** Returns the exported scenarios of a module. */
const scenariosIn = async (file: string, wanted?: string): Promise<readonly (readonly [string, Scenario])[]> => {
  const found = Object.entries(await loadModule(file)).filter((entry): entry is [string, Scenario] =>
    isScenario(entry[1]),
  );
  const chosen = found.filter(([name]) => wanted === undefined || name === wanted);
  if (chosen.length > 0) return chosen;
  if (found.length > 0)
    throw usageError(`--scenario expects one of ${found.map(([name]) => name).join(", ")}, found \`${wanted}\``);
  throw new CliError("no_scenario", `${file} exports no scenario`, {
    exit: exit.usage,
    hint: "export const scenario: Scenario = { tools: (outside) => […], host: callsOf(…) }",
  });
};

interface Explored {
  readonly isSafe: boolean;
  readonly json: unknown;
  readonly words: string;
}

type Kit = typeof testkit;
type Explore = (kit: Kit, scenario: Scenario, input: Input, name: string) => Promise<Explored>;

/** Returns the given options, under the names that the explorers use. */
const given = (input: Input, names: readonly string[]): { readonly [name: string]: number } =>
  Object.fromEntries(
    names.flatMap((name) => {
      const count = countOf(input, name);
      return count === undefined ? [] : [[name, count]];
    }),
  );

const explorers: { readonly [name: string]: Explore } = {
  crashes: async ({ exploreCrashes, describeCrashes }, scenario, input) => {
    const report = await exploreCrashes(scenario, given(input, ["pairs"]));
    return { isSafe: report.isSafe, json: report, words: describeCrashes(report) };
  },
  chance: async ({ simulate, describeSimulation }, scenario, input, name) => {
    const file = input.positionals[0] ?? "";
    const fates = input.text("fates");
    const options = { seeds: 100, ...given(input, ["seed", "seeds"]) };
    const simulation = await simulate(scenario, fates === undefined ? options : { ...options, seeds: 1, fates });
    const { failure, ...counts } = simulation;
    const again: Again = (seed, blows) => `pawl explore ${file} --scenario ${name} --seed ${seed} --fates "${blows}"`;
    const json =
      failure === undefined ? counts : { ...counts, failure: { ...failure, logs: Object.fromEntries(failure.logs) } };
    return { isSafe: failure === undefined, json, words: describeSimulation(simulation, again) };
  },
  orders: async ({ exploreSchedules, describeSchedules }, scenario, input) => {
    const report = await exploreSchedules(scenario, given(input, ["orders"]));
    return { isSafe: report.isSafe, json: report, words: describeSchedules(report) };
  },
};

const chosenIn = (input: Input): readonly string[] => {
  const only = input.text("only");
  if (only === undefined) return input.text("fates") === undefined ? Object.keys(explorers) : ["chance"];
  if (only in explorers) return [only];
  throw usageError(`--only expects one of ${Object.keys(explorers).join(", ")}, found \`${only}\``);
};

const printExplored = (name: string, by: string, { isSafe, json, words }: Explored, terminal: Terminal): void => {
  const { paint } = terminal;
  terminal.print({ scenario: name, by, safe: isSafe, report: json }, () => [
    `${isSafe ? paint("green", "safe") : paint("red", "not safe")}  ${paint("bold", name)}  ${paint("dim", by)}`,
    ...words.split("\n").map((line) => `    ${line}`),
  ]);
};

export const exploreCommand: Command = {
  name: "explore",
  summary: "Test tools in a simulated world: a crash at each moment, random faults, all orders of arrival",
  usage: "<module>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    only: { type: "string", value: "<how>", what: `One of ${Object.keys(explorers).join(", ")}, instead of all` },
    scenario: { type: "string", value: "<name>", what: "This export of the module, instead of all scenarios" },
    pairs: { type: "string", value: "<n>", what: "Number of pairs of crashes (200)" },
    seeds: { type: "string", value: "<n>", what: "Number of random seeds (100)" },
    seed: { type: "string", value: "<n>", what: "The first seed (1)" },
    fates: { type: "string", value: "<n:fate,…>", what: "The faults of one run, as a failure printed them" },
    orders: { type: "string", value: "<n>", what: "Number of orders (1000)" },
  },
  detail:
    "The module exports scenarios (`Scenario` of @pawl/testkit). They run in a simulated world; nothing outside of it happens.",
  json: [{ what: "Each scenario, by each explorer", fields: "scenario, by, safe, report" }],
  examples: [
    ["pawl explore ./pay.scenario.ts", "all three explorers on each scenario"],
    ["pawl explore ./pay.scenario.ts --only crashes --json", "effects that would happen twice, for a script"],
    ['pawl explore ./pay.scenario.ts --seed 55 --fates "9:die"', "repeat a failure"],
  ],
  run: async (input, terminal) => {
    const chosen = chosenIn(input);
    const kit = await loaded("@pawl/testkit", "`pawl explore`", () => import("@pawl/testkit"));
    let isSafe = true;
    for (const [name, scenario] of await scenariosIn(input.positionals[0] ?? "", input.text("scenario")))
      for (const by of chosen) {
        terminal.progress(`exploring ${name}: ${by}`);
        const explored = await (explorers[by] as Explore)(kit, scenario, input, name);
        isSafe = isSafe && explored.isSafe;
        printExplored(name, by, explored, terminal);
      }
    return isSafe ? exit.fine : exit.wrong;
  },
};
