/**
 * The duty table says when a driver performs a command, what it does with it after its owner was lost, and which event
 * answers it; drivers obey.
 */
import type { Recovery } from "../catalog/model.ts";
import type { Command, CommandType } from "./command.ts";
import type { StepRecovery } from "../call/effect-model.ts";

export interface Duty {
  readonly performed: "at_once" | "durable" | "when_leased";
  readonly afterLoss: "again" | "counted" | "never" | "when_asked" | "until_acknowledged" | "from_the_log" | "parked";
  readonly answeredBy: string | undefined;
}

const answered = (by: string): Duty => ({ performed: "at_once", afterLoss: "again", answeredBy: by });
const toBody: Duty = { performed: "at_once", afterLoss: "from_the_log", answeredBy: undefined };
const untilAcked = (by: string): Duty => ({
  performed: "durable",
  afterLoss: "until_acknowledged",
  answeredBy: by,
});

type ByRecovery = "tool.execute" | "step.run";

/** The duty of each command by its type; that of `tool.execute` and `step.run` depends on their recovery. */
export const duties: { readonly [T in Exclude<CommandType, ByRecovery>]: Duty } = {
  "args.check": answered("args.checked"),
  "step.answer": toBody,
  reply: untilAcked("reply.acked"),
  observe: { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
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

const executeDuty: { readonly [R in Recovery]: Duty } = {
  rerunnable: { performed: "at_once", afterLoss: "counted", answeredBy: "call.settled" },
  owner_bound: { performed: "durable", afterLoss: "never", answeredBy: "call.settled" },
  externally_owned: { performed: "durable", afterLoss: "parked", answeredBy: "call.settled" },
};

const stepDuty: { readonly [R in StepRecovery]: Duty } = {
  idempotent: { performed: "when_leased", afterLoss: "when_asked", answeredBy: "step.settled" },
  again: { performed: "durable", afterLoss: "when_asked", answeredBy: "step.settled" },
  once: { performed: "durable", afterLoss: "never", answeredBy: "step.settled" },
};

/** What a driver owes a command. A body's later runs wait until `call.resumed` is durable, whatever the tool. */
export const dutyOf = (command: Command): Duty => {
  const { type } = command;
  if (type === "step.run") return stepDuty[command.recovery];
  if (type !== "tool.execute") return duties[type];
  const duty = executeDuty[command.recovery];
  return command.run === 1 ? duty : { ...duty, performed: "durable" };
};
