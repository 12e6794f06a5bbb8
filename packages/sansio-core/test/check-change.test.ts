/** Steps that `pnpm core-sim` came to, and that the checkers of changes once took for broken. */
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { checkAll } from "../src/check.ts";
import { checkChange } from "../src/check-change.ts";
import { initial, step } from "../src/machine.ts";
import type { Event } from "../src/kernel/vocabulary.ts";
import { type Options, defaultOptions } from "../src/kernel/options.ts";

const opened = (epoch: number, options: Partial<Options> = {}): Event => ({
  type: "scope.opened",
  epoch,
  owner: `d${epoch}`,
  protocol: 1,
  options: { ...defaultOptions, ...options },
});
const monitor = { task: "task_1", title: "M", tool: "t0", arguments: null, signal_on_completion: true };
const once = (id: string, scheduled_at: number): Event => ({
  type: "schedule.requested",
  schedule: { id, description: "do it", scheduled_at, timezone: "UTC", monitor },
});
const again: Event = {
  type: "schedule.requested",
  schedule: { id: "sched_1", description: "do it", cron_expression: "* * * * *", timezone: "UTC" },
};

/** Returns what the checkers say of each step of a log that is taken. */
const complaintsOf = (log: readonly (readonly [at: number, event: Event])[]): readonly string[] => {
  let state = initial("session:s");
  return log.flatMap(([at, event]) => {
    const result = step(state, { seq: state.seq + 1, at, event });
    if (E.isLeft(result)) throw new Error(`${event.type}: ${result.left.message}`);
    const before = state;
    state = result.right.state;
    return checkChange(before, state) ?? checkAll(state) ?? [];
  });
};

describe("a step is held to", () => {
  it("the options under which its time passes, though it brings stricter ones", () => {
    const log = [
      [1000, opened(1, { max_ended_tasks: 1 })],
      [1000, once("sched_1", 2000)],
      [3000, opened(2, { max_ended_tasks: 0 })],
    ] as const;
    expect(complaintsOf(log)).toEqual([]);
  });

  it("what became of a schedule, not of a newer one under the name that time has set free", () => {
    const log = [
      [1000, opened(1, { max_ended_tasks: 1 })],
      [1000, again],
      [1000, { type: "schedule.planned", schedule: "sched_1", after: 1000, plan: { status: "next", at: 2000 } }],
      [3000, { type: "schedule.cancelled", schedule: "sched_1" }],
      [3000, once("sched_2", 3001)],
      [3001, again],
    ] as const;
    expect(complaintsOf(log)).toEqual([]);
  });
});
