/** A background run in both of its scopes, and schedules with a monitor. */
import { type ToolCallOutput, failureOutput, toolFailure } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { registrationHash } from "../../src/process/hash.ts";
import { checkRegistration } from "../../src/process/registration.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { resumed, settle } from "./event.ts";
import { heard } from "./scenario-process.ts";
import { Tape, tool } from "./tape.ts";

const run = "bg_0190a0000000700080000000000000ff";
const registration: ProcessRegistration = {
  id: run,
  input: {
    type: "tool_call",
    call: { call_id: "c", tool_id: "tool:work", tool_name: "work", args: { n: 1 }, prepared_payload: null },
  },
  identity: {
    kind: "background_tool",
    label: "Job",
    definition: { task: "task_1", tool: "work", arguments: { n: 1 }, reattachable: true, signal_on_completion: true },
  },
  event_types: [],
  provenance: { originator: { type: "session", scope: { session_id: "golden" } } },
  env_ref: "process-env:sha256:0",
};

const requested = () => {
  const checked = checkRegistration(registration);
  if (E.isLeft(checked)) throw new Error(checked.left.message);
  return { type: "run.requested", registration, hash: registrationHash(checked.right) } as const;
};

class Pair {
  readonly session = Tape.open([]);
  readonly process = Tape.open([tool("work")], {}, `process:${run}`);
  #seen = { session: 0, process: 0 };

