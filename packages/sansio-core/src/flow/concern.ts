/** Programs of steps over text bindings, submitted as requests. */
import { dict, optional, string, text } from "@pawl/tool-value";
import { answered, observed } from "../kernel/duty.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { flowChangeChecks, flowChecks } from "./check.ts";
import { LambdaResultCodec, specFields } from "./codec.ts";
import { outstandingOfFlows } from "./recovery.ts";
import { onApplied, onCancel, onGone, onStart, onStepEnded, onSubmitted } from "./step.ts";
import type { FlowCommand, FlowEvent, FlowRows, FlowSignal } from "./model.ts";
import type { Concern } from "../concern.ts";
import type { Lanes } from "../kernel/digest.ts";
import type { FlowExecutionEvent } from "./event.ts";

const writeFlowEvent = (lanes: Lanes, event: FlowExecutionEvent): Lanes => {
  if (event.kind === "step_start" || event.kind === "step_complete") {
    return lanes.text(event.step_name).number(event.step_index).optional(event.branch_path);
  }
  return event.kind === "flow_complete" ? lanes.number(event.steps_executed) : lanes;
};

export const flow: Concern<FlowRows, FlowEvent["type"], FlowSignal["type"], FlowCommand["type"]> = {
  name: "flow",
  events: {
    "flow.submitted": {
      fields: {
        request: string,
        hash: string,
        execution_scope: optional(string),
        bindings: dict(text),
        ...specFields,
      },
      on: onSubmitted,
    },
    "lambda.applied": { fields: { request: string, id: string, result: LambdaResultCodec }, on: onApplied },
    "flow.consumer_gone": { fields: { request: string }, on: onGone },
  },
  signals: {
    "flow.start": { raises: ["batch.create", "flow.ended"], on: onStart },
    "flow.cancel": { raises: ["batches.cancel", "flow.ended"], on: onCancel },
    "step.ended": { raises: ["batch.create", "flow.ended"], on: onStepEnded },
  },
  commands: {
    "lambda.apply": {
      tag: 23,
      duty: answered("lambda.applied"),
      digest: (lanes, command) => lanes.text(command.request).text(command.id).text(command.name).text(command.target),
    },
    "flow.observe": {
      tag: 24,
      duty: observed,
      digest: (lanes, command) => writeFlowEvent(lanes.text(command.request).text(command.event.kind), command.event),
    },
  },
  outstanding: outstandingOfFlows,
  isAtWork: (state) => state.flows.size > 0 && outstandingOfFlows(state).length > 0,
  checks: flowChecks,
  changes: { flows: flowChangeChecks },
  rows: { flows: PersistentMap.empty() },
};
