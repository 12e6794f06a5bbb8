/**
 * The events and the commands of calls. Events: what the outside reports; those of approvals and effects stand with these.
 * Commands: when each is performed, what becomes of it when its owner is lost, and what its digest covers.
 */
import type { Json, PendingCompletion, ToolCallOutput } from "@pawl/tool-value";
import type { EffectKind, StepRecovery } from "./effect/effect.ts";
import type { SignalPlace } from "./life.ts";
import type { Patches, ResumeCause } from "./model.ts";
import type { Versions } from "../scope/model.ts";
import type { CommandRule } from "../concern.ts";
import { type CommandOf, type Duty, answered, observed, toBody } from "../kernel/vocabulary.ts";
import type { Recovery } from "../catalog/model.ts";
import type { CallCommand } from "./contract.ts";

/** A hook's word on a call: what the plugins asked for, in order, with what came of it. */
export type Directive =
  | { readonly kind: "replace_tool_args"; readonly args: Json }
  | { readonly kind: "short_circuit_tool"; readonly output: ToolCallOutput }
  | { readonly kind: "abort_turn"; readonly code: string; readonly message: string }
  /** Performed by the host; `error` says that it could not be. */
  | { readonly kind: "create_session"; readonly error?: string }
  | { readonly kind: "enqueue_messages"; readonly error?: string }
  | { readonly kind: "emit_runtime_events" }
  | { readonly kind: "emit_trace"; readonly error?: string };

export type HookOutcome =
  | { readonly status: "ok"; readonly directives: readonly Directive[] }
  | { readonly status: "err"; readonly message: string };

export type ArgsVerdict =
  | { readonly verdict: "valid" }
  | { readonly verdict: "invalid"; readonly message: string }
  | { readonly verdict: "no_contract" };

export type Preparation =
  | {
      readonly type: "prepared";
      readonly tool_id: string;
      readonly args: Json;
      readonly args_hash: string;
      readonly payload: Json;
      /** The tool found that this call needs no approval. Only a tool that waives approvals says so. */
      readonly approval?: "waived";
    }
  | { readonly type: "finished"; readonly output: ToolCallOutput };

export type BodyResult =
  | { readonly type: "done"; readonly output: ToolCallOutput }
  | { readonly type: "pending"; readonly key: string; readonly pending: PendingCompletion };

export type Resolved =
  | { readonly type: "run_again" }
  /** From the top, with nothing remembered but the steps that may run only once. */
  | { readonly type: "release" }
  | { readonly type: "verified"; readonly output: ToolCallOutput }
  | { readonly type: "give_up" };

/** A request of a body, as a divergence names it. */
export interface NamedRequest {
  readonly key: string;
  readonly kind: EffectKind;
  readonly hash: string;
}

/** The request of a body, and what its log has in that place; without `expected` or `found` there is nothing. */
export interface RequestDifference {
  readonly expected?: NamedRequest;
  readonly found?: NamedRequest;
  /** Where both inputs are known: the first fields that differ, with their values as short JSON texts. */
  readonly fields?: readonly {
    readonly path: string;
    readonly expected?: string;
    readonly found?: string;
  }[];
  /**
   * The step that was under way when the request of the log was made, where the body makes none now. A body that acts on what
   * a step says before its result is on record asks for something that no later run can ask for again.
   */
  readonly actedOn?: string;
}

interface OfRun {
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

export type CallEvent =
  | {
      readonly type: "hook.ran";
      readonly call: string;
      readonly phase: "before" | "after";
      readonly outcome: HookOutcome;
    }
  | {
      readonly type: "args.checked";
      readonly call: string;
      readonly args_hash?: string;
      readonly verdict: ArgsVerdict;
    }
  | { readonly type: "call.prepared"; readonly call: string; readonly preparation: Preparation }
  | ({ readonly type: "call.dispatched"; readonly owner: string; readonly key?: string } & OfRun)
  /** `cause`: the driver says that a background run was lost and is not begun again. */
  | ({
      readonly type: "call.settled";
      readonly result: BodyResult;
      readonly duration_ms: number;
      /** Keys of effects that were open for so long that the body's end no longer waits for them. */
      readonly left?: readonly string[];
      readonly cause?: "owner_lost";
      readonly patched?: Patches;
    } & OfRun)
  | ({ readonly type: "call.settled_late"; readonly output: ToolCallOutput; readonly duration_ms: number } & OfRun)
  /**
   * `parked`: the body has ended, and starts again when its wait under this key is over. `link`: it has a message for
   * this scope, and the link is full.
   */
  | ({ readonly type: "call.suspended"; readonly parked?: string; readonly link?: string } & OfRun)
  | ({
      readonly type: "call.resumed";
      readonly cause: ResumeCause;
      readonly owner: string;
      /** The version of the code that runs it from here. */
      readonly version?: string;
    } & OfRun)
  /** Begins the next life: with the hash of its arguments, and the last signal of each name that this one was handed. */
  | ({
      readonly type: "call.continued";
      readonly args: Json;
      readonly args_hash?: string;
      readonly signals?: readonly SignalPlace[];
      readonly left?: readonly string[];
    } & OfRun)
  | ({
      readonly type: "call.diverged";
      readonly position: number;
      readonly expected: string;
      readonly found: string;
      /** The version of the code that ran it. */
      readonly version?: string;
      readonly differs?: RequestDifference;
    } & OfRun)
  /** All that the body does when it is cancelled is done. */
  | ({ readonly type: "call.cleaned_up" } & OfRun)
  | ({ readonly type: "call.executor_missing" } & OfRun)
  /** The tool of a call in preparation is not here. */
  | { readonly type: "call.tool_missing"; readonly call: string }
  /** The store has a place for the call in the queue of its tool. */
  | { readonly type: "place.granted"; readonly call: string; readonly attempt: number }
  | { readonly type: "executors.available"; readonly tools: readonly string[]; readonly versions?: Versions }
  | { readonly type: "call.cancelled"; readonly call: string; readonly by?: string }
  | { readonly type: "outcome.resolved"; readonly call: string; readonly resolved: Resolved; readonly by?: string }
  | { readonly type: "result.projected"; readonly call: string; readonly parts: Json };

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
