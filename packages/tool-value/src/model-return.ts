/** Converts values and outputs to what a model reads: text, with the attachments in their places. */
import { type AttachmentRef, attachmentFields } from "./attachment.ts";
import { type Codec, array, string } from "./codec.ts";
import type { ToolValue } from "./model.ts";
import { type ToolCallOutput, outputAttachments, valueForProjection } from "./output.ts";
import { record } from "./record.ts";
import { tagged } from "./union.ts";
import { stringify, writeAround } from "./write.ts";

export type ModelToolReturnPart =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "attachment" } & AttachmentRef);

export const ModelToolReturnPart: Codec<ModelToolReturnPart> = tagged<ModelToolReturnPart, "type">(
  "ModelToolReturnPart",
  "type",
  { text: { text: string }, attachment: attachmentFields },
);

export interface ModelToolReturn {
  readonly call_id: string;
  readonly tool_name: string;
  readonly parts: readonly ModelToolReturnPart[];
}
export const ModelToolReturn: Codec<ModelToolReturn> = record<ModelToolReturn>("struct ModelToolReturn", {
  call_id: string,
  tool_name: string,
  parts: array(ModelToolReturnPart),
});

const attachmentPart = (ref: AttachmentRef): ModelToolReturnPart => ({ type: "attachment", ...ref });

/** Splits a value into parts: a string is raw text, anything else compact JSON, cut around its attachments. */
export const modelParts = (value: ToolValue): readonly ModelToolReturnPart[] => {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  const parts: ModelToolReturnPart[] = [];
  writeAround(
    value,
    (text) => {
      if (text !== "") parts.push({ type: "text", text });
    },
    ({ ref }) => parts.push(attachmentPart(ref)),
  );
  return parts;
};

/** Tells a model that a call did not succeed. Leaves out code, class and retry, which are for programs. */
const endText = (headline: string, message: string): string => (message === "" ? headline : `${headline}\n${message}`);

const unsuccessfulText = (output: ToolCallOutput): string | undefined => {
  const { outcome } = output;
  switch (outcome.status) {
    case "success":
      return undefined;
    case "failure":
      return endText("[Tool execution failed]", outcome.payload.message);
    case "cancelled":
      return endText("[Tool execution cancelled]", outcome.payload.message);
  }
};

/** Returns what a model reads of an output, with each attachment at its place in the text. */
export const modelPartsFromOutput = (output: ToolCallOutput): readonly ModelToolReturnPart[] => {
  if (output.outcome.status === "success") return modelParts(output.outcome.payload);
  const text = unsuccessfulText(output) as string;
  return [{ type: "text", text }, ...outputAttachments(output).map(attachmentPart)];
};

/** Returns what the model gets back for a call. */
export const modelReturn = (callId: string, toolName: string, output: ToolCallOutput): ModelToolReturn => ({
  call_id: callId,
  tool_name: toolName,
  parts: modelPartsFromOutput(output),
});
/** Makes a model's view of a call out of one text. */
export const textReturn = (callId: string, toolName: string, text: string): ModelToolReturn => ({
  call_id: callId,
  tool_name: toolName,
  parts: [{ type: "text", text }],
});

/** Formats an output as one text, with attachments as tags. */
export const formatToolOutput = (output: ToolCallOutput): string => {
  const json = valueForProjection(output);
  return unsuccessfulText(output) ?? (typeof json === "string" ? json : stringify(json));
};
