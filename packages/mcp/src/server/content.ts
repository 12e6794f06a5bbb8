/**
 * The end of a call as MCP has it. A value is text and, where it is an object or the tool has a schema for it, structured
 * content; images and sounds are blocks, other attachments are links that `resources/read` follows. A failure of the tool is
 * a result with `isError`, so that a model reads it; a failure of the runtime is an error of the protocol.
 */
import { type CallToolResult, type ContentBlock, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Reply, Runtime } from "@pawl/runtime";
import {
  type AttachmentRef,
  type Json,
  encode,
  internalErrorText,
  isObject,
  mimeOf,
  outputAttachments,
  stringify,
} from "@pawl/tool-value";
import { mcpResultIn } from "../tool/content.ts";
import { forStringify, plainBase64Of } from "./encoding.ts";

/** The end of a call: a result, or an error of the protocol. */
export type Ended =
  | { readonly type: "result"; readonly result: CallToolResult }
  | { readonly type: "cancelled"; readonly message: string }
  | { readonly type: "error"; readonly code: number; readonly message: string };

/** Places that content is made from: where bytes come from, and how a link to them is named. */
export interface ContentPort {
  readonly runtime: Pick<Runtime, "attachment">;
  readonly uriOf: (attachment: AttachmentRef) => string;
}

const linkTo = (ref: AttachmentRef, { uriOf }: ContentPort): ContentBlock => ({
  type: "resource_link",
  uri: uriOf(ref),
  name: ref.label ?? ref.id.slice(0, 12),
  mimeType: mimeOf(ref.media_type),
  size: ref.byte_len,
});

const blockOf = async (ref: AttachmentRef, port: ContentPort): Promise<ContentBlock> => {
  const mimeType = mimeOf(ref.media_type);
  const isShown = ref.media_type.kind === "image" || mimeType.startsWith("audio/");
  const bytes = isShown ? await port.runtime.attachment(ref.id) : undefined;
  if (bytes === undefined) return linkTo(ref, port);
  return { type: ref.media_type.kind === "image" ? "image" : "audio", data: plainBase64Of(bytes), mimeType };
};

const isOnlyAttachment = (value: Json, count: number): boolean =>
  count > 0 && isObject(value) && (count === 1 ? Object.keys(value).length === 2 : false) && "ref" in value;

/** Makes the result of a value. `isStructured`: the tool has a schema for it. */
const resultOf = (value: Json, blocks: readonly ContentBlock[], isStructured: boolean): CallToolResult => {
  const own = mcpResultIn(value);
  if (own !== undefined) return { ...own, content: [...own.content, ...blocks] };
  const text = typeof value === "string" ? value : stringify(value);
  const content = isOnlyAttachment(value, blocks.length) ? [...blocks] : [{ type: "text", text } as const, ...blocks];
  const structured = isStructured || isObject(value) ? { structuredContent: forStringify(value) } : {};
  return { content, ...structured } as CallToolResult;
};

const wrong = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

const whyUnknown = {
  owner_lost: "its process died while it ran",
  crash_loop: "its process died each time it ran",
  diverged: "its code no longer does what its log records",
} as const;

const unknownText = (cause: NonNullable<Reply["cause"]>, message: string): string =>
  `The outcome of this call is unknown: ${whyUnknown[cause]}. It may have happened, in whole or in part: look before you repeat it. (${message})`;

/** Returns how a call has ended. */
export const endedOf = async (reply: Reply, port: ContentPort, isStructured: boolean): Promise<Ended> => {
  const { outcome } = reply.output;
  if (outcome.status === "cancelled") return { type: "cancelled", message: outcome.payload.message };
  if (outcome.status === "success") {
    const blocks = await Promise.all(outputAttachments(reply.output).map((ref) => blockOf(ref, port)));
    return { type: "result", result: resultOf(encode(outcome.payload), blocks, isStructured) };
  }
  const { class: failureClass, message, code } = outcome.payload;
  if (reply.cause !== undefined) return { type: "result", result: wrong(unknownText(reply.cause, message)) };
  if (failureClass === "internal") {
    const said = message === "" ? internalErrorText : message;
    return { type: "error", code: ProtocolErrorCode.InternalError, message: said };
  }
  return { type: "result", result: wrong(message === "" ? code : message) };
};

/** Returns the result for a client that has waited. Throws what is an error of the protocol. */
export const resultOfEnd = (ended: Ended): CallToolResult => {
  if (ended.type === "error") throw new ProtocolError(ended.code, ended.message);
  return ended.type === "result" ? ended.result : wrong(`The call was cancelled: ${ended.message}`);
};
