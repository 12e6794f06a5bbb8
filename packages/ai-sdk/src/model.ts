/**
 * `durableModel`: a model of the AI SDK whose answers are on record. Under it `generateText`, `streamText`, `embed`,
 * `generateImage` and agents survive a crash: a body that runs again has its answers from the log.
 *
 * A streamed answer reaches the SDK as it comes, up to the first part that the SDK acts on: a call of a tool, an error, the
 * finish. From there on it waits until all of the answer is on record. So whatever follows from an answer is the same in
 * every run, and an answer that a crash interrupted is asked for again without anything having followed from it.
 */
import type { ToolContext } from "@pawl/runtime";
import { type Json, hashText } from "@pawl/tool-value";
import type { EmbeddingModel, ImageModel, LanguageModel } from "ai";
import {
  type FailedAnswer,
  type Part,
  PartForm,
  aboutAnswer,
  errorOf,
  failedAnswer,
  recordedAnswer,
} from "./answer.ts";
import { LiveParts } from "./live-parts.ts";
import { type Retrying, askWithRetries } from "./retry.ts";
import { told } from "./telemetry.ts";

/** A model of the AI SDK: of language, of embeddings or of images. Names in place of models are for a gateway to resolve. */
export type Model = Exclude<LanguageModel | EmbeddingModel | ImageModel, string>;

interface Params {
  readonly abortSignal?: AbortSignal;
  readonly headers?: unknown;
}
type Ask = (params: Params) => PromiseLike<object>;
type Streams = (params: Params) => PromiseLike<{ readonly stream: ReadableStream<Part> }>;
interface Named {
  readonly provider: string;
  readonly modelId: string;
}
type Effects = Pick<ToolContext, "run" | "stream">;

/** Counts the answers of a body that have one name: models are wrapped where they are used, maybe more than once. */
const counts = new WeakMap<Effects, Map<string, number>>();

const numbered = (ctx: Effects, name: string): string => {
  const seen = counts.get(ctx) ?? new Map<string, number>();
  counts.set(ctx, seen);
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
};

const readable = (field: string, value: unknown): unknown => {
  if (field === "abortSignal" || field === "headers") return undefined;
  return value instanceof Uint8Array ? `bytes ${value.join()}` : value;
};

/** Names the step of an answer by what is asked: calls at once may be asked in any order, and each finds its own answer. */
const nameOf = ({ provider, modelId }: Named, params: Params): string =>
  `${provider} ${modelId} ${hashText(JSON.stringify(params, readable)).slice(0, 12)}`;

const signalOf = (signal: AbortSignal, { abortSignal }: Params): AbortSignal =>
  abortSignal === undefined ? signal : AbortSignal.any([signal, abortSignal]);

type Recorded = { readonly answer: object } | { readonly failed: FailedAnswer };

const wholeAnswer = async (ctx: Effects, model: Named, ask: Ask, params: Params, retry: Retrying): Promise<object> => {
  const name = numbered(ctx, nameOf(model, params));
  const recorded = await told((live) =>
    ctx.run(name, async ({ signal: stop }): Promise<Recorded> => {
      const signal = signalOf(stop, params);
      try {
        const asked = (): Promise<object> =>
          askWithRetries(() => ask({ ...params, abortSignal: signal }), signal, retry);
        return { answer: recordedAnswer(await live(asked), aboutAnswer(model)) };
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        return { failed: failedAnswer(thrown) };
      }
    }),
  );
  if ("failed" in recorded) throw errorOf(recorded.failed);
  return recorded.answer;
};

/** Parts that are neither on record nor handed on: they say nothing of the answer. */
const isNoise = ({ type }: Part): boolean => type === "raw" || type === "ping";

/** Reads a streamed answer, which says first what it is: the SDK would make that up anew in each run. */
async function* partsOf(stream: ReadableStream<Part>, model: Named): AsyncGenerator<Part> {
  let isBegun = false;
  for await (const part of stream) {
    if (isNoise(part)) continue;
    if (!isBegun && part.type !== "stream-start") {
      isBegun = true;
      yield { type: "response-metadata", ...aboutAnswer(model) };
    }
    yield part.type === "error" ? { type: "error", error: failedAnswer(part["error"]) } : part;
  }
}

const failedType = "pawl-failed";

const streamedAnswer = (
  ctx: Effects,
  model: Named,
  ask: Streams,
  params: Params,
  retry: Retrying,
): Promise<{ readonly stream: ReadableStream<Part> }> => {
  const shown = new LiveParts();
  const name = numbered(ctx, nameOf(model, params));
  const answer = told((live) =>
    ctx.stream<Json>(name, async function* ({ signal: stop }) {
      const form = new PartForm("model");
      const signal = AbortSignal.any([signalOf(stop, params), shown.stop]);
      try {
        const asked = () => askWithRetries(() => ask({ ...params, abortSignal: signal }), signal, retry);
        const { stream } = await live(asked);
        for await (const part of partsOf(stream, model)) {
          shown.say(part);
          yield form.write(part);
        }
      } catch (thrown) {
        if (shown.stop.aborted) return;
        if (signal.aborted) throw thrown;
        yield form.write({ type: failedType, failed: failedAnswer(thrown) });
      }
    }),
  );
  answer.then(
    (chunks) => {
      const form = new PartForm("model");
      const parts = chunks.map((chunk) => form.read(chunk));
      const last = parts.at(-1);
      if (last?.type !== failedType) return shown.end(parts);
      const { failed } = last as Part & { readonly failed: FailedAnswer };
      if (parts.length === 1) shown.end([], errorOf(failed));
      else shown.end([...parts.slice(0, -1), { type: "error", error: failed }]); // The loop of the SDK hears of it so.
    },
    (thrown: unknown) => shown.end([], thrown),
  );
  return shown.answer;
};

const admit = (model: Model): void => {
  if (typeof model !== "object" || model === null)
    throw new TypeError(
      `durableModel: expected a model, found ${JSON.stringify(model)}. Make a model of the name first, as \`gateway(name)\` does`,
    );
};

/** Returns a model whose answers are on record: the same kind of model, under the same name. */
export const durableModel = <M extends Model>(ctx: Effects, model: M, retry: Retrying = {}): M => {
  admit(model);
  const whole = (name: "doGenerate" | "doEmbed"): Ask => {
    const ask = (model as unknown as { readonly [method: string]: Ask | undefined })[name]?.bind(model);
    return (params) => {
      if (ask === undefined) throw new TypeError(`model ${model.modelId} has no \`${name}\``);
      return wholeAnswer(ctx, model, ask, params, retry);
    };
  };
  const methods: { readonly [method: string]: unknown } = {
    doGenerate: whole("doGenerate"),
    doEmbed: whole("doEmbed"),
    doStream: (params: Params) =>
      streamedAnswer(
        ctx,
        model,
        (asked) => (model as unknown as { readonly doStream: Streams }).doStream(asked),
        params,
        retry,
      ),
  };
  return new Proxy(model, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name, target); // Its getters may read private fields.
      if (typeof own !== "function") return own;
      return (typeof name === "string" ? methods[name] : undefined) ?? own.bind(target);
    },
  });
};
