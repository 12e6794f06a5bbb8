/** The ops of this package for the case runner. Each calls the public API and nothing else. */
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { withFields } from "@pawl/testkit";
import * as v from "../src/index.ts";

type Input = { readonly [field: string]: v.Json };

const textOf = (input: Input): string => input["json"] as string;
const failureOf = (output: v.ToolCallOutput): { readonly message: string; readonly raw_json: string } => {
  const failure = output.outcome.payload as v.ToolFailure;
  return { message: failure.message, raw_json: v.canonicalJson(failure.raw ?? null) };
};
const encodeOutput = (output: v.ToolCallOutput): unknown => v.ToolCallOutput.encode(output);
const decodeText = (input: Input): E.Either<v.ValueError, v.ToolValue> =>
  pipe(
    v.parse(textOf(input)),
    E.chain((json) => v.decode(json)),
  );

const decoded = withFields(["json"], (input: Input) =>
  pipe(
    decodeText(input),
    E.map((value) => ({ json: v.canonicalJson(value) })),
  ),
);

export const adapters = {
  "toolvalue.roundtrip": decoded,
  "toolvalue.decode": decoded,
  "toolvalue.lift_encode": withFields(["json"], (input: Input) =>
    pipe(
      v.parse(textOf(input)),
      E.map((json) => ({ json: v.canonicalJson(v.lift(json)) })),
    ),
  ),
  "toolvalue.model_parts": withFields(["json"], (input: Input) =>
    pipe(
      decodeText(input),
      E.map((value) => ({ parts: v.modelParts(value).map(v.ModelToolReturnPart.encode) })),
    ),
  ),
  stable_json_sha256: withFields(["json"], (input: Input) =>
    pipe(
      v.parse(textOf(input)),
      E.map((json) => ({ canonical: v.stringify(json), sha256: v.stableHash(json) })),
    ),
  ),
  "output.project": withFields(["output"], (input: Input) =>
    pipe(
      v.read(v.ToolCallOutput, input["output"]),
      E.map((output) => ({
        parts: v.modelPartsFromOutput(output).map(v.ModelToolReturnPart.encode),
        text: v.formatToolOutput(output),
        status: v.statusOf(output),
        is_success: v.isSuccess(output),
        attachments: v.outputAttachments(output).map(v.AttachmentRef.encode),
        value_for_projection: v.valueForProjection(output),
      })),
    ),
  ),
  "resolution.to_output": withFields(["resolution"], (input: Input) =>
    pipe(
      v.read(v.Resolution, input["resolution"]),
      E.map((resolution) => ({ output: encodeOutput(v.outputOfResolution(resolution)) })),
    ),
  ),
  "reply.error": withFields(["json"], (input: Input) =>
    pipe(
      v.parse(textOf(input)),
      E.map(v.replyError),
      E.map(({ output, record = null }) => ({ output: encodeOutput(output), record, ...failureOf(output) })),
    ),
  ),
  "toolresult.err": withFields(["json"], (input: Input) =>
    pipe(
      v.parse(textOf(input)),
      E.map(v.errorOutput),
      E.map((output) => ({ output: encodeOutput(output), ...failureOf(output) })),
    ),
  ),
  "ToolCancellation.runtime": withFields(["message"], (input: Input) =>
    E.right({
      json: v.stringifyRecord(v.ToolCancellation.encode(v.runtimeCancellation(input["message"] as string))),
    }),
  ),
};

/** The codecs of the records that `wire.roundtrip` reads and writes. */
export const wire = {
  AttachmentCreateMeta: v.AttachmentCreateMeta,
  AttachmentMeta: v.AttachmentRef,
  AttachmentRef: v.AttachmentRef,
  Duration: v.Duration,
  ExternalCompletionError: v.ExternalCompletionError,
  MediaType: v.MediaType,
  ModelToolReturn: v.ModelToolReturn,
  ModelToolReturnPart: v.ModelToolReturnPart,
  PendingCompletion: v.PendingCompletion,
  ProcessValueSelector: v.ProcessValueSelector,
  Resolution: v.Resolution,
  ResolveOutcome: v.ResolveOutcome,
  SessionEvent: v.SessionEvent,
  ToolCallOutcome: v.ToolCallOutcome,
  ToolCallOutput: v.ToolCallOutput,
  ToolCallRecord: v.ToolCallRecord,
  ToolCancellation: v.ToolCancellation,
  ToolControl: v.ToolControl,
  ToolFailure: v.ToolFailure,
  ToolInvocationReply: v.ToolInvocationReply,
  ToolRetryDisposition: v.ToolRetryDisposition,
  ToolValue: v.toolValue,
  TurnActivity: v.TurnActivity,
  TurnEvent: v.TurnEvent,
};
