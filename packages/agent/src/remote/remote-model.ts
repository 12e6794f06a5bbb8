/**
 * A model whose provider a host asks (`modelHandler`): a page has no keys. The answer comes line by line; where the connection
 * breaks, it goes on behind the last line. A page that dies asks again under the same key, and is given the same answer.
 */
import { type ModelAnswer, type ModelCall, ModelError, base64Of } from "@pawl/runtime/driver";
import type { FailureClass } from "@pawl/sansio-core/driver";
import { AttachmentRef, type Json, describe, isObject, read, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { AgentModel, ModelOptions } from "../model.ts";
import { Line, type ModelName, ModelQuestion } from "./line.ts";

export interface RemoteModelOptions extends ModelOptions, ModelName {
  /** Returns the headers of each request: what says who asks. */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Sends the requests. Default: the platform's `fetch`. */
  readonly send?: (url: string, init: RequestInit) => Promise<Response>;
  /** How long it tries to reach the host again after a connection broke. Default: 30 s. */
  readonly patienceMs?: number;
}

const classOf: { readonly [status: number]: FailureClass } = {
  401: "auth",
  403: "auth",
  404: "not_found",
  410: "transport",
  413: "context_too_long",
  429: "rate_limit",
};

/** The error of a refusal; undefined where the host may answer later. */
const refusalOf = async (response: Response): Promise<ModelError | undefined> => {
  if (response.status >= 500) return undefined;
  const text = await response.text();
  const after = Number(response.headers.get("retry-after") ?? Number.NaN) * 1000;
  const more = Number.isFinite(after) ? { retryAfterMs: after } : {};
  const kind = classOf[response.status] ?? "invalid_request";
  return new ModelError(kind, `the host of the model answers ${response.status}: ${text}`, more);
};

/** The files that a prompt names, by their ids. */
const filesIn = (json: Json, found = new Map<string, AttachmentRef>()): ReadonlyMap<string, AttachmentRef> => {
  if (Array.isArray(json)) for (const one of json) filesIn(one as Json, found);
  else if (isObject(json)) {
    const ref = "media_type" in json ? read(AttachmentRef, json) : undefined;
    if (ref !== undefined && E.isRight(ref)) found.set(ref.right.id, ref.right);
    else for (const one of Object.values(json)) filesIn(one as Json, found);
  }
  return found;
};

const questionOf = async (model: ModelName, call: ModelCall, fetch: string | undefined): Promise<ModelQuestion> => {
  const { request, n, attempt, key, toolChoice, settings, output, maxOutputTokens, prefix } = call;
  const prompt = call.prompt as unknown as readonly Json[];
  const files: Record<string, string> = {};
  for (const [id, ref] of filesIn(prompt as Json)) files[id] = base64Of(await call.bytes(ref));
  return {
    model,
    key,
    from: 0,
    request,
    n,
    attempt,
    prompt,
    tools: call.tools as unknown as readonly Json[],
    toolChoice,
    settings,
    files,
    ...(output === undefined ? {} : { output }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(fetch === undefined ? {} : { fetch }),
  };
};

/** Reads the lines of a body. A line that the connection cut in half is none. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      const line = read(Line, JSON.parse(text) as Json);
      if (E.isLeft(line)) throw new ModelError("invalid_answer", `a line of the answer: ${describe(line.left)}`);
      yield line.right;
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

const firstPauseMs = 250;
const longestPauseMs = 4000;

/** One answer, over as many connections as it takes. */
class Asking {
  readonly #url: string;
  readonly #options: RemoteModelOptions;
  readonly #call: ModelCall;
  #lines = 0;

  constructor(url: string, options: RemoteModelOptions, call: ModelCall) {
    this.#url = url;
    this.#options = options;
    this.#call = call;
  }

  async #post(body: Json, signal?: AbortSignal): Promise<Response> {
    const { headers = () => ({}), send = globalThis.fetch.bind(globalThis) } = this.#options;
    const init = {
      method: "POST",
      body: stringify(body),
      headers: { ...(await headers()), "content-type": "application/json" },
    };
    return send(this.#url, signal === undefined ? { ...init, keepalive: true } : { ...init, signal });
  }

  async answer(fetch: string | undefined): Promise<ModelAnswer | undefined> {
    const { signal, key } = this.#call;
    const { provider, model, patienceMs = 30_000 } = this.#options;
    const question = await questionOf({ provider, model }, this.#call, fetch);
    const stop = (): void => void this.#post({ stop: key }).catch(() => undefined); // The host gives it up by itself.
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (let since = Date.now(), wait = firstPauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
        const before = this.#lines;
        const end = await this.#connected(question);
        if (end !== undefined) return end.type === "answer" ? answerOf(end) : undefined;
        signal.throwIfAborted();
        if (this.#lines > before) [since, wait] = [Date.now(), firstPauseMs];
        if (Date.now() - since > patienceMs) throw new ModelError("transport", "the host of the model is not reached");
        await pause(wait, signal);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Reads one connection: returns the end of the answer, or nothing where the connection broke before. */
  async #connected(question: ModelQuestion): Promise<Extract<Line, { type: "answer" | "nothing" }> | undefined> {
    const { signal } = this.#call;
    try {
      const response = await this.#post(ModelQuestion.encode({ ...question, from: this.#lines }) as Json, signal);
      const refused = response.ok ? undefined : await refusalOf(response);
      if (refused !== undefined) throw refused;
      if (!response.ok || response.body === null) return undefined;
      for await (const line of linesOf(response.body)) {
        if (line.type === "answer" || line.type === "nothing") return line;
        await this.#take(line);
      }
      return undefined;
    } catch (thrown) {
      if (thrown instanceof ModelError || signal.aborted) throw thrown;
      return undefined; // The network: it is tried again.
    }
  }

  async #take(line: Exclude<Line, { type: "answer" | "nothing" }>): Promise<void> {
    switch (line.type) {
      case "alive":
        return;
      case "piece":
        this.#call.say(line.piece);
        break;
      case "identified":
        this.#call.identified(line.id);
        break;
      case "file":
        await this.#call.keep(
          Uint8Array.from(atob(line.bytes), (digit) => digit.codePointAt(0) ?? 0),
          line.meta,
        );
        break;
      case "failed": {
        const { retry_after_ms: retryAfterMs, usage, provider_id } = line;
        throw new ModelError(line.class, line.message, {
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          ...(usage === undefined ? {} : { usage }),
          ...(provider_id === undefined ? {} : { provider_id }),
        });
      }
    }
    this.#lines += 1;
  }
}

const answerOf = (line: Extract<Line, { readonly type: "answer" }>): ModelAnswer => {
  const { type: _, ...answer } = line;
  return answer;
};

const none = (): never => {
  throw new ModelError("invalid_answer", "the host of the model has no answer, and the page asked for one");
};

/** Makes a model that the host at this address asks. The page's agents name it as they name any other. */
export const remoteModel = (url: string, options: RemoteModelOptions): AgentModel => {
  const { provider, model, headers: _, send: __, patienceMs: ___, ...how } = options;
  const port = {
    ask: async (call: ModelCall) => (await new Asking(url, options, call).answer(undefined)) ?? none(),
    fetch: (id: string, call: ModelCall) => new Asking(url, options, call).answer(id),
  };
  return { ...how, provider, model, port };
};
