/** What the explorers found, in words; and the matcher for a test. */
import { canonicalJson } from "@pawl/tool-value";
import type { CrashReport, EffectCount } from "./crash.ts";
import { type Harm, type Violation, describeBlows } from "./judge.ts";
import type { ScheduleReport, ScheduleViolation } from "./schedule.ts";
import type { Simulation } from "./simulate.ts";

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const times = (least: number, most: number): string =>
  least === most ? counted(most, "time") : `${least} to ${counted(most, "time")}`;

const effectLine = ({ effect, tools, claim, undisturbed, least, most, repeatedAt }: EffectCount): string => {
  const where = repeatedAt === undefined ? "" : `; most often: ${describeBlows(repeatedAt)}`;
  const by = tools.length === 0 ? "" : `, by ${tools.join(" and ")}`;
  return `  ${effect}${by}: ${times(least, most)} (undisturbed ${undisturbed}), claimed ${claim}${where}`;
};

const advice: { readonly [H in Harm]?: string } = {
  doubled: "hand the step's `key` to the service as idempotency key, or make the step `once`, or claim less of it",
  lost: "the effect has to be inside a durable step, whose record says that it happened",
  left_the_world: "inside a body wait for `ctx` only; in a step, for what the scenario's outside gives",
  diverged: "what a body asks must hang on its arguments and on what `ctx` gave it, and on nothing else",
  other_result:
    "a body that runs again must come to the same: what it learns has to come from `ctx`; " +
    "the time of `ctx.now()` is another one after a death: have the scenario's `host` leave it out of what it returns",
};

/** So many violations are written out; they tend to be of one kind. */
const shownViolations = 5;
const shownUnknown = 5;

const describeViolation = ({ harm, blows, message }: Violation): string =>
  `  ${harm}, ${describeBlows(blows)}: ${message}`;

const describeViolations = (violations: readonly Violation[]): readonly string[] => {
  const rest = violations.length - shownViolations;
  const harms = [...new Set(violations.map(({ harm }) => harm))];
  return [
    `${counted(violations.length, "violation")}:`,
    ...violations.slice(0, shownViolations).map(describeViolation),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...harms.flatMap((harm) => (advice[harm] === undefined ? [] : [`${harm}: ${advice[harm]}`])),
  ];
};

export const describeCrashes = (report: CrashReport): string => {
  const { points, pairs, allPairs, effects, unknown, violations } = report;
  const bound = pairs < allPairs ? ` of ${allPairs}` : "";
  const unknownAt = unknown.slice(0, shownUnknown).map((blows) => `  outcome unknown: ${describeBlows(blows)}`);
  const isSafe = "safe: nothing is lost, and nothing fires more often than claimed";
  return [
    `${counted(points, "crash point")}, ${pairs}${bound} pairs; ${unknown.length} end with an unknown outcome`,
    ...effects.map(effectLine),
    ...unknownAt,
    ...(violations.length === 0 ? [isSafe] : describeViolations(violations)),
  ].join("\n");
};

/** How a run is had again. */
export type Again = (seed: number, fates: string) => string;
const byCall: Again = (seed, fates) => `simulate(scenario, { seed: ${seed}, fates: "${fates}" })`;

export const describeSimulation = (simulation: Simulation, again = byCall): string => {
  const { runs, events, deaths, faults, befallen, failure } = simulation;
  const kinds = Object.entries(befallen).filter(([fate]) => fate !== "die");
  const kindsOf = kinds.length === 0 ? "" : ` (${kinds.map(([fate, count]) => `${fate} ${count}`).join(", ")})`;
  const ran = `${counted(runs, "run")}, ${counted(events, "event")}, ${counted(deaths, "death")}, ${counted(faults, "fault")}${kindsOf}`;
  if (failure === undefined) return `${ran}: nothing is wrong`;
  const { seed, fates, violation, logs } = failure;
  const { harm } = violation;
  return [
    `${ran}: seed ${seed} fails`,
    describeViolation(violation),
    ...(advice[harm] === undefined ? [] : [`${harm}: ${advice[harm]}`]),
    `again: ${again(seed, fates)}`,
    ...[...logs].flatMap(([scope, log]) => [`the log of ${scope}:`, log.trimEnd()]),
  ].join("\n");
};

const describeOrder = (order: readonly string[]): string => order.join(" · ");

const describeDisorder = (violation: ScheduleViolation): string =>
  `${describeViolation(violation)}\n    in the order ${describeOrder(violation.order)}`;

export const describeSchedules = ({ orders, pruned, isBounded, results, violations }: ScheduleReport): string =>
  [
    `${counted(orders, "order")}${isBounded ? ", and there are more" : ", which is all"}; ${pruned} came to the same as another`,
    ...results.map(
      ({ result, orders: count, example }) =>
        `  ${canonicalJson(result).slice(0, 200)} in ${count}, such as ${describeOrder(example)}`,
    ),
    violations.length === 0 ? "safe in every order" : `${counted(violations.length, "violation")}:`,
    ...violations.slice(0, shownViolations).map(describeDisorder),
  ].join("\n");

type Report = CrashReport | Simulation | ScheduleReport;

const describeReport = (report: Report): string => {
  if ("points" in report) return describeCrashes(report);
  return "orders" in report ? describeSchedules(report) : describeSimulation(report);
};

/** For `expect.extend`: `expect(await exploreCrashes(scenario)).toBeSafe()`, and the same of what the others report. */
export const explorerMatchers = {
  toBeSafe: (report: Report) => ({
    pass: "isSafe" in report ? report.isSafe : report.failure === undefined,
    message: () => describeReport(report),
  }),
};