  deliver(): this {
    for (;;) {
      const frames = [this.#said("session"), this.#said("process")] as const;
      if (frames[0].length + frames[1].length === 0) return this;
      for (const event of frames[0]) this.process.note(event);
      for (const event of frames[1]) this.session.note(event);
    }
  }

  #said(from: "session" | "process") {
    const tape = this[from];
    const said = tape.said.slice(this.#seen[from]);
    this.#seen[from] = tape.said.length;
    return said.flatMap((command) => heard(tape.state.scope.id, command));
  }
}

const started = (): Pair => {
  const pair = new Pair();
  pair.session.tell(requested(), "permit.take");
  pair.session.note({ type: "permit.answered", run, permit: { status: "granted" } });
  return pair.deliver();
};

const ended = (pair: Pair, call: string, output: ToolCallOutput): Pair => {
  pair.process.after(900).tell(settle(call, output), "call_completed c", "artifacts.write");
  pair.process.note({ type: "artifacts.written", attempt: pair.process.state.background.run?.attempt ?? 1, written: true });
  return pair.deliver();
};

const lived = (): Pair => {
  const pair = started();
  const output = [{ stream: "stdout", delta: "halfway \u{1F600}" }];
  pair.process.after(500).tell(
    { type: "run.reported", attempt: 1, detail: "halfway", progress: { current: 0.5, total: 1 }, output },
    "run.observe",
  );
  const result = { outcome: { status: "success", payload: { summary: "All done", result: { ok: true } } } } as const;
  ended(pair, `${run}:c`, result as unknown as ToolCallOutput);
  pair.session.tell({ type: "session.told", key: `run:${run}` });
  return pair;
};

export const sessionOfRun = (): Tape => lived().session;
export const runOfSession = (): Tape => lived().process;

/** Its owner is lost; the next attempt fails. */
export const lostRun = (): Tape => {
  const pair = started();
  const { protocol, options } = pair.process.state.scope;
  pair.process.after(50).note({ type: "scope.opened", epoch: 2, owner: "d2", protocol, options });
  pair.deliver().process.note(resumed(`${run}:c 1.2`, "owner_lost", "d2"));
  return ended(pair, `${run}:c 1.2`, failureOutput(toolFailure("execution", "tool_error", "boom"))).process;
};

/** Its owner is lost, and its driver does not begin it again. */
export const orphanedRun = (): Tape => {
  const pair = started();
  const { protocol, options } = pair.process.state.scope;
  pair.process.after(50).note({ type: "scope.opened", epoch: 2, owner: "d2", protocol, options, last_owner: "lost" });
  pair.deliver().process.note(resumed(`${run}:c 1.2`, "owner_lost", "d2"));
  const refused = failureOutput({ ...toolFailure("external", "tool_outcome_unknown", "not again"), source: "runtime" });
  const lost = { ...settle(`${run}:c 1.2`, refused), cause: "owner_lost" } as Event;
  pair.process.tell(lost, "call_completed c", "artifacts.write");
  pair.process.note({ type: "artifacts.written", attempt: pair.process.state.background.run?.attempt ?? 1, written: true });
  return pair.deliver().process;
};

/** A task that asks and is answered, and a monitor whose probe says what it found. */
export const tasks = (): Tape => {
  const tape = Tape.open([], { probes: true });
  const task = { id: "task_1", kind: "subagent", display_name: "Look into it", spec: { n: 1 } };
  tape.tell({ type: "task.created", task: { ...task, wake_policy: "on_activity" } }, "task.observe");
  const update = { state: "running", input_request: { id: "req_1", prompt: "which?" } } as const;
  tape.note({ type: "task.updated", task: "task_1", update });
  const content = [{ type: "text", text: "this" }] as const;
  const message = { id: "m1", task_id: "task_1", direction: "inbound", content, in_reply_to: "req_1" } as const;
  tape.note({ type: "task.messaged", message });
  tape.note({ type: "task.updated", task: "task_1", update: { state: "succeeded", summary: "found" } });
  const monitor = { task: "task_m", title: "Watch", tool: "look", arguments: { n: 1 }, signal_on_completion: true };
  const hourly = { id: "sched_a", description: "Look", cron_expression: "0 * * * *", timezone: "UTC", monitor };
  tape.note({ type: "schedule.requested", schedule: hourly });
  const after = tape.state.at;
  const plan = { status: "next", at: after + 3_600_000, interval_s: 3600 } as const;
  tape.note({ type: "schedule.planned", schedule: "sched_a", after, plan });
  tape.tick(3_600_000, "schedule.next", "probe.run");
  const outcome = { type: "succeeded", text: "2 new" } as const;
  tape.note({ type: "probe.answered", schedule: "sched_a", fire: 1, outcome });
  return tape.note({ type: "session.deleted" });
};

/** A monitor that fires twice, and a schedule that is told to end. */
export const schedules = (): Tape => {
  const tape = Tape.open([]);
  const monitor = { task: "task_m", title: "Watch", tool: "look", arguments: {}, signal_on_completion: true };
  const hourly = { description: "Look", cron_expression: "0 * * * *", timezone: "Europe/Kyiv", monitor };
  tape.tell({ type: "schedule.requested", schedule: { id: "sched_a", ...hourly } }, "schedule.next");
  let after = tape.state.at;
  const plan = () => ({ status: "next", at: after + 3_600_000, interval_s: 3600 }) as const;
  tape.tell(
    { type: "schedule.planned", schedule: "sched_a", after, plan: plan() },
    "schedule.answer",
    "task.observe",
  );
  tape.after(3_600_000).tell({ type: "clock.ticked" }, "schedule.next", "session.tell schedule:sched_a:1", "task.observe");
  after = tape.state.at;
  tape.tell({ type: "schedule.planned", schedule: "sched_a", after, plan: plan() });
  tape.tell({ type: "session.told", key: "schedule:sched_a:1" });
  const once = { id: "sched_b", description: "Once", scheduled_at: after + 1000, timezone: "UTC" };
  tape.tell({ type: "schedule.requested", schedule: once }, "schedule.answer");
  tape.tell({ type: "schedule.cancelled", schedule: "sched_b" });
  return tape.tell({ type: "task.cancel_requested", task: "task_m" }, "task.observe", "task.observe");
};

/** An interval of a monitor: fires, was slept through, ends; and one that is too short. */
export const intervals = (): Tape => {
  const tape = Tape.open([]);
  const monitor = { task: "task_m", title: "Watch", tool: "look", arguments: {}, signal_on_completion: true };
  const hourly = { id: "sched_a", description: "Look", every_ms: 3_600_000, timezone: "UTC", monitor };
  tape.tell({ type: "schedule.requested", schedule: hourly }, "schedule.answer", "task.observe");
  tape.after(3_600_000).tell({ type: "clock.ticked" }, "session.tell schedule:sched_a:1", "task.observe");
  tape.tell({ type: "session.told", key: "schedule:sched_a:1" });
  tape.after(10_000_000).tell({ type: "clock.ticked" }, "session.tell schedule:sched_a:2", "task.observe");
  tape.tell({ type: "session.told", key: "schedule:sched_a:2" });
  const short = { id: "sched_b", description: "Look", every_ms: 1000, timezone: "UTC" };
  tape.tell({ type: "schedule.requested", schedule: short }, "schedule.answer");
  tape.refuses({ type: "schedule.requested", schedule: { ...short, id: "sched_c", scheduled_at: 1 } }, "schedule_unplanned");
  return tape.tell({ type: "schedule.cancelled", schedule: "sched_a" }, "task.observe");
};
