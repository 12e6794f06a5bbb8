/** The duties of commands that most calls never lead to. */
import type { CommandType } from "./command.ts";
import { type Duty, type PlainDuty, answered, plainDuties, toBody, untilAcked } from "./duty.ts";

type Seldom = Exclude<CommandType, PlainDuty | "tool.execute" | "step.run">;

export const seldomDuties: { readonly [T in Seldom]: Duty } = {
  "hook.run": answered("hook.ran"),
  "tool.prepare": answered("call.prepared"),
  "result.project": answered("result.projected"),
  "outcome.resolve": answered("outcome.resolved"),
  "replies.record": answered("replies.recorded"),
  "tool.cancel": toBody,
  "host.request": { performed: "durable", afterLoss: "when_asked", answeredBy: "host.answered" },
  "external.cancel": untilAcked("external.cancel_acked"),
  send: untilAcked("message.answered"),
  "message.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "wake.deliver": untilAcked("wake.acked"),
  "env.load": answered("catalog.published"),
  "engine.run": untilAcked("process.event_appended"),
  "engine.cancel": untilAcked("process.event_appended"),
  "process.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "deletion.report": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "lambda.apply": answered("lambda.applied"),
  "flow.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "permit.take": answered("permit.answered"),
  "permit.release": { performed: "durable", afterLoss: "never", answeredBy: undefined },
  "spawn.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "artifacts.write": { performed: "durable", afterLoss: "again", answeredBy: "artifacts.written" },
  "session.tell": untilAcked("session.told"),
  "task.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "run.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "schedule.next": answered("schedule.planned"),
  "schedule.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "probe.run": { performed: "durable", afterLoss: "again", answeredBy: "probe.answered" },
};

/** The duty of each command by its type; that of `tool.execute` and `step.run` hangs on their recovery. */
export const duties: { readonly [T in PlainDuty | Seldom]: Duty } = { ...plainDuties, ...seldomDuties };
