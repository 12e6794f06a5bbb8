/**
 * `ctx.stream`: a step whose chunks are on record while it works. The body may loop over the chunks, or await all of them;
 * readers of the session are shown each chunk as it is said.
 *
 * A loop is handed a chunk when its group is on record, in its place among the answers of the log. So what follows from it
 * cannot diverge. After a crash the producer runs again:
 *
 *   with `resume`   it is told what is on record, and goes on after that; so does the loop.
 *   without         it begins anew. So does the loop, where nothing that the body asked for since can have followed from
 *                   what it was handed before; where something can, it throws `stream_restarted`.
 *
 * A body that awaits the stream gets the chunks that the last run of the producer said, all of them.
 */
import type { EffectResult } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { EffectError, failureOf, requireRule } from "../../error.ts";
import type { Answer, StreamPart, Work } from "../record.ts";
import { streamKey } from "../stream-replay.ts";
import { LazySignal, withoutAbort } from "../stop.ts";
import { type Durable, EffectPromise, refusing } from "./durable.ts";
import { problemOfDurable } from "./capability.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";

/** Handed to the producer of a stream. */
export interface StreamInfo<A> {
  /** The stream's replay key: hand it to the outside service as idempotency key. */
  readonly key: string;
  /** Aborted by a cancel, and when the body leaves its loop over the stream. */
  readonly signal: AbortSignal;
  /** Counts the runs of producers of this stream, from 1. */
  readonly attempt: number;
  /** The number of its first chunk. */
  readonly from: number;
  /** With `resume`: what is on record, after which it goes on. */
  readonly recorded: readonly A[];
  /** Reads a secret of the session by its name, as in a step. */
  readonly secret: (name: string) => Promise<string>;
}

export interface StreamTerms {
  /** Tells the stream from another under the same name: a body that asks with another input has diverged. */
  readonly input?: unknown;
  /** The producer goes on after `recorded` when it runs again. */
  readonly resume?: boolean;
}

/** The chunks of a stream: one by one in a loop, or all of them where it is awaited. */
export interface DurableStream<A> extends Durable<readonly A[]>, AsyncIterable<A> {}

export interface Streams {
  /** Records what a generator says, and shows it to readers: `session.stream(call, { name })`. */
  readonly stream: <A>(
    name: string,
    source: (info: StreamInfo<A>) => AsyncIterable<A> | Iterable<A>,
    options?: StreamTerms,
  ) => DurableStream<A>;
}

const stopped = new EffectError("stream_stopped", "the body has left its loop over the stream");

const restarted = (name: string): EffectError =>
  new EffectError(
    "stream_restarted",
    `stream \`${name}\`: its producer began anew after a crash, and the body had gone on with what it said before. ` +
      "Let the producer resume (`resume: true`, and go on after `recorded`), or await the whole stream",
  );

/** Gives a body its chunks of a stream. */
class Heard {
  readonly #name: string;
  readonly #stop: () => void;
  #chunks: readonly Json[] = [];
  /** Counts the times that it was begun anew. */
  #restarts = 0;
  #end: { readonly error?: unknown } | undefined;
  #waiting: (() => void)[] = [];

  constructor(name: string, stop: () => void) {
    this.#name = name;
    this.#stop = stop;
  }

  part(part: StreamPart): void {
    if (part.type === "said") this.#chunks = [...this.#chunks, ...part.chunks];
    else {
      this.#chunks = [];
      this.#restarts += 1;
    }
    this.#wake();
  }

