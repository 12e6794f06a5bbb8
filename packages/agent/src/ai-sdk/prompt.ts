/** Prompts as the AI SDK's models take them. Bytes of files are read here; a provider that reads URLs itself gets those. */
import type { ModelCall } from "@pawl/runtime/driver";
import type { PromptMessage } from "@pawl/sansio-core/driver";
import { type AttachmentRef, type Json, mimeOf, stringify } from "@pawl/tool-value";
import type { AiSdkModel, Fields } from "./shape.ts";

type Version = AiSdkModel["specificationVersion"];
type Part = Exclude<PromptMessage["content"], string>[number];
type Output = Extract<Part, { readonly type: "tool-result" }>["output"];
type Bytes = ModelCall["bytes"];

/** A file in the form of a version: V4 tags what stands for its bytes. */
const fileData = (version: Version, data: Uint8Array | URL): unknown => {
  if (version !== "v4") return data;
  return data instanceof URL ? { type: "url", url: data } : { type: "data", data };
};

const options = ({ meta }: { readonly meta?: unknown }): Fields =>
  meta === undefined ? {} : { providerOptions: meta };

const base64 = (bytes: Uint8Array): string => {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** Makes parts of a prompt in the form of one version. */
class PromptWriter {
  readonly #version: Version;
  readonly #bytes: Bytes;

  constructor(version: Version, bytes: Bytes) {
    this.#version = version;
    this.#bytes = bytes;
  }

  async #file(ref: AttachmentRef, filename?: string): Promise<Fields> {
    const data = fileData(this.#version, await this.#bytes(ref));
    return { type: "file", mediaType: mimeOf(ref.media_type), data, ...(filename === undefined ? {} : { filename }) };
  }

  /** A file in a tool's result. */
  async #resultFile(ref: AttachmentRef): Promise<Fields> {
    const mediaType = mimeOf(ref.media_type);
    const bytes = await this.#bytes(ref);
    if (this.#version === "v4") return { type: "file", mediaType, data: { type: "data", data: bytes } };
    return { type: this.#version === "v3" ? "file-data" : "media", mediaType, data: base64(bytes) };
  }

  async #output(output: Output): Promise<Fields> {
    switch (output.type) {
      case "text":
        return { type: "text", value: output.text };
      case "json":
      case "error-json":
        return { type: output.type, value: output.value };
      case "error": {
        const { text, files = [] } = output;
        if (files.length === 0) return { type: "error-text", value: text };
        const shown = await Promise.all(files.map((file) => this.#resultFile(file)));
        return { type: "content", value: [{ type: "text", text }, ...shown] };
      }
      case "content":
        return {
          type: "content",
          value: await Promise.all(
            output.parts.map((part) => (part.type === "text" ? { ...part } : this.#resultFile(part.ref))),
          ),
        };
    }
  }

  async part(part: Part): Promise<readonly Fields[]> {
    switch (part.type) {
      case "text":
      case "reasoning":
        return [{ type: part.type, text: part.text, ...options(part) }];
      case "file":
        return [{ ...(await this.#file(part.ref, "filename" in part ? part.filename : undefined)), ...options(part) }];
      case "reasoning-file":
        return this.#version === "v4"
          ? [{ ...(await this.#file(part.ref)), type: "reasoning-file", ...options(part) }]
          : [];
      case "url": {
        const data = fileData(this.#version, new URL(part.url));
        return [{ type: "file", mediaType: part.media_type, data, ...options(part) }];
      }
      case "provider-file":
        return this.#version === "v4"
          ? [
              {
                type: "file",
                mediaType: part.media_type,
                data: { type: "reference", reference: part.reference },
                ...options(part),
              },
            ]
          : [];
      case "custom":
        return this.#version === "v4" ? [{ type: "custom", kind: part.kind, ...options(part) }] : [];
      case "tool-call": {
        const own = part.provider === true ? { providerExecuted: true } : {};
        return [
          { type: "tool-call", toolCallId: part.id, toolName: part.tool, input: part.args, ...own, ...options(part) },
        ];
      }
      case "tool-result": {
        const meta = "meta" in part ? options(part) : {};
        return [
          {
            type: "tool-result",
            toolCallId: part.id,
            toolName: part.tool,
            output: await this.#output(part.output),
            ...meta,
          },
        ];
      }
      case "approval": {
        if (this.#version === "v2") return [];
        const { approval_id: approvalId, approved, reason } = part;
        return [{ type: "tool-approval-response", approvalId, approved, ...(reason === undefined ? {} : { reason }) }];
      }
    }
  }

  async message(message: PromptMessage): Promise<Fields> {
    const { role, content } = message;
    const meta = "meta" in message ? options(message) : {};
    if (typeof content === "string") return { role, content, ...meta };
    const parts = await Promise.all(content.map((part) => this.part(part)));
    return { role, content: parts.flat(), ...meta };
  }
}

/** Returns the messages of a prompt, as the model takes them. */
export const sdkPrompt = async (version: Version, { prompt, bytes }: ModelCall): Promise<readonly Fields[]> => {
  const writer = new PromptWriter(version, (ref) => bytes(ref));
  return Promise.all(prompt.map((message) => writer.message(message)));
};

const isFields = (u: Json): u is { readonly [field: string]: Json } =>
  typeof u === "object" && u !== null && !Array.isArray(u);

/** Returns a tool: one of the provider's own has its id and arguments in `provider`. */
const sdkTool = (
  version: Version,
  { name, description, input_schema, provider }: ModelCall["tools"][number],
): Fields => {
  if (provider !== undefined && isFields(provider)) {
    const type = version === "v2" ? "provider-defined" : "provider";
    return { type, id: provider["id"], name, args: provider["args"] ?? {} };
  }
  const said = description === undefined ? {} : { description };
  return { type: "function", name, ...said, inputSchema: input_schema };
};

const sdkChoice = (choice: Json): Fields => {
  if (typeof choice === "string") return { type: choice };
  if (isFields(choice) && typeof choice["tool"] === "string") return { type: "tool", toolName: choice["tool"] };
  throw new TypeError(`a tool choice is expected to be a word or {tool}, found ${stringify(choice)}`);
};

/** Returns the options of a call of the model, but for its headers. */
export const sdkOptions = async (version: Version, call: ModelCall): Promise<Fields> => {
  const { tools, toolChoice, settings, output, maxOutputTokens, signal } = call;
  const form = output === undefined ? {} : { responseFormat: formatOf(output) };
  const cap = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  const shown = tools.map((tool) => sdkTool(version, tool));
  return {
    ...(isFields(settings) ? settings : {}),
    prompt: await sdkPrompt(version, call),
    ...(shown.length === 0 ? {} : { tools: shown, toolChoice: sdkChoice(toolChoice) }),
    ...form,
    ...cap,
    abortSignal: signal,
    includeRawChunks: false,
  };
};

const formatOf = ({ schema, name, description }: NonNullable<ModelCall["output"]>): Fields => ({
  type: "json",
  schema,
  ...(name === undefined ? {} : { name }),
  ...(description === undefined ? {} : { description }),
});
