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

/** What an answer says of itself. The SDK makes up what is missing, and would make up something else in each run. */
interface Said {
  readonly id?: string | undefined;
  readonly modelId?: string | undefined;
  readonly timestamp?: Date | undefined;
}
interface Answer {
  readonly request?: unknown;
  readonly response?: Said | undefined;
}
interface Chunk extends Said {
  readonly type: string;
}

/** What is recorded of it: the time as a number, since a step's result is JSON. */
const recordedOf = ({ id, modelId, timestamp }: Said = {}) => ({ id, modelId, at: timestamp?.getTime() });

/** Reads a stream to its end, and throws what it says went wrong. A chunk that repeats what the provider sent is left out. */
const chunksOf = async <C extends Chunk>(stream: ReadableStream<C>): Promise<readonly C[]> => {
  const chunks: C[] = [];
  for await (const chunk of stream) {
    if (chunk.type === "error") throw (chunk as { readonly error?: unknown }).error;
    if (chunk.type !== "raw") chunks.push(chunk);
  }
  return chunks;
};

const isAboutItself = ({ type }: Chunk): boolean => type === "response-metadata";

/**
 * Returns the `middleware` of `wrapLanguageModel`. Each answer of the model is a step, with `generateText` and with
 * `streamText`: a stream is read to its end before it is handed on, and is the same in every run. What HTTP said stays out of
 * the log: a request repeats the whole prompt.
 */
export const onRecord = (ctx: ToolContext) => {
  let answers = 0;
  /** Gives an answer the id and the time that it had when it was recorded. */
  const saidBy = (name: string, { id, modelId, at }: ReturnType<typeof recordedOf>) => ({
    id: id ?? ctx.uuid(name),
    timestamp: new Date(at ?? ctx.now()),
    ...(modelId === undefined ? {} : { modelId }),
  });
  return {
    specificationVersion: "v4" as const,
    wrapGenerate: async <A extends Answer>({ doGenerate }: { readonly doGenerate: () => PromiseLike<A> }) => {
      const name = `model ${++answers}`;
      const { said, answer } = await ctx.run(name, async () => {
        const { request: _request, response, ...rest } = await withRetries(doGenerate);
        return { said: recordedOf(response), answer: rest };
      });
      return { ...answer, response: saidBy(name, said) } as unknown as A;
    },
    wrapStream: async <C extends Chunk>({
      doStream,
    }: {
      readonly doStream: () => PromiseLike<{ readonly stream: ReadableStream<C> }>;
    }) => {
      const name = `model ${++answers}`;
      const { said, chunks } = await ctx.run(name, async () => {
        const read = await withRetries(async () => chunksOf((await doStream()).stream));
        return { said: recordedOf(read.find(isAboutItself)), chunks: read.filter((chunk) => !isAboutItself(chunk)) };
      });
      const about = { type: "response-metadata", ...saidBy(name, said) } as unknown as C;
      const [start, ...rest] = chunks as readonly C[];
      const all = start?.type === "stream-start" ? [start, about, ...rest] : [about, ...chunks];
      return { stream: ReadableStream.from<C>(all as C[]) };
    },
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