  /** Ends, with all chunks: those of an earlier attempt come together. */
  end({ result, chunks = this.#chunks }: Pick<Answer, "result" | "chunks">): readonly Json[] {
    try {
      valueOf(result);
      this.#chunks = chunks;
      this.#end = {};
      return chunks;
    } catch (error) {
      this.#end = { error };
      throw error;
    } finally {
      this.#wake();
    }
  }

  refuse(error: unknown): void {
    this.#end = { error };
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** One loop over the chunks. Who leaves it early stops the producer. */
  async *loop(): AsyncGenerator<Json> {
    let restarts = this.#restarts;
    let at = 0;
    try {
      for (;;) {
        if (restarts !== this.#restarts && at > 0) throw restarted(this.#name);
        restarts = this.#restarts;
        const chunk = this.#chunks[at];
        if (at < this.#chunks.length) {
          at += 1;
          yield chunk as Json;
        } else if (this.#end === undefined) await new Promise<void>((wake) => this.#waiting.push(wake));
        else if ("error" in this.#end) throw this.#end.error;
        else return;
      }
    } finally {
      if (this.#end === undefined) this.#stop();
    }
  }
}

type Source = (info: StreamInfo<never>) => AsyncIterable<unknown> | Iterable<unknown>;

const misuseOf = (name: string, used: ReadonlySet<string>): EffectError | undefined => {
  if (typeof name !== "string" || name.trim() === "")
    return new EffectError("durable_effect_empty_step_id", "the name of a stream has to be a text that is not blank");
  if (!used.has(name)) return undefined;
  return new EffectError("durable_effect_duplicate_step_id", `stream \`${name}\` was begun already by this tool call`);
};

const failed = (thrown: unknown): EffectResult => failureOf(withoutAbort(thrown), "durable_stream_failed", EffectError);

/** Returns the work of the step: pulls the generator, and resolves once all that it said is in events. */
const workOf = (asking: Asking, name: string, source: Source, stop: LazySignal): Work => {
  const key = streamKey(name);
  const { body, facts } = asking;
  return async () => {
    const producer = facts.producer(name);
    try {
      const { attempts, resumes } = await producer.begin((seq) => body.streams.restart(body, key, seq));
      const { from = 0, keep = 0 } = attempts.at(-1) ?? {};
      const recorded = resumes && from > keep ? body.streams.said(key) : [];
      const { signal } = stop;
      const info = {
        key: `${facts.base}:${key}`,
        signal,
        attempt: attempts.length,
        from,
        recorded: recorded as never[],
        secret: (of: string) => asking.secret(of),
      };
      const toChunk = (said: unknown): Json => asking.shown(toJson(said, `a chunk of stream \`${name}\``));
      const to = await producer.pull(() => source(info), toChunk, { signal, stopped });
      return { status: "ok", value: { from: keep, to } };
    } catch (thrown) {
      return asking.shown(failed(thrown));
    } finally {
      producer.leave();
    }
  };
};

/** Hears of a refusal, and leaves open whether the program has looked at it. */
const whenRefused = (promise: Durable<unknown>, then: (thrown: unknown) => void): void => {
  if (!(promise instanceof EffectPromise)) return;
  const { isHeard } = promise;
  promise.catch(then);
  promise.isHeard = isHeard;
};

export const streams = (asking: Asking): Streams => {
  const used = new Set<string>();
  const begin = (
    name: string,
    source: Source,
    { input = null, resume }: StreamTerms,
    heard: Heard,
    stop: LazySignal,
  ) => {
    const misuse = problemOfDurable(asking.facts.capabilities) ?? misuseOf(name, used);
    if (misuse !== undefined) throw misuse;
    requireRule(asking.facts.processApi.state().scope.protocol, "streams", "`ctx.stream`");
    used.add(name);
    const key = streamKey(name);
    const json = toJson(input, `the input of stream \`${name}\``);
    const spec = { name, ...(resume === true ? { resumes: true } : {}) };
    const effect = { kind: "step", recovery: "again", input: json, stream: spec } as const;
    const part = (one: StreamPart): void => heard.part(one);
    const read = (_: EffectResult, answer: Answer): readonly Json[] => heard.end(answer);
    return asking.askFor(read, key, effect, json, workOf(asking, name, source, stop), { part });
  };
  const stream = (name: string, source: Source, options: StreamTerms = {}): DurableStream<Json> => {
    const stop = new LazySignal(asking.body.signals.current);
    const heard = new Heard(name, () => stop.abort(stopped));
    const promise = refusing(streamKey(name), () => begin(name, source, options, heard, stop), asking.facts.failures);
    whenRefused(promise, (thrown) => heard.refuse(thrown));
    const loop = (): AsyncGenerator<Json> => {
      if (promise instanceof EffectPromise) promise.isHeard = true;
      return heard.loop();
    };
    return Object.assign(promise, { [Symbol.asyncIterator]: loop });
  };
  return { stream: stream as unknown as Streams["stream"] };
};
