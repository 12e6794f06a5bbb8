/**
 * Outcomes of calls. A body returns or throws anything; one result is recorded of it, and a model reads the host's
 * projection of that result. Where a crash left the outcome unknown, the host's resolver decides how the call goes on.
 */
import type { CommandOf, Event, EventOf, State } from "@pawl/sansio-core";
import type { CallOfRequest, Replies } from "../session/call.ts";
import {
  type Json,
  type ToolCallOutput,
  type ToolResult,
  type ToolValue,
  array,
  attachment,
  describe,
  done,
  err,
  failureOutput,
  internalErrorOutput,
  isToolResult,
  lift,
  ModelToolReturnPart,
  parseMediaType,
  read,
  resultOf,
  runtimeFailure,
  successOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AttachmentStore, putAttachment } from "../journal/blob.ts";
import { EffectError, textOf, ToolError } from "../error.ts";
import { notStored } from "../scope/offload.ts";
import { roundTripped } from "../scope/access.ts";
import { type ExecutionResult, type ToolImage, isExecutionResult, withoutRawOutput } from "../tool/result.ts";
import type { Values } from "../scope/large-values.ts";
import { type ToolHost, placeOf, report } from "./host.ts";

export type Ending =
  /** `rawOutput` is an artifact of the call, and no part of its output. */
  | { readonly type: "result"; readonly result: ToolResult; readonly rawOutput?: string }
  | { readonly type: "connection"; readonly provider: string };

/** Stands for an error that was not meant for models and callers. */
export const hidden: ToolResult = done(internalErrorOutput);

const bytesOf = (base64: string): Uint8Array => {
  const text = atob(base64);
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
};

/** Stores the bytes of an image before the outcome, which only names them. */
const storedImage = async (store: AttachmentStore, { base64, media_type }: ToolImage): Promise<ToolValue> =>
  attachment(await putAttachment(store, bytesOf(base64), { media_type: parseMediaType(media_type) }));

const endingOfExecution = async (result: ExecutionResult, store: AttachmentStore): Promise<Ending> => {
  switch (result.type) {
    case "success": {
      const { value, ...raw } = withoutRawOutput(result.value);
      return { type: "result", result: done(successOutput(lift(value))), ...raw };
    }
    case "success_with_images": {
      const images = await Promise.all(result.images.map((image) => storedImage(store, image)));
      return { type: "result", result: done(successOutput({ images, result: lift(result.result) })) };
    }
    case "tool_error":
      return { type: "result", result: err(textOf(result.message)) };
    case "internal_error":
      throw new Error(result.message, { cause: result.source });
    case "connection_required":
      return { type: "connection", provider: String(result.provider).toWellFormed() };
  }
};

/** Reads what a body returned: a result, an execution result of the reference, or any value. */
export const endingOf = async (returned: unknown, store: AttachmentStore): Promise<Ending> => {
  if (isExecutionResult(returned)) return endingOfExecution(returned, store);
  const result = isToolResult(returned) ? roundTripped(returned) : resultOf(returned === undefined ? null : returned);
  return { type: "result", result };
};

/** Reads what a body threw, if the tool meant a model to see it. */
export const resultOfThrown = (thrown: unknown): ToolResult | undefined => {
  if (thrown instanceof ToolError) return err(textOf(thrown));
  const isNotStored = thrown instanceof EffectError && thrown.code === notStored;
  return isNotStored ? done(failureOutput(runtimeFailure("resource_limit", notStored, textOf(thrown)))) : undefined;
};

export interface ProjectedCall {
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  readonly durationMs: number;
}

/** Returns the parts that a model reads, or undefined for those that it reads of any output. */
export type Projector = (
  call: ProjectedCall,
) => readonly ModelToolReturnPart[] | undefined | Promise<readonly ModelToolReturnPart[] | undefined>;

const Parts = array(ModelToolReturnPart);

const partsOf = async (project: Projector, call: ProjectedCall): Promise<Json> => {
  try {
    const said = await project(call);
    if (said === undefined) return null;
    const parts = read(Parts, Parts.encode(said));
    if (E.isLeft(parts)) throw new TypeError(`the projected parts do not fit: ${describe(parts.left)}`);
    return Parts.encode(parts.right) as Json;
  } catch (thrown) {
    return [{ type: "text", text: textOf(thrown) }];
  }
};

/** Answers `result.project` with the host's projection of an output. */
export const projectResult = async (
  { host: { project }, values }: { readonly host: ToolHost; readonly values: Values },
  state: State,
  { call, tool, output }: CommandOf<"result.project">,
): Promise<Event> => {
  const row = state.calls.at(call);
  const { session, callId, args } = await values.of(placeOf(state, call));
  const durationMs = row?.phase === "finishing" ? row.durationMs : 0;
  const parts =
    project === undefined ? null : await partsOf(project, { session, callId, tool, args, output, durationMs });
  return { type: "result.projected", call, parts };
};

type Resolve = CommandOf<"outcome.resolve">;

export interface UnknownOutcome {
  readonly scope: string;
  readonly call: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly cause: Resolve["cause"];
}

export type OutcomeDecision =
  | { readonly type: "run_again" }
  /** Asks another tool: a success of null means that nothing happened, and the call runs again; any other is its output. */
  | { readonly type: "verify"; readonly tool: string; readonly args: Json }
  | { readonly type: "verified"; readonly output: ToolCallOutput }
  /** The call stays as it is until a person reports `outcome.resolved`; asked again when the scope is opened. */
  | { readonly type: "person" }
  | { readonly type: "give_up" };

export type OutcomeResolver = (unknown: UnknownOutcome) => Promise<OutcomeDecision>;

export interface ResolverPort {
  readonly host: ToolHost;
  readonly values: Values;
  readonly submit: (request: string, calls: readonly CallOfRequest[]) => Promise<Replies>;
}

type Resolved = EventOf<"outcome.resolved">["resolved"];

const verified = (output: ToolCallOutput | undefined): Resolved => {
  if (output?.outcome.status !== "success") return { type: "give_up" };
  return output.outcome.payload === null ? { type: "run_again" } : { type: "verified", output };
};

/** Submits the verifying call, as a request that is named after the run in question: asked again it is joined. */
const verify = async (
  port: ResolverPort,
  state: State,
  call: Resolve["call"],
  tool: string,
  args: Json,
): Promise<Resolved> => {
  const row = state.calls.at(call);
  const run = row?.phase === "unknown" ? `${row.body.attempt}.${row.body.run}` : "0";
  const [reply] = await port.submit(`verify:${call}:${run}`, [{ label: "verify", tool, args }]);
  return verified(reply?.output);
};

/** Asks the resolver. Undefined means that a person has to decide. */
export const resolveOutcome = async (
  port: ResolverPort,
  state: State,
  command: Resolve,
): Promise<Event | undefined> => {
  const { call, cause, tool } = command;
  const { resolveOutcome: resolver } = port.host;
  if (resolver === undefined) return { type: "outcome.resolved", call, resolved: { type: "give_up" } };
  try {
    const { scope, callId, args } = await port.values.of(placeOf(state, call));
    const decision = await resolver({ scope, call, callId, tool, args, cause });
    if (decision.type === "person") return undefined;
    const resolved =
      decision.type === "verify" ? await verify(port, state, call, decision.tool, decision.args) : decision;
    return { type: "outcome.resolved", call, resolved };
  } catch (thrown) {
    report(port.host, placeOf(state, call), thrown); // Nobody has decided: the resolver is asked again at the next opening.
    return undefined;
  }
};
