/** One attempt of a model call: from the question to its event, with what it says on the way. */
import type { CommandOf, Event } from "@pawl/sansio-core";
import { type AgentSpec, type Piece, type PromptMessage, modelFate } from "@pawl/sansio-core/driver";
import { type AttachmentRef, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Access } from "../scope/access.ts";
import { textOf } from "../error.ts";
import { type AttachmentStore, putAttachment } from "../journal/blob.ts";
import { mismatchesOf } from "../tool/check.ts";
import type { AnswerStream } from "./answer-stream.ts";
import { type ModelAnswer, type ModelCall, type ModelPort, ModelError } from "./port.ts";
import type { ModelPlaces } from "./pace.ts";
import { promptHash } from "./prompt-of.ts";

type Ask = CommandOf<"model.ask">;

/** The parts that an attempt needs. */
export interface AttemptPort {
  readonly access: Access;
  readonly port: ModelPort;
  readonly stream: AnswerStream;
  readonly places: ModelPlaces;
  readonly attachments: AttachmentStore;
  readonly spec: AgentSpec;
  readonly form: AgentSpec["output"];
  readonly prompt: readonly PromptMessage[];
  readonly prefix: string;
}

export class Attempt {
  readonly #ask: Ask;
  readonly #of: AttemptPort;
  readonly #abort = new AbortController();
  #begun: number;
  #checkpoint: (() => void) | undefined;
  #timer: (() => void) | undefined;
  #streamed = 0;
  #isStopped = false;
  #hasLeft = false;
  #timeout: string | undefined;

  constructor(ask: Ask, of: AttemptPort) {
    this.#ask = ask;
    this.#of = of;
    this.#begun = of.access.platform.monotonic();
  }

