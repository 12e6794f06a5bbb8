/**
 * An adapter that runs the AI SDK (`ai`, version 7) on pawl; copy it into your project. `generateText` runs inside a durable
 * tool: each answer of the model is a step, and each call of the model is a call of pawl. docs/model-apis.md shows its use.
 */
import { setTimeout as wait } from "node:timers/promises";
import { type ToolContext, type ToolDefinition, contractOf } from "@pawl/runtime";
import { type ToolCallOutput, formatToolOutput, mimeOf, modelPartsFromOutput } from "@pawl/tool-value";

/** Retries inside the step: an error that leaves the step is recorded, and would be its answer for ever. */
const withRetries = async <A>(ask: () => PromiseLike<A>): Promise<A> => {
  for (let pauseMs = 1000; ; pauseMs *= 2) {
    try {
      return await ask();
    } catch (thrown) {
      if ((thrown as { readonly isRetryable?: boolean }).isRetryable !== true || pauseMs > 60_000) throw thrown;
      await wait(pauseMs);
    }
  }
};

interface Answer {
  readonly request?: unknown;
  readonly response?: unknown;
}

/** Returns the `middleware` of `wrapLanguageModel`. The HTTP request stays out of the log: it repeats the whole prompt. */
export const onRecord = (ctx: ToolContext) => {
  let answers = 0;
  return {
    specificationVersion: "v4" as const,
    wrapGenerate: <A extends Answer>({ doGenerate }: { readonly doGenerate: () => PromiseLike<A> }) =>
      ctx.run(`model ${++answers}`, async (): Promise<A> => {
        const { request: _request, response: _response, ...answer } = await withRetries(doGenerate);
        return answer as A;
      }),
  };
};

/** Reads the bytes of an attachment: `diskAttachments("journal.db.attachments").bytes`. */
export type Bytes = (id: string) => Promise<Uint8Array | undefined>;

type Part =
  | { readonly type: "text"; readonly text: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } };

type Read = { type: "error-text"; value: string } | { type: "content"; value: Part[] };

const readOf = async (output: ToolCallOutput, bytes: Bytes): Promise<Read> => {
  if (output.outcome.status !== "success") return { type: "error-text", value: formatToolOutput(output) };
  const parts = modelPartsFromOutput(output).map(async (part): Promise<Part> => {
    if (part.type === "text") return part;
    const data = Buffer.from((await bytes(part.id)) ?? []).toString("base64");
    return { type: "file", mediaType: mimeOf(part.media_type), data: { type: "data", data } };
  });
  return { type: "content", value: await Promise.all(parts) };
};

/** Returns the `tools` of `generateText`; `jsonSchema` is the function of the SDK. */
export const toolsIn = <S>(
  ctx: ToolContext,
  definitions: readonly ToolDefinition[],
  { jsonSchema, bytes }: { readonly jsonSchema: (schema: object) => S; readonly bytes: Bytes },
) => {
  let calls = 0;
  const toolOf = (definition: ToolDefinition) => ({
    description: definition.description ?? "",
    inputSchema: jsonSchema(contractOf(definition).input_schema as object),
    execute: async (args: unknown): Promise<Read> => {
      const toolId = definition.id ?? `tool:${definition.name}`;
      const [reply] = await ctx.callAll([{ label: `${++calls}`, tool: toolId, args }]);
      if (reply === undefined) throw new TypeError("a batch of one call has one reply");
      return readOf(reply.output, bytes);
    },
    toModelOutput: ({ output }: { readonly output: Read }) => output,
  });
  return Object.fromEntries(definitions.map((definition) => [definition.name, toolOf(definition)]));
};
