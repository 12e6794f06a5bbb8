/** Flows begin, go on where the world has answered, and end. */
import { dict, optional, string, text } from "@pawl/tool-value";
import type { Concern } from "../concern.ts";
import { flowChecks } from "./check.ts";
import { LambdaResultCodec, specFields } from "./codec.ts";
import {
  type DispatchError,
  type Ending,
  type FlowCommand,
  type FlowEnd,
  type FlowEvent,
  type FlowExecutionEvent,
  type FlowRow,
  type FlowRows,
  type FlowSignal,
  type StepEnd,
  type Strand,
  dispatchErrorDebug,
} from "./model.ts";
import { problemOfProgram } from "./program.ts";
import { boundTexts, outstandingOfFlows, rootGround, waitingsOf } from "./strand.ts";
import { Stage } from "./node.ts";
import { type Answer, cancel, resume, walk } from "./walk.ts";
import type { Lanes } from "../kernel/digest.ts";
import type { Draft } from "../kernel/draft.ts";
import { type EventOf, type SignalOf, answered, observed, stepBatch } from "../kernel/vocabulary.ts";
import { type Rejection, Invariant, reject } from "../kernel/error.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { begin, problemOfId } from "../request/concern.ts";

const executedOf = ({ frames: [first] }: Strand): number => (first?.part.type === "flow" ? first.part.executed : 0);

const endOf = ({ root }: FlowRow, ending: Ending): FlowEnd => ({
  ending,
  bindings: boundTexts(root),
  steps_executed: executedOf(root),
  step_counter: root.counter,
});

const showError = (draft: Draft, { request, flow, root }: FlowRow, error: DispatchError): void => {
  const failed = `flow '${flow.name}' failed at node #${executedOf(root) + 1}: ${dispatchErrorDebug(error)}`;
  const event = { kind: "flow_error", flow_name: flow.name, error: failed, timestamp_ms: draft.at } as const;
  draft.emit({ type: "flow.observe", request, event });
};

const showEnd = (draft: Draft, { request, flow, root, startedAt }: FlowRow): void => {
  const event = {
    kind: "flow_complete",
    flow_name: flow.name,
    backend: flow.backend,
    success: true,
    steps_executed: executedOf(root),
    tokens_input: 0,
    tokens_output: 0,
    latency_ms: draft.at - startedAt,
    timestamp_ms: draft.at,
  } as const;
  draft.emit({ type: "flow.observe", request, event });
};

/** A flow that was cancelled, or that nobody watches, ends without a word. */
const end = (draft: Draft, row: FlowRow, ending: Ending): void => {
  if (!row.cancelled && !row.gone) {
    if (ending.type === "failed") showError(draft, row, ending.error);
    else showEnd(draft, row);
  }
  draft.dropFlow(row.request);
  draft.raise({ type: "flow.ended", request: row.request, end: endOf(row, ending), triggers: row.triggers });
};

/** Writes the flow as far as it has come; or ends it. */
const put = (draft: Draft, stage: Stage, root: Strand): void => {
  const row = { ...stage.row, ...stage.counts, root };
  if (root.state.type === "over") end(draft, row, root.state.ending);
  else draft.putFlow(row);
};

export const onStart = (
  draft: Draft,
  { request, bindings, flow, tools, lambdas, unresolved }: SignalOf<"flow.start">,
): void => {
  const root: Strand = {
    bindings: PersistentMap.of(Object.entries(bindings)),
    counter: 0,
    frames: [{ part: { type: "flow", executed: 0 }, next: 0, output: "" }],
    state: { type: "walking" },
  };
  const spec = { flow, tools, lambdas, unresolved };
  const rest = { request, startedAt: draft.at, cancelled: false, gone: false, walked: 0, written: 0, triggers: [] };
  const row: FlowRow = { ...spec, ...rest, root };
  const start = { flow_name: flow.name, backend: flow.backend, timestamp_ms: draft.at };
  draft.emit({ type: "flow.observe", request, event: { kind: "flow_start", ...start } });
  const stage = new Stage(draft, row);
  put(draft, stage, walk(stage, rootGround(row), root));
};

/** Lets the strand that waits for this answer go on; returns whether there is one. */
const goOn = (draft: Draft, row: FlowRow, answer: Answer): boolean => {
  const stage = new Stage(draft, row);
  const root = resume(stage, rootGround(row), row.root, answer);
  if (root !== undefined) put(draft, stage, root);
  return root !== undefined;
};

/** The batch of a step has ended, and its one call has its output. */
const onStepEnded = (draft: Draft, { request, id, output, triggers }: StepEnd): void => {
  const row = draft.flow(request);
  if (row === undefined) throw new Invariant(`no flow ${request} for its step ${id}`);
  const known = triggers.length === 0 ? row : { ...row, triggers: [...row.triggers, ...triggers] };
  if (!goOn(draft, known, { type: "call", id, output })) throw new Invariant(`nobody waits for ${id}`);
};

/** A flow is a request that makes its calls one after the other. */
export const onSubmitted = (draft: Draft, event: EventOf<"flow.submitted">): Rejection | undefined => {
  const problem = problemOfId(draft, event);
  if (problem !== undefined) return problem;
  const refused = problemOfProgram(event.flow);
  if (refused !== undefined) {
    return reject("flow_refused", `flow \`${event.flow.name}\`, ${refused.path}: ${refused.message}`);
  }
  const { request, bindings, flow, tools, lambdas, unresolved } = event;
  begin(draft, event);
  draft.raise({ type: "flow.start", request, bindings, flow, tools, lambdas, unresolved });
  return undefined;
};

const onApplied = (draft: Draft, { request, id, result }: EventOf<"lambda.applied">): Rejection | undefined => {
  const row = draft.flow(request);
  if (row === undefined) return reject("request_unknown", `no live flow \`${request}\``);
  if (goOn(draft, row, { type: "lambda", id, result })) return undefined;
  return reject("effect_unknown", `flow \`${request}\` waits for no lambda \`${id}\``);
};

const onGone = (draft: Draft, { request }: EventOf<"flow.consumer_gone">): Rejection | undefined => {
  const row = draft.flow(request);
  if (row === undefined) return reject("request_unknown", `no live flow \`${request}\``);
  draft.putFlow({ ...row, gone: true });
  return undefined;
};

/** Its calls are told to stop as those of any batch are; the flow ends when the last of them has. */
export const onCancel = (draft: Draft, { request }: SignalOf<"flow.cancel">): void => {
  const before = draft.flow(request);
  if (before === undefined || before.cancelled) return;
  const row = { ...before, cancelled: true };
  const stage = new Stage(draft, row);
  put(draft, stage, cancel(stage, rootGround(row), row.root));
  const batches = waitingsOf(row, "call").map(({ id }) => stepBatch(request, id));
  if (batches.length > 0) draft.raise({ type: "batches.cancel", batches });
};

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
  rows: { flows: PersistentMap.empty() },
};
