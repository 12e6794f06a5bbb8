/**
 * `durableFetch`: a `fetch` whose answers are on record. An SDK that takes a `fetch` survives a crash with it, since a body
 * that runs again has its answers from the log: nothing is asked twice that was answered.
 *
 *   whole answers   one step (`ctx.run`)
 *   in parts        one stream (`ctx.stream`), so that readers of the session see it come; the program does too:
 *
 *      service ── parts ──► log (in groups) ─────────────────┐
 *                  └──────► program, at once … its end waits ◄┘ until all of it is on record
 *
 * A program that has read an answer to its end may act on it: it will be the same in every run. Acting on the first half
 * is not safe, since an answer whose process died under way is asked for again, and may be another. With `live: false` the
 * program has nothing of an answer before all of it is on record.
 */
import type { ToolContext } from "../body/facet/context.ts";
import { type AskingAgain, askUntilAnswered, askingAgain } from "./ask-again.ts";
import {
  type Broken,
  type Head,
  type Part,
  bytesOfPart,
  headOf,
  partsOf,
  responseOf,
  wholeBody,
  type Asked,
  askedOf,
  isStreamed,
  nameOf,
} from "./recorded.ts";

type Fetch = typeof globalThis.fetch;

export interface DurableFetchOptions extends Partial<AskingAgain> {
  /** Sends the requests, in place of the platform's. */
  readonly fetch?: Fetch;
  /** Says that the service knows an idempotency key, by `true` for `idempotency-key` or by the name of its header. */
  readonly idempotencyKey?: boolean | string;
  /** Headers of answers to keep beside those that always are. */
  readonly keepHeaders?: readonly string[];
  /** Refuses a larger answer as `response_too_large`; 32 MB unless it says otherwise. */
  readonly maxBytes?: number;
  /** Hands an answer in parts on as it comes; true unless it says otherwise. */
  readonly live?: boolean;
}

interface Service {
  readonly ctx: Pick<ToolContext, "run" | "stream">;
  readonly send: (asked: Asked, key: string) => (signal: AbortSignal) => Promise<Response>;
  readonly again: AskingAgain;
  readonly keepHeaders: readonly string[];
  readonly maxBytes: number;
  readonly isLive: boolean;
}

const both = (signal: AbortSignal, other: AbortSignal | undefined): AbortSignal =>
  other === undefined ? signal : AbortSignal.any([signal, other]);

const senderOf =
  ({ fetch = globalThis.fetch, idempotencyKey = false }: DurableFetchOptions): Service["send"] =>
  ({ method, url, headers, body, more }, key) =>
  (signal) => {
    const sent = new Headers(headers);
    const name = idempotencyKey === true ? "idempotency-key" : idempotencyKey;
    if (name !== false && !sent.has(name)) sent.set(name, key);
    return fetch(url.href, { ...more, method, headers: sent, signal, ...(body === undefined ? {} : { body }) });
  };

interface Whole {
  readonly head: Head;
  readonly body: Part;
}

const fetchWhole = async (service: Service, asked: Asked, name: string): Promise<Response> => {
  const { ctx, send, again, keepHeaders, maxBytes } = service;
  const { head, body } = await ctx.run(name, async ({ key, signal }): Promise<Whole> => {
    const read = async (response: Response): Promise<Whole> => ({
      head: headOf(response, asked.url, keepHeaders),
      body: await wholeBody(response, asked, maxBytes),
    });
    return askUntilAnswered({ send: send(asked, key), read, signal: both(signal, asked.signal) }, again);
  });
  return responseOf(head, bytesOfPart(body));
};

/** The chunks of an answer: its head first. */
type Said = Head | Part | Broken;

const isHead = (said: Said): said is Head => typeof said === "object" && "status" in said;
const isBroken = (said: Said): said is Broken => typeof said === "object" && "broken" in said;

/** An answer in parts, on its way to the program. */
class OnItsWay {
  readonly #stop = new AbortController();
  readonly #given = Promise.withResolvers<Response>();
  readonly #over = Promise.withResolvers<void>();
  #isGiven = false;
  readonly #parts: Part[] = [];
  #count = 0;
  /** Set once all of it is on record. */
  #last: { readonly broken?: string } | undefined;
  #wake: () => void = () => undefined;

