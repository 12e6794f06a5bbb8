/**
 * Outcomes of calls: a body returns or throws anything, one result is recorded of it, and a model reads the host's
 * projection of that result.
 */
import type { Command, Event, State } from "@pawl/sansio-core";
import {
  type Json,
  ModelToolReturnPart,
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
  parseMediaType,
  read,
  resultOf,
  runtimeFailure,
  successOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AttachmentStore, putAttachment } from "../journal/attachment.ts";
import { EffectError, ToolError, textOf } from "../error.ts";
import { notStored } from "../scope/offload.ts";
import { roundTripped } from "../scope/round-trip.ts";
import { type ExecutionResult, type ToolImage, isExecutionResult, withoutRawOutput } from "../tool/result.ts";
import type { Values } from "../scope/values.ts";
import { type ToolHost, placeOf } from "./tool-host.ts";

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
  readonly sessionId: string;
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
  { call, tool, output }: Extract<Command, { readonly type: "result.project" }>,
): Promise<Event> => {
  const row = state.calls.at(call);
  const { session, callId, args } = await values.of(placeOf(state, call));
  const durationMs = row?.phase === "finishing" ? row.durationMs : 0;
  const parts =
    project === undefined
      ? null
      : await partsOf(project, { sessionId: session, callId, tool, args, output, durationMs });
  return { type: "result.projected", call, parts };
};
