/**
 * Tools as authors write them: schemas, policies and a body. Types flow through a definition: from `inputSchema` to the
 * arguments of the body, and from `outputSchema`, or else from what the body returns, to the result of a call.
 * Definitions of tools that could not run are refused, in the words that their authors write.
 */
import type { Json, ToolResult } from "@pawl/tool-value";
import type { ToolContext } from "../body/facet/context.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import { type ArgsOf, type Given, type Schema, problemOfJsonSchema } from "./argument.ts";
import type { PrepareContext } from "./live-tool.ts";
import { type ToolLimit, problemOfLimit } from "./limit.ts";
import { type ToolContract, type ToolManifest, contractFields, manifestFields } from "./manifest.ts";
import type { ExecutionResult } from "./result.ts";
import type { Tool } from "@pawl/sansio-core";
import { Refused, shownOf, unknownKeyIn } from "../error.ts";

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

const descriptionFields: { readonly [F in keyof Required<ToolDescription>]: 1 } = {
  name: 1,
  id: 1,
  description: 1,
  title: 1,
  inputSchema: 1,
  outputSchema: 1,
  durable: 1,
  suspend: 1,
  needsApproval: 1,
  retry: 1,
  readOnly: 1,
  idempotent: 1,
  recovery: 1,
  concurrency: 1,
  limit: 1,
  clientSide: 1,
  availability: 1,
  activation: 1,
  onDivergence: 1,
  onCrashLoop: 1,
  version: 1,
  manifest: 1,
};
const definitionFields = { ...descriptionFields, narrate: 1, prepare: 1, execute: 1, background: 1 };
const retryFields = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1, idempotent: 1 };
const approvalFields = { when: 1, expiresInMs: 1 };

/** Makes the refusal of a tool. */
export const refused = (message: string): Refused => new Refused("invalid_tool", message);

/** Names of an older release and of the wire, with what is written in their place. */
const renamed: { readonly [old: string]: string } = {
  parameters: "inputSchema",
  input_schema: "inputSchema",
  output_schema: "outputSchema",
  policy: "needsApproval",
  approval_ms: "needsApproval: { expiresInMs }",
  retry_policy: "retry",
  hints: "readOnly, idempotent",
  display_name: "title",
  scheduling: "concurrency",
  divergence: "onDivergence",
};
const wireFields = { ...manifestFields, ...contractFields };

const instead = (name: string): string | undefined =>
  Object.hasOwn(renamed, name) ? renamed[name] : Object.hasOwn(wireFields, name) ? `manifest: { ${name} }` : undefined;

const admitKnown = (at: string, tool: string, given: object, known: object): void => {
  const unknownKey = unknownKeyIn(at, given, known);
  if (unknownKey !== undefined) throw refused(`tool \`${tool}\`: ${unknownKey}`);
};

/** Rejects fields of an older release: a tool with `policy` would silently run without its approval. */
export const admitNames = (description: ToolDescription): void => {
  for (const field of Object.keys(description)) {
    const now = Object.hasOwn(definitionFields, field) ? undefined : instead(field);
    if (now === undefined) continue;
    throw refused(`tool \`${description.name}\`: \`${field}\` is no field of a tool: write \`${now}\``);
  }
};

/** Rejects unknown fields: a misspelt `durable` would silently make the tool non-durable. */
export const admitFields = (description: ToolDescription): void => {
  admitNames(description);
  admitKnown("", description.name, description, definitionFields);
  const problem = problemOfLimit(description);
  if (problem !== undefined) throw refused(problem);
};

/** Refuses what is no object at all. */
export const admittedDefinition = (given: unknown): ToolDefinition => {
  if (typeof given === "object" && given !== null) return given as ToolDefinition;
  throw refused(`a tool is expected to be what \`defineTool\` gives, found ${shownOf(given)}`);
};

/** Refuses blank names: models call tools by name. */
export const admitName = (what: string, name: unknown): void => {
  if (typeof name === "string" && name.trim() !== "") return;
  const found = typeof name === "string" ? JSON.stringify(name) : typeof name;
  throw refused(`${what}: a tool's name is expected to be a text that is not blank, found ${found}`);
};

/** Refuses a schema that values cannot be checked against. */
export const admitSchema = (what: string, schema: unknown, problemOf = problemOfJsonSchema): void => {
  const problem = problemOf(schema);
  if (problem !== undefined) throw refused(`${what} does not fit: ${problem}`);
};

const optionalParts = ["prepare", "background", "narrate"] as const;

/** Refuses functions that are none. */
export const admitParts = (definition: ToolDefinition): void => {
  for (const part of ["execute", ...optionalParts] as const) {
    const found: unknown = definition[part];
    if (typeof found === "function" || (found === undefined && part !== "execute")) continue;
    throw refused(`\`${part}\` of tool \`${definition.name}\` is expected to be a function, found ${shownOf(found)}`);
  }
};

const isCount = (found: unknown, least: number): boolean => Number.isSafeInteger(found) && Number(found) >= least;

/** Writes `retry` as the policy on the wire. */
export const retryPolicyOf = ({ name, retry }: ToolDescription): Tool["retry_policy"] | undefined => {
  if (retry === undefined) return undefined;
  admitKnown("retry.", name, retry, retryFields);
  const { attempts, firstDelayMs = 100, maxDelayMs = 0, idempotent = false } = retry;
  if (!isCount(attempts, 1))
    throw refused(`\`retry.attempts\` of tool \`${name}\`: expected 1 or more, found ${shownOf(attempts)}`);
  for (const [field, found] of Object.entries({ firstDelayMs, maxDelayMs }))
    if (!isCount(found, 0))
      throw refused(`\`retry.${field}\` of tool \`${name}\`: expected whole milliseconds, found ${shownOf(found)}`);
  const type = idempotent ? "idempotent" : "safe";
  return { type, max_attempts: attempts, base_delay_ms: firstDelayMs, max_delay_ms: maxDelayMs };
};

type Asked = Extract<NeedsApproval<unknown>, { readonly when?: unknown }>;

/** Reads `needsApproval` in each of its forms. */
export const approvalOf = ({ name, needsApproval = false }: ToolDescription): Required<Pick<Asked, "when">> & Asked => {
  if (typeof needsApproval === "boolean" || typeof needsApproval === "function") return { when: needsApproval };
  if (typeof needsApproval !== "object" || needsApproval === null)
    throw refused(
      `\`needsApproval\` of tool \`${name}\`: expected true, false, a function or { when, expiresInMs }, found ${shownOf(needsApproval)}`,
    );
  admitKnown("needsApproval.", name, needsApproval, approvalFields);
  const { when = true, expiresInMs } = needsApproval;
  if (typeof when !== "boolean" && typeof when !== "function")
    throw refused(
      `\`needsApproval.when\` of tool \`${name}\`: expected a boolean or a function, found ${shownOf(when)}`,
    );
  if (expiresInMs !== undefined && !isCount(expiresInMs, 0))
    throw refused(
      `\`needsApproval.expiresInMs\` of tool \`${name}\`: expected whole milliseconds, found ${shownOf(expiresInMs)}`,
    );
  return expiresInMs === undefined ? { when } : { when, expiresInMs };
};
