/** What the explorers found, in words; and the matcher for a test. */
import { canonicalJson } from "@pawl/tool-value";
import type { CrashReport, EffectCount } from "./crash.ts";
import { type Harm, type Violation, describeBlows } from "./judge.ts";
import type { ScheduleReport, ScheduleViolation } from "./schedule.ts";
import type { Simulation } from "./simulate.ts";

const times = (least: number, most: number): string => (least === most ? `${most}` : `${least} to ${most}`);

const effectLine = ({ effect, claim, undisturbed, least, most, repeatedAt }: EffectCount): string => {
  const where = repeatedAt === undefined ? "" : `; most often: ${describeBlows(repeatedAt)}`;
  return `  ${effect}: ${times(least, most)} times (undisturbed ${undisturbed}), claimed ${claim}${where}`;
};

const advice: { readonly [H in Harm]?: string } = {
  doubled: "hand the step's `key` to the service as idempotency key, or make the step `once`, or claim less of it",
  lost: "the effect has to be inside a durable step, whose record says that it happened",
  left_the_world: "inside a body wait for `ctx` only; in a step, for what the scenario's outside gives",
  diverged: "what a body asks must hang on its arguments and on what `ctx` gave it, and on nothing else",
  other_result: "a body that runs again must come to the same: what it learns has to come from `ctx`",
};

/** So many violations are written out; they tend to be of one kind. */
const shownViolations = 5;

const describeViolation = ({ harm, blows, message }: Violation): string =>
  `  ${harm}, ${describeBlows(blows)}: ${message}`;

const describeViolations = (violations: readonly Violation[]): readonly string[] => {
  const rest = violations.length - shownViolations;
  const harms = [...new Set(violations.map(({ harm }) => harm))];
  return [
    `${violations.length} violations:`,
    ...violations.slice(0, shownViolations).map(describeViolation),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...harms.flatMap((harm) => (advice[harm] === undefined ? [] : [`${harm}: ${advice[harm]}`])),
  ];
};

export const describeCrashes = (report: CrashReport): string => {
  const { points, pairs, allPairs, effects, unknown, violations } = report;
  const bound = pairs < allPairs ? ` of ${allPairs}` : "";
  const isSafe = "safe: nothing is lost, and nothing fires more often than claimed";
  return [
    `${points} crash points, ${pairs}${bound} pairs; ${unknown.length} end with an unknown outcome`,
    ...effects.map(effectLine),
    ...(violations.length === 0 ? [isSafe] : describeViolations(violations)),
  ].join("\n");
};

export const describeSimulation = ({ runs, events, deaths, faults, failure }: Simulation): string => {
  const ran = `${runs} runs, ${events} events, ${deaths} deaths, ${faults} faults of the store`;
  if (failure === undefined) return `${ran}: nothing is wrong`;
  const { seed, fates, violation, logs } = failure;
  return [
    `${ran}: seed ${seed} fails`,
    describeViolation(violation),
    `again: simulate(scenario, { seed: ${seed}, fates: "${fates}" })`,
    ...[...logs].flatMap(([scope, log]) => [`the log of ${scope}:`, log.trimEnd()]),
  ].join("\n");
};

const describeOrder = (order: readonly string[]): string => order.join(" · ");

const describeDisorder = (violation: ScheduleViolation): string =>
  `${describeViolation(violation)}\n    in the order ${describeOrder(violation.order)}`;

export const describeSchedules = ({ orders, pruned, isBounded, results, violations }: ScheduleReport): string =>
  [
    `${orders} orders${isBounded ? ", and there are more" : ", which are all"}; ${pruned} came to the same as another`,
    ...results.map(
      ({ result, orders: count, example }) =>
        `  ${canonicalJson(result).slice(0, 200)} in ${count}, such as ${describeOrder(example)}`,
    ),
    violations.length === 0 ? "safe in every order" : `${violations.length} violations:`,
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
