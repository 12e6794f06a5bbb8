/**
 * Tools as authors write them: schemas, policies and a body. Types flow through a definition: from `inputSchema` to the
 * arguments of the body, and from `outputSchema`, or else from what the body returns, to the result of a call.
 */
import type { Json, ToolResult } from "@pawl/tool-value";
import type { ToolContext } from "../body/facet/context.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import type { ArgsOf, Given, Schema } from "./argument.ts";
import type { PrepareContext } from "./live-tool.ts";
import type { ToolLimit } from "./limit.ts";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import type { ExecutionResult } from "./result.ts";

/** Further attempts at a call whose failure says that it is safe to repeat. */
export interface ToolRetry {
  /** How often a call may be tried, the first time included. */
  readonly attempts: number;
  /** The pause after the first attempt; each further one is twice as long. Default: 100. */
  readonly firstDelayMs?: number;
  /** The longest pause. Default: no limit. */
  readonly maxDelayMs?: number;
  /** The outside recognises a repeated attempt, so that a call may also be tried again after a crash. */
  readonly idempotent?: boolean;
}

/** Decides on a call whether a person has to approve it. */
export type ApprovalRule<A> = boolean | ((args: A) => boolean | Promise<boolean>);

/** The calls that wait for a person, and for how long. */
export type NeedsApproval<A> =
  | ApprovalRule<A>
  | {
      /** Default: true. */
      readonly when?: ApprovalRule<A>;
      /** Ends a call as `approval_expired` if nobody has decided by then. Without it a call waits for ever. */
      readonly expiresInMs?: number;
    };

/** A moment of a call that a person reads about. */
export type CallPhase = "started" | "waiting" | "completed" | "failed";

/** The description of a tool: everything but its functions. */
export interface ToolDescription<A = unknown> {
  readonly name: string;
  /** Default: `tool:{name}`. A call that is on record finds its tool by it, under whatever name. */
  readonly id?: string;
  /** Tells a model what the tool does. */
  readonly description?: string;
  /** The name that people read. */
  readonly title?: string;
  /** The schema of the arguments: a Standard Schema (zod, valibot, arktype), a codec of io-ts, or JSON Schema. */
  readonly inputSchema?: Schema<A>;
  /** The schema of the result. A result that does not fit fails the call as `invalid_tool_output`. */
  readonly outputSchema?: Schema<unknown>;
  /** Every outside effect of the body is inside a durable step, so that the body may run again after a crash. */
  readonly durable?: boolean;
  /** False keeps its bodies in memory while they wait. */
  readonly suspend?: boolean;
  readonly needsApproval?: NeedsApproval<A>;
  readonly retry?: ToolRetry;
  /** The tool changes nothing outside, so a call whose process died may run again. */
  readonly readOnly?: boolean;
  /** A call that runs twice has the effect of one, so a call whose process died may run again. */
  readonly idempotent?: boolean;
  /** The consequence of a lost process for a running call. Default: it follows from the fields above. */
  readonly recovery?: ToolManifest["recovery"];
  /** `serial`: its calls run when the others of their request have ended or are parked. Default: `parallel`. */
  readonly concurrency?: "parallel" | "serial";
  /** Bounds how many of its calls run at a time over all hosts of the store, or begin in a second. The others wait in a queue. */
  readonly limit?: ToolLimit<A>;
  /** Its body runs in an executor that connects to the host: a page, a worker, another process. */
  readonly clientSide?: boolean;
  readonly availability?: ToolManifest["availability"]["base"];
  /** `internal` hides the tool from models. */
  readonly activation?: ToolManifest["activation"];
  /** Decides for a call whose body no longer asks what its log records. Default: `park`. */
  readonly onDivergence?: ToolManifest["divergence"];
  /**
   * Decides for a call whose process dies again and again: by default it is parked, until somebody resolves it or another
   * version of the tool takes it up.
   */
  readonly onCrashLoop?: "park" | "fail";
  /** The version of its code. Default: the version of the host's code. */
  readonly version?: string;
  /** Fields of its manifest and contract that pawl hands on and does not act on, by their names on the wire. */
  readonly manifest?: Partial<ToolManifest & ToolContract>;
}

/** A tool: its description and its functions. */
export interface ToolDefinition<A = unknown> extends ToolDescription<A> {
  /** Tells a person in one line what a call is doing. Without it the line is made from the tool's title or name. */
  readonly narrate?: (args: A, phase: CallPhase) => string;
  /** Enriches a call before it is journaled, deterministically: the body gets the payload; a result ends the call. */
  readonly prepare?: (args: A, context: PrepareContext) => Json | ToolResult | Promise<Json | ToolResult>;
  readonly execute: (args: A, context: ToolContext) => unknown;
  /** Executes as a background run: streams into the sink, and returns or throws as `execute` does. */
  readonly background?: (args: A, context: ToolContext, sink: BackgroundSink) => unknown;
}

/** A tool that knows the types of its arguments, as a caller gives them, and of its result. */
export interface DefinedTool<Input = unknown, Result = unknown> extends ToolDefinition {
  /** Carries the types; no tool has this field. */
  readonly "~types"?: { readonly input: Input; readonly result: Result };
}

/** Derives the type of the arguments that a caller gives to a tool. */
export type InputOf<T> = T extends DefinedTool<infer Input, unknown> ? Input : unknown;
/** Derives the type of the result of calling a tool. */
export type ResultOf<T> = T extends DefinedTool<unknown, infer Result> ? Result : unknown;

type Special = ToolResult | ExecutionResult;
type Maybe<T> = T | Promise<T>;

/** Lists what a body may return: with an `outputSchema` what the schema takes, and without one anything. */
type Returned<O> = [O] extends [undefined] ? unknown : Maybe<Given<O> | Special>;

/** A plain value is the result as it is; of `ok(…)` and the like the type does not tell. */
type Plain<R> = [Exclude<R, Special>] extends [never] ? unknown : Exclude<R, Special>;
type Outcome<O, R> = [O] extends [undefined] ? Plain<Awaited<R>> : ArgsOf<O>;

interface Typed<A, O, R> extends Omit<ToolDefinition<A>, "inputSchema" | "outputSchema" | "execute" | "background"> {
  readonly outputSchema?: O;
  readonly execute: (args: A, context: ToolContext) => R;
  readonly background?: (args: A, context: ToolContext, sink: BackgroundSink) => unknown;
}

export interface DefineTool {
  <
    const S extends Schema<unknown>,
    const O extends Schema<unknown> | undefined = undefined,
    R extends Returned<O> = Returned<O>,
  >(
    definition: Typed<ArgsOf<S>, O, R> & { readonly inputSchema: S },
  ): DefinedTool<Given<S>, Outcome<O, R>>;
  <A = unknown, const O extends Schema<unknown> | undefined = undefined, R extends Returned<O> = Returned<O>>(
    definition: Typed<A, O, R> & { readonly inputSchema?: Schema<A> },
  ): DefinedTool<A, Outcome<O, R>>;
}
