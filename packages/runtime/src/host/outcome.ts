/** What a body returned or threw, as the one outcome that is recorded. */
import {
  type ToolResult,
  type ToolValue,
  attachment,
  done,
  err,
  failureOutput,
  internalErrorOutput,
  isToolResult,
  lift,
  parseMediaType,
  resultOf,
  runtimeFailure,
  successOutput,
} from "@pawl/tool-value";
import { type AttachmentStore, putAttachment } from "../journal/attachment.ts";
import { EffectError, ToolError, textOf } from "../error.ts";
import { notStored } from "../scope/offload.ts";
import { roundTripped } from "../scope/round-trip.ts";
import { type ExecutionResult, type ToolImage, isExecutionResult, withoutRawOutput } from "../tool/result.ts";

export type Ending =
  /** `rawOutput`: an artifact of the call, no part of its output. */
  | { readonly type: "result"; readonly result: ToolResult; readonly rawOutput?: string }
  | { readonly type: "connection"; readonly provider: string };

/** What models and callers see of an error that was not meant for them. */
export const hidden: ToolResult = done(internalErrorOutput);

const bytesOf = (base64: string): Uint8Array => {
  const text = atob(base64);
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
};

/** Stores the bytes first: what is recorded only names them. */
const storedImage = async (store: AttachmentStore, { base64, media_type }: ToolImage): Promise<ToolValue> =>
  attachment(await putAttachment(store, bytesOf(base64), { media_type: parseMediaType(media_type) }));

const endingOfFace = async (result: ExecutionResult, store: AttachmentStore): Promise<Ending> => {
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

/** What a body returned: a result, the face of one, or any value. */
export const endingOf = async (returned: unknown, store: AttachmentStore): Promise<Ending> => {
  if (isExecutionResult(returned)) return endingOfFace(returned, store);
  const result = isToolResult(returned) ? roundTripped(returned) : resultOf(returned === undefined ? null : returned);
  return { type: "result", result };
};

/** What a body threw, as a result, if the tool meant a model to see it. */
export const resultOfThrown = (thrown: unknown): ToolResult | undefined => {
  if (thrown instanceof ToolError) return err(textOf(thrown));
  const isNotStored = thrown instanceof EffectError && thrown.code === notStored;
  return isNotStored ? done(failureOutput(runtimeFailure("resource_limit", notStored, textOf(thrown)))) : undefined;
};
