/**
 * `durableProvider`: models of the Agents SDK whose answers are on record. A body that runs again has its answers from the
 * log, so a run of a `Runner` goes on where its process died.
 *
 * Words of a streamed answer reach the runner as they come. What it acts on, the whole answer at the end, waits until it is
 * on record; so an answer that a crash interrupted is asked for again without anything having followed from it.
 */
import {
  type Model,
  type ModelProvider,
  type ModelRequest,
  type ModelResponse,
  OpenAIProvider,
  type StreamEvent,
  Usage,
} from "@openai/agents";
import { type Json, hashText } from "@pawl/tool-value";
import { LiveEvents } from "./live-events.ts";
import { type Effects, here, numbered } from "./name.ts";

type Asks = Pick<Effects, "run" | "stream">;

/** The part of a whole answer that is on record. The rest repeats the request. */
interface Recorded {
  readonly output: Json;
  readonly usage: Json;
  readonly responseId?: string;
  readonly requestId?: string;
}
interface Failed {
  readonly name: string;
  readonly message: string;
  readonly status?: number;
  readonly code?: string;
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

const failedOf = (thrown: unknown): Failed => {
  if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown) };
  const { status, code } = thrown as { readonly status?: unknown; readonly code?: unknown };
  return {
    name: thrown.name,
    message: thrown.message,
    ...(typeof status === "number" ? { status } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
};
const errorOf = ({ message, name, ...fields }: Failed): Error =>
  Object.defineProperty(Object.assign(new Error(message), fields), "name", { value: name, configurable: true });

const shown = (field: string, value: unknown): unknown =>
  field === "signal" || field === "tracing" ? undefined : value;

/** Names the step of an answer by what is asked: calls at once find their own answers in any order. */
const nameOf = (model: string, request: ModelRequest): string =>
  `model ${model} ${hashText(JSON.stringify(request, shown)).slice(0, 12)}`;

const withSignal = (request: ModelRequest, stop: AbortSignal): ModelRequest => ({
  ...request,
  signal: request.signal === undefined ? stop : AbortSignal.any([stop, request.signal]),
});

const wholeAnswer = async (ctx: Asks, name: string, model: Model, request: ModelRequest): Promise<ModelResponse> => {
  const inTrace = here();
  const recorded = await ctx.run(name, async ({ signal }): Promise<Recorded | { readonly failed: Failed }> => {
    try {
      const { output, usage, responseId, requestId } = await inTrace(() =>
        model.getResponse(withSignal(request, signal)),
      );
      return {
        output: plain(output),
        usage: plain(usage),
        ...(responseId === undefined ? {} : { responseId }),
        ...(requestId === undefined ? {} : { requestId }),
      };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return { failed: failedOf(thrown) };
    }
  });
  if ("failed" in recorded) throw errorOf(recorded.failed);
  const { output, usage, ...rest } = recorded;
  return { ...rest, output: output as unknown as ModelResponse["output"], usage: new Usage(usage as object) };
};

/** Returns what is recorded of an event. What the service sent repeats what the SDK made of it. */
const recordedEvent = (event: StreamEvent): Json | undefined => {
  if (event.type === "model") return undefined;
  if (event.type !== "response_done") return plain(event);
  const { id, output, usage } = event.response;
  return plain({ type: event.type, response: { id, output, usage } });
};

interface Broken {
  readonly type: "pawl-failed";
  readonly failed: Failed;
}

const streamedAnswer = (ctx: Asks, name: string, model: Model, request: ModelRequest): AsyncIterable<StreamEvent> => {
  const live = new LiveEvents<StreamEvent>(({ type }) => type !== "response_done");
  const inTrace = here();
  const answer = ctx.stream<Json>(name, async function* ({ signal: stop }) {
    const signal = AbortSignal.any([stop, live.stop]);
    try {
      const events = inTrace(() => model.getStreamedResponse(withSignal(request, signal))[Symbol.asyncIterator]());
      for (;;) {
        const { done, value: event } = await inTrace(() => events.next());
        if (done === true) break;
        const recorded = recordedEvent(event);
        live.say(event, recorded !== undefined);
        if (recorded !== undefined) yield recorded;
      }
    } catch (thrown) {
      if (live.stop.aborted) return;
      if (signal.aborted) throw thrown;
      yield plain({ type: "pawl-failed", failed: failedOf(thrown) } satisfies Broken);
    }
  });
  answer.then(
    (chunks) => {
      const events = chunks as unknown as readonly (StreamEvent | Broken)[];
      const last = events.at(-1);
      if (last?.type === "pawl-failed")
        live.end(events.slice(0, -1) as StreamEvent[], { thrown: errorOf(last.failed) });
      else live.end(events as StreamEvent[], {});
    },
    (thrown: unknown) => live.end([], { thrown }),
  );
  return live.read();
};

/** Returns a provider whose models keep their answers on record. Default: the models of OpenAI. */
export const durableProvider = (ctx: Asks, provider: ModelProvider = new OpenAIProvider()): ModelProvider => ({
  getModel: async (name) => {
    const model = await provider.getModel(name);
    const step = (request: ModelRequest): string => numbered(ctx, nameOf(name ?? "default", request));
    return {
      ...(model.supportsPromptModelSelection === undefined
        ? {}
        : { supportsPromptModelSelection: model.supportsPromptModelSelection }),
      getResponse: (request) => wholeAnswer(ctx, step(request), model, request),
      getStreamedResponse: (request) => streamedAnswer(ctx, step(request), model, request),
    };
  },
});
