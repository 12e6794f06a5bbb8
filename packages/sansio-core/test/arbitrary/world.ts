/** What a scope is opened with: options and tools of every sort. */
import type { Recovery, RetryPolicy, Tool } from "../../src/catalog/model.ts";
import { type Options, defaultOptions, optionsUnder } from "../../src/kernel/options.ts";
import type { Dice } from "./dice.ts";

const retries: readonly RetryPolicy[] = [
  { type: "never" },
  { type: "never" },
  { type: "safe", max_attempts: 3, base_delay_ms: 100, max_delay_ms: 150 },
  { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 },
  { type: "safe", max_attempts: Number.MAX_SAFE_INTEGER, base_delay_ms: Number.MAX_SAFE_INTEGER, max_delay_ms: 0 },
  { type: "idempotent", max_attempts: 2, base_delay_ms: 10, max_delay_ms: 0 },
];
const recoveries: readonly (Recovery | undefined)[] = [undefined, "rerunnable", "owner_bound", "externally_owned"];

/** Calls of this tool wait for a place in a queue. */
const queuedTool = "t7";
export const toolNames = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"] as const;

export const anyTool = (dice: Dice, name: string): Tool => {
  const recovery = dice.pick(recoveries);
  const approval_ms = dice.maybe(30, () => dice.pick([0, 500, Number.MAX_SAFE_INTEGER]));
  return {
    id: `tool:${name}`,
    name,
    availability: dice.isUnder(95) ? dice.pick(["callable", "showcased"]) : dice.pick(["off", "searchable"]),
    scheduling: dice.isUnder(70) ? "parallel" : "serial",
    retry_policy: dice.pick(retries),
    policy: dice.isUnder(75) ? "auto" : "requires_approval",
    durable: dice.isUnder(60),
    hints: { readonly: dice.isUnder(10), idempotent: dice.isUnder(10) },
    ...(recovery === undefined ? {} : { recovery }),
    divergence: dice.pick(["park", "release", "fail"]),
    ...(approval_ms === undefined ? {} : { approval_ms }),
    ...(dice.isUnder(15) ? { waives_approval: true } : {}),
    checks: dice.isUnder(25),
    prepares: dice.isUnder(25),
    ...(name === queuedTool ? { queue: name } : {}),
  };
};

export const anyTools = (dice: Dice): readonly Tool[] => toolNames.map((name) => anyTool(dice, name));

/** Options that a scope of this protocol may have. */
export const anyOptions = (dice: Dice, protocol: number): Options => optionsUnder(protocol, wildOptions(dice));

/** Options of every protocol. */
export const wildOptions = (dice: Dice): Options => ({
  ...defaultOptions,
  concurrency: dice.pick([null, null, 1, 2, 3]),
  grace_ms: dice.pick([0, 50, 1000]),
  max_unclaimed: dice.pick([0, 1, 3, 1000, 1000]),
  max_answers: dice.pick([1, 1000]),
  max_unanswered: dice.pick([1, 2, 1000, 1000]),
  max_ended_handles: dice.pick([0, 1, 1000]),
  max_runs: dice.pick([0, 1, 5, 5]),
  max_run_attempts: dice.pick([1, 2, 3]),
  max_output: dice.pick([0, 20, 262_144]),
  max_ended_tasks: dice.pick([0, 1, 100]),
  max_schedules: dice.pick([0, 1, 5, 5]),
  min_interval_s: dice.pick([0, 300]),
  probes: dice.isUnder(40),
  resume_pauses_ms: dice.pick([defaultOptions.resume_pauses_ms, defaultOptions.resume_pauses_ms, [], [0], [5]]),
  crash_pauses_ms: dice.pick([defaultOptions.crash_pauses_ms, [], [0], [5]]),
  max_crashes: dice.pick([100, 100, 1, 2, 3]),
  no_executor_ms: dice.pick([900_000, 0]),
  expire_at_once: dice.pick([256, 256, 1, 2]),
  resolver: dice.isUnder(50),
  before_hook: dice.isUnder(30),
  after_hook: dice.isUnder(30),
  projection: dice.isUnder(30),
  max_waiting_turns: dice.pick([100, 1, 0]),
  stop_ms: dice.pick([1000, 0]),
  model_pauses_ms: dice.pick([defaultOptions.model_pauses_ms, [], [0, 0]]),
  max_attempts: dice.pick([5, 1, 2]),
  max_switches: dice.pick([16, 1]),
  max_frames: dice.pick([100, 1]),
  keep_partial: dice.isUnder(80),
  turn_check: dice.isUnder(30),
  model_resolver: dice.isUnder(40),
  unpriced: dice.pick(["allow", "fail"]),
});
