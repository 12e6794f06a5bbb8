/** The digest of commands that most calls never lead to; of a form with `digest.ts`, and as frozen. */
import type { Command } from "./command.ts";
import { absurd } from "./error.ts";
import type { FlowExecutionEvent } from "./flow/event.ts";
import type { Lanes, PlainCommand } from "./digest.ts";

type SeldomCommand = Exclude<Command, { readonly type: PlainCommand }>;

/** What each of them begins with. A number that was used once is never given to another. */
const tags: { readonly [T in SeldomCommand["type"]]: number } = {
  "hook.run": 1,
  "tool.prepare": 3,
  "tool.cancel": 5,
  "host.request": 8,
  "outcome.resolve": 9,
  "result.project": 10,
  "external.cancel": 11,
  "replies.record": 12,
  send: 15,
  "message.answer": 16,
  "wake.deliver": 17,
  "env.load": 18,
  "engine.run": 19,
  "engine.cancel": 20,
  "process.observe": 21,
  "deletion.report": 22,
  "lambda.apply": 23,
  "flow.observe": 24,
  "permit.take": 40,
  "permit.release": 41,
  "spawn.answer": 42,
  "artifacts.write": 43,
  "session.tell": 44,
  "task.observe": 45,
  "run.observe": 46,
  "schedule.next": 47,
  "schedule.answer": 48,
  "probe.run": 49,
};

const writeFlowEvent = (lanes: Lanes, event: FlowExecutionEvent): Lanes => {
  if (event.kind === "step_start" || event.kind === "step_complete") {
    return lanes.text(event.step_name).number(event.step_index).optional(event.branch_path);
  }
  return event.kind === "flow_complete" ? lanes.number(event.steps_executed) : lanes;
};

type LongWork = Extract<
  Command,
  {
    readonly type: `permit.${string}` | `schedule.${string}` | `session.${string}` | `task.${string}` | `run.${string}`;
  }
>;

type OfRuns = Extract<Command, { readonly type: "spawn.answer" | "artifacts.write" | "probe.run" }>;

/** Of what nobody waits for: background runs, tasks, schedules. */
const writeLongWork = (lanes: Lanes, c: LongWork | OfRuns): Lanes => {
  switch (c.type) {
    case "permit.take":
    case "permit.release":
      return lanes.text(c.run);
    case "spawn.answer":
      return lanes.text(c.run).text(c.answer.status);
    case "artifacts.write":
      return lanes.text(c.process).text(c.run).number(c.attempt).text(c.outcome.type);
    case "session.tell":
      return lanes.text(c.key).optional(c.schedule);
    case "task.observe":
      return lanes.text(c.what).text(c.task.id).text(c.task.state).number(c.task.attempt);
    case "run.observe":
      return lanes.text(c.process).number(c.attempt);
    case "schedule.next":
      return lanes.text(c.schedule).text(c.cron_expression).text(c.timezone).number(c.after);
    case "schedule.answer":
      return lanes.text(c.schedule).text(c.answer.status);
    case "probe.run":
      return lanes.text(c.schedule).number(c.fire).text(c.tool);
    default:
      return absurd(c);
  }
};

export const writeSeldom = (lanes: Lanes, c: SeldomCommand): Lanes => {
  lanes.word(tags[c.type]);
  switch (c.type) {
    case "hook.run":
      return lanes.text(c.call).text(c.phase).text(c.tool);
    case "tool.prepare":
      return lanes.text(c.call).text(c.tool_id);
    case "tool.cancel":
      return lanes.run(c);
    case "host.request":
      return lanes.run(c).text(c.key).text(c.name);
    case "outcome.resolve":
      return lanes.text(c.call).text(c.cause).text(c.tool);
    case "result.project":
      return lanes.text(c.call).text(c.tool);
    case "external.cancel":
      return lanes.text(c.call).text(c.key);
    case "replies.record":
      return lanes.text(c.call).text(c.key).replies(c);
    case "lambda.apply":
      return lanes.text(c.request).text(c.id).text(c.name).text(c.target);
    case "flow.observe":
      return writeFlowEvent(lanes.text(c.request).text(c.event.kind), c.event);
    case "send":
      return lanes.text(c.to).number(c.link).number(c.number).number(c.heard).text(c.message.type);
    case "message.answer":
      return lanes.text(c.to).number(c.link).number(c.number).text(c.outcome.status);
    case "wake.deliver":
      return lanes.text(c.key).text(c.wake.process_id).number(c.wake.sequence).text(c.wake.event_type);
    case "env.load":
      return lanes.text(c.process).text(c.env_ref);
    case "engine.run":
    case "engine.cancel":
      return lanes.text(c.process);
    case "process.observe":
      lanes.text(c.what).text(c.process).number(c.sequence);
      return lanes.optional(c.event_type).optional(c.state);
    case "deletion.report":
      return lanes.texts(c.orphaned).texts(c.preserved);
    default:
      return writeLongWork(lanes, c);
  }
};
