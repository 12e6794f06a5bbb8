/** The ops of this package for the case runner: each calls the public API, and nothing else. */
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
  E.chain((json: v.Json) => v.decode(json))(v.parse(textOf(input)));

const decoded = withFields(["json"], (input: Input) =>
  E.map((value: v.ToolValue) => ({ json: v.canonicalJson(value) }))(decodeText(input)),
);

export const adapters = {
  "toolvalue.roundtrip": decoded,
  "toolvalue.decode": decoded,
  "toolvalue.lift_encode": withFields(["json"], (input: Input) =>
    E.map((json: v.Json) => ({ json: v.canonicalJson(v.lift(json)) }))(v.parse(textOf(input))),
  ),
  "toolvalue.model_parts": withFields(["json"], (input: Input) =>
    E.map((value: v.ToolValue) => ({ parts: v.modelParts(value).map(v.ModelToolReturnPart.encode) }))(
      decodeText(input),
    ),
  ),
  stable_json_sha256: withFields(["json"], (input: Input) =>
    E.map((json: v.Json) => ({ canonical: v.stringify(json), sha256: v.stableHash(json) }))(v.parse(textOf(input))),
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

/** The records that `wire.roundtrip` reads and writes. */
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
  TurnEvent: v.TurnEvent,
};
