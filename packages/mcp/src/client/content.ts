/** Results of MCP servers as values: texts and structured content as they are, bytes as attachments. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ToolContext } from "@pawl/runtime";
import { type AttachmentRef, type Json, type ToolValue, attachment, isObject, parseMediaType } from "@pawl/tool-value";
import { bytesOf } from "../server/encoding.ts";

/** A block as a log keeps it: bytes are stored, and named. */
type KeptBlock = { readonly ref: AttachmentRef } | { readonly block: Json };

/** A result as a log keeps it. */
export interface KeptResult {
  readonly blocks: readonly KeptBlock[];
  readonly structured?: Json;
  readonly isError: boolean;
}

interface Bytes {
  readonly data: string;
  readonly mime: string;
  readonly label?: string;
}

/** Finds the bytes in a block. */
const bytesIn = (block: ContentBlock): Bytes | undefined => {
  if (block.type === "image" || block.type === "audio") return { data: block.data, mime: block.mimeType };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  const { blob, mimeType = "application/octet-stream", uri } = block.resource;
  return { data: blob, mime: mimeType, label: uri };
};

const keptBlock = async (block: ContentBlock, context: ToolContext): Promise<KeptBlock> => {
  const bytes = bytesIn(block);
  if (bytes === undefined) return { block: block as unknown as Json };
  const { data, mime, label } = bytes;
  const meta = { media_type: parseMediaType(mime), ...(label === undefined ? {} : { label }) };
  return { ref: await context.attachments.put(bytesOf(data), meta) };
};

/** Stores the bytes of a result, and returns the rest of it for the log. */
export const kept = async (
  { content, structuredContent, isError = false }: CallToolResult,
  context: ToolContext,
): Promise<KeptResult> => ({
  blocks: await Promise.all(content.map((block) => keptBlock(block, context))),
  isError,
  ...(structuredContent === undefined ? {} : { structured: structuredContent as Json }),
});

const valueOfBlock = (found: KeptBlock): ToolValue => {
  if ("ref" in found) return attachment(found.ref);
  const { block } = found;
  return isObject(block) && block["type"] === "text" ? (block["text"] ?? "") : block;
};

/** Returns the texts of a result, one a line. */
export const textsOf = ({ blocks }: KeptResult): string =>
  blocks
    .map(valueOfBlock)
    .flatMap((value) => (typeof value === "string" ? [value] : []))
    .join("\n");

/** Returns a result as a value: what is structured, or the texts; a list where there is more than that. */
export const valueOf = (result: KeptResult): ToolValue => {
  const values = result.blocks.map(valueOfBlock);
  const isText = values.every((value) => typeof value === "string");
  if (result.structured !== undefined)
    return isText
      ? result.structured
      : { result: result.structured, content: values.filter((value) => typeof value !== "string") };
  return isText ? textsOf(result) : values.length === 1 ? (values[0] as ToolValue) : values;
};
