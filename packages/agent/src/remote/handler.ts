/**
 * The host's side of `remoteModel`: one function from a web request to a web response, for whatever serves HTTP. It asks the
 * models that it is given, and no others; their keys stay here.
 *
 *    POST {question}      lines of the answer, as JSON, until its end      401 403 404 409 410 413 429
 *    POST {"stop": key}   the answer is not wanted any more                204
 */
import { type Codec, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AgentModel, modelKey } from "../model.ts";
import { Answering, hashOf } from "./answering.ts";
import { ModelQuestion, ModelStop } from "./line.ts";

export interface ModelHandlerOptions {
  readonly models: readonly AgentModel[];
  /** Says who asks: an answer is given to its own principal alone. Undefined refuses the request. */
  readonly principal: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Decides whether a principal may ask a model. Default: all that are given. */
  readonly may?: (principal: string, model: Pick<AgentModel, "provider" | "model">) => boolean | Promise<boolean>;
  /** The size of a question in bytes. Default: 8 MiB. */
  readonly maxBytes?: number;
  /** Answers that are kept at a time; more questions are refused with 429. Default: 1,000. */
  readonly maxAnswers?: number;
  /** An answer that nobody reads is given up after so long while it is made (default: a minute), and forgotten (default: ten). */
  readonly idleMs?: number;
  readonly keepMs?: number;
  /** The interval of lines that say that the connection is alive. Default: 15 s. */
  readonly aliveMs?: number;
}

/** Handles requests of pages. `close` gives up all that is under way. */
export interface ModelHandler {
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => void;
}

const problem = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ message }), { status, headers: { "content-type": "application/json", ...headers } });

const alive = `{"type":"alive","is":true}\n`;

/** Makes a body of lines, which are taken only when the reader has room for them. */
const bodyOf = (lines: AsyncGenerator<string>, aliveMs: number): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start: (to) => {
      timer = setInterval(() => (to.desiredSize ?? 0) > 0 && to.enqueue(encoder.encode(alive)), aliveMs);
    },
    pull: async (to) => {
      const { done, value } = await lines.next();
      if (done !== true) return to.enqueue(encoder.encode(`${value}\n`));
      clearInterval(timer);
      to.close();
    },
    cancel: async () => {
      clearInterval(timer);
      await lines.return(undefined);
    },
  });
};

class Handling implements ModelHandler {
  readonly #options: ModelHandlerOptions;
  readonly #models: ReadonlyMap<string, AgentModel>;
  readonly #answers = new Map<string, Answering>();

  constructor(options: ModelHandlerOptions) {
    this.#options = options;
    this.#models = new Map(options.models.map((model) => [modelKey(model), model]));
  }

  readonly handle = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return problem(405, `expected POST, found ${request.method}`, { allow: "POST" });
    const by = await this.#options.principal(request);
    if (by === undefined) return problem(401, "nobody is known by this request");
    const body = await this.#bodyOf(request);
    if (body instanceof Response) return body;
    const stop = read(ModelStop, body);
    if (E.isRight(stop)) return this.#stopped(JSON.stringify([by, stop.right.stop]));
    const question = read(ModelQuestion as Codec<ModelQuestion>, body);
    if (E.isLeft(question)) return problem(400, describe(question.left));
    return this.#asked(by, question.right, request.signal);
  };

  async #bodyOf(request: Request): Promise<unknown> {
    const { maxBytes = 8 * 1024 * 1024 } = this.#options;
    const tooLarge = problem(413, `a question may have ${maxBytes} bytes`);
    if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return tooLarge;
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength > maxBytes) return tooLarge;
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    } catch {
      return problem(400, "expected a question as JSON");
    }
  }

  #stopped(name: string): Response {
    this.#answers.get(name)?.stop();
    return new Response(null, { status: 204 });
  }

  async #asked(by: string, question: ModelQuestion, signal: AbortSignal): Promise<Response> {
    const { may = () => true, maxAnswers = 1000, aliveMs = 15_000 } = this.#options;
    const model = this.#models.get(modelKey(question.model));
    if (model === undefined) return problem(404, `no model \`${question.model.model}\` is asked here`);
    if (!(await may(by, question.model))) return problem(403, `\`${by}\` may not ask \`${question.model.model}\``);
    const name = JSON.stringify([by, question.key]);
    const known = this.#answers.get(name);
    if (known === undefined && question.from > 0) return problem(410, "the answer is not known here any more");
    if (known === undefined && this.#answers.size >= maxAnswers)
      return problem(429, `${maxAnswers} answers are under way here`, { "retry-after": "5" });
    const answering = known ?? this.#begin(name, question, model);
    if (known !== undefined && known.hash !== hashOf(question)) return problem(409, "another question has this key");
    if (question.from > answering.count) return problem(410, "the answer has fewer lines than the page");
    const lines = answering.read(question.from, signal);
    return new Response(bodyOf(lines, aliveMs), { headers: { "content-type": "application/x-ndjson" } });
  }

  #begin(name: string, question: ModelQuestion, model: AgentModel): Answering {
    const { idleMs = 60_000, keepMs = 600_000 } = this.#options;
    const answering = new Answering(question, model, { idleMs, keepMs }, () => this.#answers.delete(name));
    this.#answers.set(name, answering);
    return answering;
  }

  readonly close = (): void => {
    for (const answering of this.#answers.values()) answering.close();
    this.#answers.clear();
  };
}

/** Serves models to pages: mount it where `remoteModel` asks. */
export const modelHandler = (options: ModelHandlerOptions): ModelHandler => new Handling(options);