  /** Aborted when the program wants no more of it. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }
  get response(): Promise<Response> {
    return this.#given.promise;
  }

  #give(head: Head): void {
    this.#isGiven = true;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => this.#pull(controller);
    const cancel = (): Promise<void> => {
      this.#stop.abort();
      return this.#over.promise; // What the program does next follows from what is on record.
    };
    this.#given.resolve(responseOf(head, new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })));
  }

  /** Hands out one part, in the order in which they came: what breaks the answer comes after all of it. */
  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#parts.length === 0 && this.#last === undefined && !this.stop.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const part = this.#parts.shift();
    if (this.stop.aborted) return;
    if (part !== undefined) controller.enqueue(bytesOfPart(part));
    else if (this.#last?.broken === undefined) controller.close();
    else controller.error(new TypeError(this.#last.broken));
  }

  /** Hands on what was just said. What is no success waits for the record: programs act on it at once. */
  say(said: Head | Part): void {
    if (isHead(said)) {
      if (said.status === 200) this.#give(said);
    } else if (this.#isGiven) this.#hand(said);
  }

  #hand(part: Part): void {
    this.#parts.push(part);
    this.#count += 1;
    this.#wake();
  }

  #end(last: { readonly broken?: string }): void {
    this.#last = last;
    this.#over.resolve();
    this.#wake();
  }

  /** Hands on the rest, and the end: all of it is on record. */
  end([head, ...parts]: readonly Said[]): void {
    if (head === undefined || !isHead(head)) throw new TypeError("an answer begins with its head");
    if (!this.#isGiven) this.#give(head);
    for (const part of parts.slice(this.#count)) if (!isHead(part) && !isBroken(part)) this.#hand(part);
    const last = parts.at(-1);
    this.#end(last !== undefined && isBroken(last) ? last : {});
  }

  fail(thrown: unknown): void {
    this.#given.reject(thrown);
    this.#end({ broken: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

/** Says an answer part by part. A connection that breaks after the head is a part as well, so that all runs see it there. */
async function* answerOf(
  response: Response,
  head: Head,
  signal: AbortSignal,
  say: (said: Head | Part) => void,
): AsyncGenerator<Said> {
  say(head);
  yield head;
  try {
    for await (const part of partsOf(response, signal)) {
      say(part);
      yield part;
    }
  } catch (thrown) {
    if (!signal.aborted) yield { broken: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

const fetchInParts = (service: Service, asked: Asked, name: string): Promise<Response> => {
  const { ctx, send, again, keepHeaders, isLive } = service;
  const way = new OnItsWay();
  const say = (said: Head | Part): void => (isLive ? way.say(said) : undefined);
  const answer = ctx.stream<Said>(name, async function* ({ key, signal }) {
    const ends = AbortSignal.any([both(signal, asked.signal), way.stop]);
    const asking = { send: send(asked, key), read: (response: Response) => response, signal: ends };
    const response = await askUntilAnswered(asking, again);
    yield* answerOf(response, headOf(response, asked.url, keepHeaders), ends, say);
  });
  answer.then(
    (said) => way.end(said),
    (thrown: unknown) => way.fail(thrown),
  );
  return way.response;
};

/**
 * Returns a `fetch` for the calls of an SDK inside a durable body. Each answer is on record; a request that was answered is
 * not sent again, however often the body runs.
 */
export const durableFetch = (ctx: Pick<ToolContext, "run" | "stream">, options: DurableFetchOptions = {}): Fetch => {
  const { keepHeaders = [] } = options;
  const service: Service = {
    ctx,
    send: senderOf(options),
    again: askingAgain(options),
    keepHeaders: keepHeaders.map((name) => name.toLowerCase()),
    maxBytes: options.maxBytes ?? 32 * 1024 ** 2,
    isLive: options.live ?? true,
  };
  const counts = new Map<string, number>();
  const begin = (asked: Asked): Promise<Response> => {
    const name = nameOf(asked);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const fetchOnce = isStreamed(asked) ? fetchInParts : fetchWhole;
    return fetchOnce(service, asked, count === 1 ? name : `${name}#${count}`);
  };
  return async (input, init) => {
    const asked = askedOf(input, init);
    return begin(asked instanceof Promise ? await asked : asked);
  };
};
