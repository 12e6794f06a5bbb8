/**
 * A flow: a small program of steps over text bindings, submitted as a request. It runs on by itself from step to step
 * and stands still where the world has to do something: a tool's call, a lambda's application.
 *
 *   submitted ─▶ (walks) ─▶ stands ─▶ (walks) ─▶ … ─▶ ended: its request has its reply
 *                             ▲          │
 *                             └──────────┘  a call's batch has ended; a lambda was applied
 *
 * It is walked by strands: one at first, and one a branch in a parallel block. A strand's frames are the bodies that it
 * is in, from the outermost; where a frame stands is the node that is walked, and the next frame is a body of it.
 *
 * Invariants
 *   F1  a flow belongs to a running request of its name, which has no batch of its own
 *   F2  a strand stands at a call, at a lambda, or at branches of which one is not over
 *   F3  a strand that stands at a call has a batch of that one call; and no batch of a flow is waited for by nobody
 *   F4  each frame stands at a node that has the next frame's body; the last one at the node that is waited for
 *   F5  a strand has counted the step that it stands at
 *   F6  a flow that was cancelled stands at calls alone
 *   F7  a flow never unlearns: what it has walked and written grows, and so does what it has executed
 */
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import type { Parameter, Program } from "./program.ts";
import { absurd } from "../kernel/error.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";

/** A tool that a flow may call: by the name that its nodes give, to the tool with this id in the catalog. */
export interface FlowTool {
  readonly name: string;
  readonly id: string;
  readonly parameters: readonly Parameter[];
}

/** Replaces a tool or lambda that nobody registered: by its placeholder, or by the flow's failure. */
export type Unresolved = "placeholder" | "fail";

/** Which body of a node a frame is in. */
export type Part =
  /** `executed`: the nodes at the top that were completed. */
  | { readonly type: "flow"; readonly executed: number }
  | { readonly type: "branch"; readonly index: number }
  | { readonly type: "then" }
  | { readonly type: "else" }
  | {
      readonly type: "turn";
      readonly variable: string;
      readonly items: readonly string[];
      readonly index: number;
      /** The output of the turns that were completed. */
      readonly output: string;
    };

export interface Frame {
  readonly part: Part;
  readonly next: number;
  /** The last output that is not empty. */
  readonly output: string;
}

export type Ending =
  | { readonly type: "completed"; readonly output: string }
  | { readonly type: "returned"; readonly value: string }
  | { readonly type: "failed"; readonly error: DispatchError };

interface Waits {
  /** The id of the step's call, or the name of the lambda's application. */
  readonly id: string;
  readonly step: number;
  readonly born: number;
}
export type StrandState =
  | { readonly type: "walking" }
  | ({ readonly type: "call" } & Waits)
  | ({ readonly type: "lambda" } & Waits)
  | { readonly type: "branches"; readonly step: number; readonly strands: readonly Strand[] }
  | { readonly type: "over"; readonly ending: Ending };

export interface Strand {
  readonly bindings: PersistentMap<string, string>;
  /** The index of the next step. */
  readonly counter: number;
  readonly frames: readonly Frame[];
  readonly state: StrandState;
}

/** Submitted by the host: the program, and the names that it may use. */
export interface FlowSpec {
  readonly flow: Program;
  readonly tools: readonly FlowTool[];
  /** Names of lambdas that the driver applies. */
  readonly lambdas: readonly string[];
  readonly unresolved: Unresolved;
}

export interface FlowRow extends FlowSpec {
  readonly request: string;
  readonly startedAt: number;
  readonly root: Strand;
  readonly cancelled: boolean;
  /** The consumer of its events is gone, and the host says that this ends it. */
  readonly gone: boolean;
  /** Nodes and turns that it has come to, and text that it has made, in UTF-16 units. */
  readonly walked: number;
  readonly written: number;
  /** Occurrences that the bodies of its tools triggered. */
  readonly triggers: readonly Json[];
}

/** How a flow ended, as whoever submitted it is told. */
export interface FlowEnd {
  readonly ending: Ending;
  readonly bindings: { readonly [name: string]: string };
  readonly steps_executed: number;
  readonly step_counter: number;
}

/** The end of a step's batch: the output of its one call, and the occurrences that its body triggered. */
export interface StepEnd {
  readonly request: string;
  readonly id: string;
  readonly output: ToolCallOutput;
  readonly triggers: readonly Json[];
}

/** A submission under the request that it is. */
interface FlowStart extends FlowSpec {
  readonly request: string;
  readonly bindings: { readonly [name: string]: string };
}

export type LambdaResult =
  | { readonly status: "ok"; readonly output: string }
  | { readonly status: "err"; readonly message: string };

