/** The commands of calls: when each is performed, what becomes of it when its owner is lost, and what its digest covers. */
import type { CommandRule } from "../concern.ts";
import { type CommandOf, type Duty, answered, observed, toBody } from "../kernel/vocabulary.ts";
import type { Recovery } from "../catalog/model.ts";
import type { CallCommand } from "./contract.ts";
import type { StepRecovery } from "./effect.ts";

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

/** A body that starts again waits until `call.resumed` is durable, whatever the tool. */
const dutyOfExecute = ({ recovery, run, cause }: CommandOf<"tool.execute">): Duty =>
  run === 1 && cause === undefined ? executeDuty[recovery] : { ...executeDuty[recovery], performed: "durable" };

export const callCommands: { readonly [T in CallCommand["type"]]: CommandRule<T> } = {
  "hook.run": {
    tag: 1,
    duty: answered("hook.ran"),
    digest: (lanes, command) => lanes.text(command.call).text(command.phase).text(command.tool),
  },
  "args.check": {
    tag: 2,
    duty: answered("args.checked"),
    digest: (lanes, command) => lanes.text(command.call).text(command.tool_id),
  },
  "tool.prepare": {
    tag: 3,
    duty: answered("call.prepared"),
    digest: (lanes, command) => lanes.text(command.call).text(command.tool_id),
  },
  "tool.execute": {
    tag: 4,
    duty: { of: dutyOfExecute },
    digest: (lanes, command) => {
      lanes.run(command).text(command.tool_id).text(command.tool).number(command.max_attempts);
      return lanes.text(command.recovery).optional(command.cause);
    },
  },
  "place.take": {
    tag: 66,
    duty: answered("place.granted"),
    digest: (lanes, command) => lanes.text(command.call).number(command.attempt),
  },
  "tool.cancel": { tag: 5, duty: toBody, digest: (lanes, command) => lanes.run(command) },
  "step.run": {
    tag: 6,
    duty: { of: ({ recovery }) => stepDuty[recovery] },
    digest: (lanes, command) => {
      lanes.run(command).text(command.key).text(command.recovery);
      return command.try === undefined ? lanes : lanes.number(command.try);
    },
  },
  "step.answer": {
    tag: 7,
    duty: toBody,
    digest: (lanes, command) =>
      lanes.run(command).text(command.key).number(command.seq).number(command.index).number(command.value),
  },
  "stream.answer": {
    tag: 50,
    duty: toBody,
    digest: (lanes, command) => lanes.run(command).text(command.key),
  },
  "host.request": {
    tag: 8,
    duty: { performed: "durable", afterLoss: "when_asked", answeredBy: "host.answered" },
    digest: (lanes, command) => lanes.run(command).text(command.key).text(command.name),
  },
  "outcome.resolve": {
    tag: 9,
    duty: answered("outcome.resolved"),
    digest: (lanes, command) => lanes.text(command.call).text(command.cause).text(command.tool),
  },
  "result.project": {
    tag: 10,
    duty: answered("result.projected"),
    digest: (lanes, command) => lanes.text(command.call).text(command.tool),
  },
  "replies.record": {
    tag: 12,
    duty: answered("replies.recorded"),
    digest: (lanes, command) => lanes.text(command.call).text(command.key).replies(command),
  },
  observe: {
    tag: 14,
    duty: observed,
    digest: (lanes, command) => lanes.observed(command),
  },
};
