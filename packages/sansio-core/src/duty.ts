/**
 * The duty table says when a driver performs a command, what it does with it after its owner was lost, and which event
 * answers it; drivers obey. Here are the commands of most calls; all others are in `duty-seldom.ts`.
 */
import type { Recovery } from "./catalog/model.ts";
import type { Command, CommandType } from "./command.ts";
import type { StepRecovery } from "./effect/model.ts";
import { late } from "./part/needed.ts";

export interface Duty {
  readonly performed: "at_once" | "durable" | "when_leased";
  readonly afterLoss: "again" | "counted" | "never" | "when_asked" | "until_acknowledged" | "from_the_log" | "parked";
  readonly answeredBy: string | undefined;
}

export const answered = (by: string): Duty => ({ performed: "at_once", afterLoss: "again", answeredBy: by });
export const toBody: Duty = { performed: "at_once", afterLoss: "from_the_log", answeredBy: undefined };
export const untilAcked = (by: string): Duty => ({
  performed: "durable",
  afterLoss: "until_acknowledged",
  answeredBy: by,
});

export type PlainDuty = "args.check" | "step.answer" | "reply" | "observe";

export const plainDuties: { readonly [T in PlainDuty]: Duty } = {
  "args.check": answered("args.checked"),
  "step.answer": toBody,
  reply: untilAcked("reply.acked"),
  observe: { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
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

const isPlain = (type: CommandType): type is PlainDuty => type in plainDuties;

/** What a driver owes a command. A body's later runs wait until `call.resumed` is durable, whatever the tool. */
export const dutyOf = (command: Command): Duty => {
  const { type } = command;
  if (type === "step.run") return stepDuty[command.recovery];
  if (type !== "tool.execute") return isPlain(type) ? plainDuties[type] : late.code.seldomDuties[type];
  const duty = executeDuty[command.recovery];
  return command.run === 1 ? duty : { ...duty, performed: "durable" };
};
