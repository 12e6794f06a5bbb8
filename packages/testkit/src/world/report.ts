/** Describes what the explorers found, and provides the matcher for tests. */
import { canonicalJson } from "@pawl/tool-value";
import type { CrashReport, EffectCount } from "./crash.ts";
import type { ScheduleReport, ScheduleViolation } from "./schedule.ts";
import type { Simulation } from "./simulate.ts";
import { type Cause, type Harm, type Violation, describeBlows } from "./outcome.ts";

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const times = (least: number, most: number): string =>
  least === most ? counted(most, "time") : `${least} to ${counted(most, "time")}`;

const effectLine = ({ effect, tools, claim, undisturbed, least, most, repeatedAt }: EffectCount): string => {
  const where = repeatedAt === undefined ? "" : `; most often: ${describeBlows(repeatedAt)}`;
  const by = tools.length === 0 ? "" : `, by ${tools.join(" and ")}`;
  return `  ${effect}${by}: ${times(least, most)} (undisturbed ${undisturbed}), claimed ${claim}${where}`;
};

const advice: { readonly [H in Harm | Cause]?: string } = {
  doubled:
    "do it in a step, and pass the step's `key` to the service as idempotency key; or make the step `once`; or relax the scenario's `claims`",
  lost:
    "do the effect inside a durable step, and let the body wait for that step before it ends: `await` it, or " +
    "choose with `ctx.race`; if it need not happen, say so in the scenario's `claims`",
  not_run_again:
    "a body runs again after a crash if its tool says `durable: true` and no `recovery`: then do all its outside work in " +
    "steps; `externally_owned` is for work that somebody else completes under the completion key",
  left_the_world:
    "a durable body may wait only for `ctx`; a step, or a body that is not durable, also for the scenario's outside",
  diverged:
    "the requests of a body may depend only on its arguments and on results of `ctx`: take the time from " +
    "`ctx.now()`, random values from `ctx.random()` and `ctx.uuid(name)`, or read it in a step",
  failed:
    "to fail on purpose throw a `ToolError` or return `err()`, so that the caller learns why; " +
    "for a scenario about internal errors set `mayFail`",
  other_result:
    "a body that runs again must return the same result: everything it learns has to come from `ctx`; " +
    "`ctx.now()` differs after a crash: let the scenario's `host` leave it out of its result",
};

/** Maximum number of kinds of violations that are printed, each by its shortest example. */
const shownKinds = 8;
const shownUnknown = 5;
const shownEffects = 30;

/** Returns the advice for a violation. */
const remedyOf = ({ harm, cause }: Violation): readonly string[] => {
  const name = cause ?? harm;
  const remedy = advice[name];
  return remedy === undefined ? [] : [`${name}: ${remedy}`];
};

const describeViolation = ({ harm, blows, message }: Violation): string =>
  `  ${harm}, ${describeBlows(blows)}: ${message}`;

/** Kinds that may cause others; they are printed first. */
const causes: readonly Harm[] = ["failed", "diverged"];
const rank = (alike: readonly Violation[]): number => {
  const place = causes.findIndex((harm) => harm === alike[0]?.harm);
  return place < 0 ? causes.length : place;
};

