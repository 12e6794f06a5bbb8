/** What is asked of a model, as the reference writes it. */
import { AttachmentRef, type Codec, type Json, array, json, nullable, record, string } from "@pawl/tool-value";
import { jsonOrNull } from "./field.ts";

/** Bytes are stored first: a request only names them. */
interface RequestAttachment {
  readonly reference: AttachmentRef;
}
/** What is asked of a model. pawl has none: it hands the parts on as they are. */
export interface LlmRequest {
  readonly model: string;
  readonly messages: readonly Json[];
  readonly attachments: readonly RequestAttachment[];
  readonly tools: readonly Json[];
  readonly tool_choice: Json;
  readonly model_variant: string | null;
  readonly generation: Json;
  readonly session_id: string | null;
  readonly output_spec: Json;
}
export const LlmRequest: Codec<LlmRequest> = record<LlmRequest>("struct LlmRequest", {
  model: string,
  messages: array(json),
  attachments: array(record<RequestAttachment>("struct RequestAttachment", { reference: AttachmentRef })),
  tools: array(json),
  tool_choice: json,
  model_variant: nullable(string),
  generation: json,
  session_id: nullable(string),
  output_spec: jsonOrNull,
});
