/** A request to a model, in the reference's wire format. */
import { AttachmentRef, type Codec, type Json, array, json, nullable, record, string } from "@pawl/tool-value";

/** Bytes are stored before the request, which only refers to them. */
interface RequestAttachment {
  readonly reference: AttachmentRef;
}
/** A request to a model. pawl passes its parts on unread, to the host's provider. */
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
  output_spec: nullable(json),
});