/** Groups equal violations and sorts each group by the number of faults. */
const sorted = <V extends Violation>(violations: readonly V[]): readonly (readonly V[])[] => {
  const kinds = new Map<string, V[]>();
  for (const violation of violations) {
    const kind = `${violation.harm} ${violation.cause ?? ""} ${violation.of ?? ""}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), violation]);
  }
  return [...kinds.values()]
    .map((alike) => alike.toSorted((a, b) => a.blows.length - b.blows.length))
    .toSorted((a, b) => rank(a) - rank(b));
};

const describeViolations = <V extends Violation>(
  violations: readonly V[],
  describeOne: (violation: V) => string,
): readonly string[] => {
  const kinds = sorted(violations);
  const remedies = new Set(kinds.flatMap(([first]) => (first === undefined ? [] : remedyOf(first))));
  const rest = kinds.length - shownKinds;
  return [
    `${counted(violations.length, "violation")}:`,
    ...kinds
      .slice(0, shownKinds)
      .flatMap(([first, ...others]) => [
        ...(first === undefined ? [] : [describeOne(first)]),
        ...(others.length === 0 ? [] : [`    and ${others.length} more like it`]),
      ]),
    ...(rest > 0 ? [`  and ${counted(rest, "more kind")}`] : []),
    ...remedies,
  ];
};

const isStep = ({ effect }: EffectCount): boolean => effect.startsWith("step ");
const isBody = ({ effect }: EffectCount): boolean => effect.startsWith("tool ");

/** Says which effects the verdict covers: the explorer sees no others. */
const seenOf = (effects: readonly EffectCount[]): string => {
  const steps = effects.filter(isStep).length;
  const outside = effects.filter((effect) => !isStep(effect) && !isBody(effect)).length;
  const seen = `seen: ${counted(outside, "effect")} outside, ${counted(steps, "step")}`;
  if (outside > 0) return seen;
  const unseen = steps > 0 ? "what steps do outside" : "whatever tools do outside";
  return `${seen}; ${unseen} is seen only if it uses the scenario's \`effect\``;
};

/** Puts the report of `exploreCrashes` into words. */
export const describeCrashes = (report: CrashReport): string => {
  const { points, pairs, allPairs, effects, unknown, violations } = report;
  const bound = pairs < allPairs ? ` of ${allPairs}` : "";
  const unknownAt = unknown.slice(0, shownUnknown).map((blows) => `  outcome unknown: ${describeBlows(blows)}`);
  const but = unknown.length === 0 ? "" : " except where an outcome is unknown";
  const isSafe = `safe: nothing is lost${but}, and nothing happens more often than claimed (${seenOf(effects)})`;
  const moreEffects = effects.length - shownEffects;
  return [
    `${counted(points, "crash point")}, ${pairs}${bound} pairs; ${unknown.length} end with an unknown outcome`,
    ...effects.slice(0, shownEffects).map(effectLine),
    ...(moreEffects > 0 ? [`  and ${counted(moreEffects, "more effect")}`] : []),
    ...unknownAt,
    ...(violations.length === 0 ? [isSafe] : describeViolations(violations, describeViolation)),
  ].join("\n");
};

/** Returns the command that repeats a run. */
export type Again = (seed: number, fates: string) => string;
const byCall: Again = (seed, fates) => `simulate(scenario, { seed: ${seed}, fates: "${fates}" })`;

/** Puts the report of `simulate` into words, with the call that repeats it. */
export const describeSimulation = (simulation: Simulation, again = byCall): string => {
  const { runs, events, deaths, faults, befallen, failure } = simulation;
  const kinds = Object.entries(befallen).filter(([fate]) => fate !== "die");
  const kindsOf = kinds.length === 0 ? "" : ` (${kinds.map(([fate, count]) => `${fate} ${count}`).join(", ")})`;
  const ran = `${counted(runs, "run")}, ${counted(events, "event")}, ${counted(deaths, "death")}, ${counted(faults, "fault")}${kindsOf}`;
  if (failure === undefined) return `${ran}: nothing is wrong`;
  const { seed, fates, violation, logs } = failure;
  return [
    `${ran}: seed ${seed} fails`,
    describeViolation(violation),
    ...remedyOf(violation),
    `again: ${again(seed, fates)}`,
    ...[...logs].flatMap(([scope, log]) => [`the log of ${scope}:`, log.trimEnd()]),
  ].join("\n");
};

const describeOrder = (order: readonly string[]): string => order.join(" · ");

const describeDisorder = (violation: ScheduleViolation): string =>
  `${describeViolation(violation)}\n    in the order ${describeOrder(violation.order)}`;

/** Puts the report of `exploreSchedules` into words. */
export const describeSchedules = ({ orders, pruned, isBounded, results, violations }: ScheduleReport): string =>
  [
    `${counted(orders, "order")}${isBounded ? " of more" : ", all of them"}; ${pruned} equivalent to another`,
    ...results.map(
      ({ result, orders: count, example }) =>
        `  ${canonicalJson(result).slice(0, 200)} in ${count}, such as ${describeOrder(example)}`,
    ),
    ...(violations.length === 0 ? ["safe in every order"] : describeViolations(violations, describeDisorder)),
  ].join("\n");

type Report = CrashReport | Simulation | ScheduleReport;

const describeReport = (report: Report): string => {
  if ("points" in report) return describeCrashes(report);
  return "orders" in report ? describeSchedules(report) : describeSimulation(report);
};

/**
 * For `expect.extend`: `expect(await exploreCrashes(scenario)).toBeSafe()`. Accepts the other explorers' reports, too.
 */
export const explorerMatchers = {
  toBeSafe: (report: Report) => ({
    pass: "isSafe" in report ? report.isSafe : report.failure === undefined,
    message: () => describeReport(report),
  }),
};
