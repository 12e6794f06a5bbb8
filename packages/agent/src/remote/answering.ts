/**
 * Answers of models that a host has under way for pages. A question is asked of its provider once, whoever asks it again: the
 * same principal, under the same key, is given the lines that it lacks. An answer lives in memory, for a while after its end.
 */
import { type ModelAnswer, type ModelCall, ModelError, base64Of, bytesOf, putAttachment } from "@pawl/runtime/driver";
import type { AgentSpec, PromptMessage } from "@pawl/sansio-core/driver";
import { type Json, stableHash, stringify } from "@pawl/tool-value";
import type { AgentModel } from "../model.ts";
import { Line, ModelQuestion, isLast } from "./line.ts";

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Hashes a question without its place and attempt: a page that comes again asks the same. */
export const hashOf = (question: ModelQuestion): string => {
  const { fetch: _, ...asked } = question;
  return stableHash(ModelQuestion.encode({ ...asked, from: 0, attempt: 0 }) as Json);
};

const failureLine = (thrown: unknown): Line => {
  const error = thrown instanceof ModelError ? thrown : new ModelError("unknown", textOf(thrown));
  const { retryAfterMs, usage, provider_id } = error.more;
  return {
    type: "failed",
    class: error.kind,
    message: error.message,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.round(retryAfterMs) }),
    ...(usage === undefined ? {} : { usage }),
    ...(provider_id === undefined ? {} : { provider_id }),
  };
};

const endLine = (answer: ModelAnswer | undefined): Line =>
  answer === undefined ? { type: "nothing" } : { type: "answer", ...answer };

/** One answer, as it comes. */
export class Answering {
  readonly hash: string;
  readonly #lines: string[] = [];
  readonly #stop = new AbortController();
  #isOver = false;
  #readers = 0;
  #changed = Promise.withResolvers<void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #left: () => void;
  readonly #idleMs: number;
  readonly #keepMs: number;

  /** Calls `left` when nobody has wanted it for so long: while it is made, and once it is over. */
  constructor(question: ModelQuestion, model: AgentModel, times: { idleMs: number; keepMs: number }, left: () => void) {
    this.hash = hashOf(question);
    this.#idleMs = times.idleMs;
    this.#keepMs = times.keepMs;
    this.#left = left;
    void this.#ask(question, model);
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Stops the question to the provider: what was said until then stays. */
  stop(): void {
    this.#stop.abort(new Error("the page has stopped it"));
  }

  #say(line: Line): void {
    if (this.#isOver) return;
    this.#lines.push(stringify(Line.encode(line) as Json));
    this.#isOver = isLast(line);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #ask(question: ModelQuestion, { port }: AgentModel): Promise<void> {
    try {
      const call = this.#callOf(question);
      const { fetch } = question;
      const isFetched = fetch !== undefined && port.fetch !== undefined;
      this.#say(endLine(isFetched ? await port.fetch?.(fetch, call) : await port.ask(call)));
    } catch (thrown) {
      this.#say(failureLine(thrown));
    }
    this.#rest();
  }

  #callOf(question: ModelQuestion): ModelCall {
    const { output, maxOutputTokens, prefix, files } = question;
    return {
      request: question.request,
      n: question.n,
      attempt: question.attempt,
      key: question.key,
      prompt: question.prompt as unknown as readonly PromptMessage[],
      tools: question.tools as unknown as AgentSpec["shown"],
      toolChoice: question.toolChoice,
      settings: question.settings,
      ...(output === undefined ? {} : { output }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(prefix === undefined ? {} : { prefix }),
      signal: this.#stop.signal,
      say: (piece) => this.#say({ type: "piece", piece }),
      identified: (id) => this.#say({ type: "identified", id }),
      bytes: async ({ id }) => {
        const bytes = files[id];
        if (bytes === undefined) throw new ModelError("invalid_request", `the page sent no bytes of file ${id}`);
        return bytesOf(bytes);
      },
      keep: async (bytes, meta) => {
        this.#say({ type: "file", bytes: base64Of(bytes), meta });
        return putAttachment({ put: async () => undefined, bytes: async () => undefined }, bytes, meta);
      },
    };
  }

  /** Yields the lines behind the first so many, as they come. */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<string> {
    this.#readers += 1;
    clearTimeout(this.#timer);
    const left = Promise.withResolvers<void>();
    const leave = (): void => left.resolve();
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (let at = from; !signal.aborted;) {
        const line = this.#lines[at];
        if (line !== undefined) {
          at += 1;
          yield line;
        } else if (this.#isOver) return;
        else await Promise.race([this.#changed.promise, left.promise]);
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#readers -= 1;
      this.#rest();
    }
  }

  /** Gives it up after a while in which nobody reads it. */
  #rest(): void {
    clearTimeout(this.#timer);
    if (this.#readers > 0) return;
    const end = (): void => {
      this.#stop.abort(new Error("nobody has read it for too long"));
      this.#left();
    };
    this.#timer = setTimeout(end, this.#isOver ? this.#keepMs : this.#idleMs);
    (this.#timer as { readonly unref?: () => void }).unref?.(); // A process need not live for it.
  }

  /** Ends it with its host. */
  close(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error("the host is closed"));
  }
}