export type FlowEvent =
  | ({
      readonly type: "flow.submitted";
      readonly request: string;
      readonly hash: string;
      readonly execution_scope?: string;
      readonly bindings: { readonly [name: string]: string };
    } & FlowSpec)
  | {
      readonly type: "lambda.applied";
      readonly request: string;
      /** The node's id, as the command named it. */
      readonly id: string;
      readonly result: LambdaResult;
    }
  /** Nobody reads the flow's events any more, and it is to end for that. */
  | { readonly type: "flow.consumer_gone"; readonly request: string };

/** The call of a flow's step, or the name of a lambda's application: by where it stands, never by when it came. */
export const stepId = (
  request: string,
  { path, top, turn }: { readonly path: string; readonly top: number; readonly turn: number | undefined },
): string => `flow:${request}/${path}/${top}${turn === undefined ? "" : `/${turn}`}`;

/** Signals that flows hear. */
export type FlowSignal =
  | ({ readonly type: "flow.start" } & FlowStart)
  | { readonly type: "flow.cancel"; readonly request: string }
  /** The batch of a step has ended: deferred until no other signal is left. */
  | ({ readonly type: "step.ended" } & StepEnd);

/** Commands of flows. */
export type FlowCommand =
  /** A lambda is to be applied to a text; `target` is the name that the input was found by, or the input itself. */
  | {
      readonly type: "lambda.apply";
      readonly request: string;
      readonly id: string;
      readonly name: string;
      readonly target: string;
      readonly input: string;
    }
  | { readonly type: "flow.observe"; readonly request: string; readonly event: FlowExecutionEvent };

/** Its rows in a state. */
export interface FlowRows {
  /** By the request that each is. */
  readonly flows: PersistentMap<string, FlowRow>;
}

// Events that a flow shows while it runs, in the words of its wire.

interface OfStep {
  readonly step_name: string;
  readonly step_index: number;
  /** Where the step stands: absent at the top. */
  readonly branch_path?: string;
}

export type StepEvent =
  | ({ readonly kind: "step_start"; readonly step_type: string; readonly timestamp_ms: number } & OfStep)
  | ({
      readonly kind: "step_complete";
      readonly success: boolean;
      readonly full_output: string;
      readonly tokens_input: number;
      readonly tokens_output: number;
      readonly timestamp_ms: number;
    } & OfStep);

export type FlowExecutionEvent =
  | StepEvent
  | {
      readonly kind: "flow_start";
      readonly flow_name: string;
      readonly backend: string;
      readonly timestamp_ms: number;
    }
  | {
      readonly kind: "flow_complete";
      readonly flow_name: string;
      readonly backend: string;
      readonly success: boolean;
      readonly steps_executed: number;
      readonly tokens_input: number;
      readonly tokens_output: number;
      readonly latency_ms: number;
      readonly timestamp_ms: number;
    }
  | { readonly kind: "flow_error"; readonly flow_name: string; readonly error: string; readonly timestamp_ms: number };

// Errors that stop a flow short of its end.

export type DispatchError =
  | { readonly type: "BackendError"; readonly name: string; readonly message: string }
  | { readonly type: "UpstreamCancelled" }
  | { readonly type: "MissingDependency"; readonly name: string }
  | { readonly type: "ChannelClosed" }
  /** Ours, so that every flow ends: it made more steps, or more text, than its scope allows. */
  | { readonly type: "LimitExceeded"; readonly limit: "max_flow_nodes" | "max_flow_text"; readonly allowed: number };

/** In words, for whoever submitted the flow. */
export const dispatchErrorText = (error: DispatchError): string => {
  switch (error.type) {
    case "BackendError":
      return `backend '${error.name}' stream() failed: ${error.message}`;
    case "UpstreamCancelled":
      return "upstream cancelled mid-dispatch";
    case "MissingDependency":
      return `dispatcher missing dependency: ${error.name}`;
    case "ChannelClosed":
      return "channel closed (consumer dropped)";
    case "LimitExceeded":
      return `flow exceeds ${error.limit}: at most ${error.allowed}`;
    default:
      return absurd(error);
  }
};

const escapes: { readonly [char: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};
const quoted = (text: string): string => `"${text.replace(/["\\\n\r\t]/g, (char) => escapes[char] as string)}"`;

/** As a developer reads it in `flow_error`: the name of the error, with its fields. */
export const dispatchErrorDebug = (error: DispatchError): string => {
  const { type, ...fields } = error;
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? quoted(value) : value}`,
  );
  return shown.length === 0 ? type : `${type} { ${shown.join(", ")} }`;
};