  get #name(): Pick<Ask, "request" | "n" | "attempt"> {
    const { request, n, attempt } = this.#ask;
    return { request, n, attempt };
  }

  /** Nobody wants the answer any more: what the model has said until now is the last of it. */
  stop(): void {
    this.#isStopped = true;
    this.#abort.abort();
  }

  /** Ends without a word: the scope is the next owner's. */
  leave(): void {
    this.#hasLeft = true;
    this.#quiet();
    this.#abort.abort();
  }

  #quiet(): void {
    this.#checkpoint?.();
    this.#timer?.();
    this.#checkpoint = undefined;
    this.#timer = undefined;
  }

  /** Asks when there is a place, and records what comes of it. */
  async run(): Promise<void> {
    const call = this.#call();
    const leavePlace = await this.#of.places.enter(this.#abort.signal);
    if (leavePlace === undefined) return this.#failed(new ModelError("unknown", "it was stopped before it was asked"));
    this.#begun = this.#of.access.platform.monotonic();
    this.#patience();
    try {
      const answer = await this.#answered(call);
      if (answer === undefined) this.#failed(new ModelError("not_found", "the provider has no such answer stored"));
      else this.#record(answer);
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.#quiet();
      leavePlace();
    }
    return undefined;
  }

  async #answered(call: ModelCall): Promise<ModelAnswer | undefined> {
    const { port } = this.#of;
    const { mode, provider_id: id } = this.#ask;
    return mode === "fetch" && id !== undefined && port.fetch !== undefined ? port.fetch(id, call) : port.ask(call);
  }

  get #head() {
    const { spec, form } = this.#of;
    const { provider, model, settings = null } = spec.routes[this.#ask.route] ?? { provider: "", model: "" };
    const toolChoice = this.#ask.tools ? (spec.tool_choice ?? "auto") : "none";
    return { provider, model, settings, tools: spec.shown, tool_choice: toolChoice, output: form ?? null };
  }

  #call(): ModelCall {
    const { prompt, form, prefix } = this.#of;
    const { request, n, key, attempt, max_output_tokens: cap } = this.#ask;
    const { settings, tools, tool_choice: toolChoice } = this.#head;
    return {
      request,
      n,
      prompt,
      tools,
      toolChoice,
      settings,
      ...(form === undefined || this.#ask.kind === "compact" ? {} : { output: form }),
      ...(cap === undefined ? {} : { maxOutputTokens: cap }),
      ...(prefix === "" ? {} : { prefix }),
      key,
      attempt,
      signal: this.#abort.signal,
      say: (piece) => this.#say(piece),
      identified: (id) => this.#identified(id),
      bytes: (ref) => this.#bytes(ref),
      keep: (bytes, meta) => putAttachment(this.#of.attachments, bytes, meta),
    };
  }

  async #bytes({ id }: AttachmentRef): Promise<Uint8Array> {
    const bytes = await this.#of.attachments.bytes(id);
    if (bytes === undefined)
      throw new ModelError("invalid_request", `the store of attachments has no bytes ${id}, which the prompt shows`);
    return bytes;
  }

  /** Gives up an attempt that is silent for too long, or takes too long. */
  #patience(): void {
    const { access, places } = this.#of;
    const { platform } = access;
    const { pace: times } = places;
    this.#timer?.();
    const left = times.modelTotalMs - (platform.monotonic() - this.#begun);
    const isLast = left <= times.modelIdleMs;
    this.#timer = platform.later(Math.max(0, Math.min(left, times.modelIdleMs)), () => {
      this.#timeout = isLast
        ? `the model took longer than ${times.modelTotalMs} ms`
        : `the model was silent for ${times.modelIdleMs} ms`;
      this.#abort.abort();
      this.#failed(new ModelError("timeout", this.#timeout));
    });
  }

  get #fate(): ReturnType<typeof modelFate> {
    return modelFate(this.#of.access.runner.state, this.#name);
  }

  #apply(event: Event): void {
    const { runner } = this.#of.access;
    if (!runner.isAbandoned && !this.#hasLeft) runner.apply(event);
  }

  #say(piece: Piece): void {
    const { stream, access } = this.#of;
    const isOver = this.#timeout !== undefined || this.#hasLeft || access.runner.isAbandoned;
    if (isOver || this.#fate !== "take") return;
    this.#patience();
    const isDue = stream.say(piece, access.platform.monotonic());
    if (isDue) return this.#putOnRecord();
    const { dueAt } = stream;
    if (dueAt === undefined || this.#checkpoint !== undefined) return;
    const wait = Math.max(0, dueAt - access.platform.monotonic());
    this.#checkpoint = access.platform.later(wait, () => this.#putOnRecord());
  }

  /** Records what was said since the last checkpoint. Nobody waits for it. */
  #putOnRecord(): void {
    this.#checkpoint?.();
    this.#checkpoint = undefined;
    if (this.#fate !== "take") return;
    const pieces = this.#of.stream.takeUnrecorded();
    if (pieces.length === 0) return;
    this.#streamed += 1;
    this.#apply({ type: "model.streamed", ...this.#name, pieces });
  }

  #identified(id: string): void {
    const route = this.#of.spec.routes[this.#ask.route];
    if (route?.fetch === true && this.#fate === "take")
      this.#apply({ type: "model.identified", ...this.#name, provider_id: id });
  }

  get #mark() {
    const { access, prompt } = this.#of;
    const hash = promptHash(access.platform.hashText, this.#head, prompt);
    const ms = Math.max(0, Math.round(access.platform.monotonic() - this.#begun));
    return { prompt: { messages: prompt.length, hash }, ms };
  }

  /** Says whether the text of the whole answer fits the form that is wanted. */
  #verdict(): Pick<Extract<Event, { readonly type: "model.answered" }>, "verdict"> {
    const { form, stream } = this.#of;
    if (form === undefined || this.#ask.kind === "compact") return {};
    const value = parse(stream.text);
    if (E.isLeft(value)) return { verdict: { invalid: value.left.message } };
    const mismatch = mismatchesOf(form.schema as object | boolean)(value.right);
    return { verdict: mismatch === undefined ? { valid: true } : { invalid: `${mismatch.at}: ${mismatch.why}` } };
  }

  #late({ usage, provider_id }: Pick<ModelAnswer, "provider_id"> & Partial<Pick<ModelAnswer, "usage">>): void {
    const said = { ...(usage === undefined ? {} : { usage }), ...(provider_id === undefined ? {} : { provider_id }) };
    if (this.#fate === "late") this.#apply({ type: "model.late", ...this.#name, ...said });
  }

  #record(answer: ModelAnswer): void {
    const { pieces, ...said } = answer;
    if (this.#timeout !== undefined || this.#fate !== "take") return this.#late(answer);
    const { stream, access } = this.#of;
    for (const piece of pieces) stream.say(piece, access.platform.monotonic());
    const verdict = this.#verdict();
    const rest = stream.takeUnrecorded();
    const { conversation } = access.runner.state;
    const how = conversation.running?.phase.type === "stopping" ? "cut" : "answered";
    const streamed = this.#streamed === 0 ? {} : { streamed: this.#streamed };
    this.#apply({
      type: "model.answered",
      ...this.#name,
      ...streamed,
      pieces: rest,
      ...said,
      ...verdict,
      ...this.#mark,
    });
    this.#over(how);
    return undefined;
  }

  /** Readers hear of the end when it is durable. */
  #over(how: "answered" | "cut"): void {
    const { stream, access } = this.#of;
    access.runner.whenDurable().then(
      () => stream.end(how),
      () => undefined, // The scope was lost: its next owner has readers of its own.
    );
  }

  #failed(thrown: unknown): void {
    this.#quiet();
    const error = thrown instanceof ModelError ? thrown : new ModelError("unknown", textOf(thrown));
    const { usage, provider_id, retryAfterMs } = error.more;
    const used = usage === undefined ? {} : { usage };
    if (this.#fate !== "take") return this.#late({ ...used, ...(provider_id === undefined ? {} : { provider_id }) });
    const { stream, spec } = this.#of;
    const isCut = this.#isStopped;
    const pieces = isCut || spec.routes[this.#ask.route]?.continue === true ? stream.takeUnrecorded() : [];
    if (isCut) {
      this.#apply({ type: "model.stopped", ...this.#name, pieces, ...used });
      return this.#over("cut");
    }
    return this.#apply({
      type: "model.failed",
      ...this.#name,
      class: error.kind,
      message: error.message,
      ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.round(retryAfterMs) }),
      ...(pieces.length === 0 ? {} : { pieces }),
      ...used,
      ...(provider_id === undefined ? {} : { provider_id }),
      ...this.#mark,
    });
  }
}
