/** The op `turn.stream`: one model call of a session, its attempts, and those who read along. */
import { knownName, withFields } from "@pawl/testkit";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { World, jsonOf } from "../../../sansio-core/test/cases/turn/world.ts";
import { callIn } from "../../../sansio-core/src/turn/conversation.ts";
import { type AnswerCursor, type AnswerFrame, AnswerStream } from "../../src/turn/answer-stream.ts";

type Input = { readonly [field: string]: Json };
type Step = readonly [name: string, ...rest: readonly Json[]];
type Kind = "checkpoint" | "answer" | "cut";

const prompt = { messages: 1, hash: "" };
const defaults = { checkpoint_chars: 4096, checkpoint_ms: 5000 };

class Reading {
  readonly #world = new World([]);
  #stream: AnswerStream;
  readonly #pace: { readonly checkpointChars: number; readonly checkpointMs: number };
  readonly #leave = new Map<string, () => void>();
  readonly #records: Json[] = [];
  #seen: [string, Json][] = [];
  #attempt = 0;

  constructor({
    checkpoint_chars = defaults.checkpoint_chars,
    checkpoint_ms = defaults.checkpoint_ms,
    continues,
  }: Input) {
    this.#pace = { checkpointChars: Number(checkpoint_chars), checkpointMs: Number(checkpoint_ms) };
    this.#stream = new AnswerStream(this.#pace);
    const routes = [{ provider: "p", model: "m", ...(continues === true ? { continue: true } : {}) }];
    this.#world.tell({ type: "agent.published", agent: "main", hash: "main", spec: { routes, shown: [] } });
    const messages = [{ role: "user", content: "go" }] as const;
    this.#world.tell({ type: "turn.submitted", request: "t1", hash: "h", messages, when_busy: "queue" });
    this.#follow();
  }

  get #call() {
    const { running } = this.#world.state.conversation;
    return running === undefined ? undefined : callIn(running.phase);
  }

  get #of() {
    return { request: "t1", n: 1, attempt: this.#attempt };
  }

  /** Begins the attempt that the core asks for, if there is another. */
  #follow(): void {
    const { running } = this.#world.state.conversation;
    const call = this.#call;
    if (running?.phase.type !== "asking" || call === undefined || call.attempt === this.#attempt) return;
    this.#attempt = call.attempt;
    this.#stream.begin(call.attempt, call.prefix);
  }

  #note(kind: Kind, from: number): void {
    const { attempt, at } = this.#stream.place;
    if (at > from) this.#records.push({ kind, attempt, from, to: at });
  }

  #take(kind: Kind): ReturnType<AnswerStream["takeUnrecorded"]> {
    this.#note(kind, this.#stream.recorded);
    return this.#stream.takeUnrecorded();
  }

  #checkpoint(): void {
    this.#world.tell({ type: "model.streamed", ...this.#of, pieces: this.#take("checkpoint") });
  }

  /** Says a piece of text; returns whether a checkpoint is due. */
  #say(text: string): boolean {
    const isNew = (this.#call?.pieces.length ?? 0) === 0 && this.#stream.place.at === this.#stream.recorded;
    return this.#stream.say(isNew ? { b: 0, type: "text", text } : { b: 0, text }, this.#world.at);
  }

  #delta(text: string): void {
    if (this.#stream.isOver) this.#seen.push(["-", { refused: "already_answered" }]);
    else if (this.#say(text)) this.#checkpoint();
  }

  /** Puts what an attempt says as it ends into the event of its end. */
  #rest(text: Json): void {
    if (typeof text === "string" && text !== "") this.#say(text);
  }

  #answer(text: Json): void {
    this.#rest(text);
    const said = { pieces: this.#take("answer"), finish: { reason: "stop" }, usage: {}, prompt, ms: 0 } as const;
    this.#world.tell({ type: "model.answered", ...this.#of, ...said });
    this.#stream.end("answered");
  }

  #stopped(text: Json): void {
    this.#world.tell({ type: "request.cancelled", request: "t1" });
    this.#rest(text);
    this.#world.tell({ type: "model.stopped", ...this.#of, pieces: this.#take("cut") });
    this.#stream.end("cut");
  }

  #fail(): void {
    const route = this.#world.state.conversation.running?.agent?.routes[0];
    const pieces = route?.continue === true ? this.#take("checkpoint") : [];
    const more = pieces.length === 0 ? {} : { pieces };
    const failure = { class: "transport", message: "", retry_after_ms: 0, ...more, prompt, ms: 0 } as const;
    this.#world.tell({ type: "model.failed", ...this.#of, ...failure });
    this.#follow();
  }

  #pass(ms: number): void {
    const until = this.#world.at + ms;
    for (let due = this.#stream.dueAt; due !== undefined && due <= until; due = this.#stream.dueAt) {
      this.#world.pass(due - this.#world.at);
      this.#checkpoint();
    }
    this.#world.pass(until - this.#world.at);
  }

  /** The process dies with its readers; the next one asks again, when it may. */
  #crash(): void {
    for (const leave of this.#leave.values()) leave();
    this.#leave.clear();
    this.#world.open();
    const { running } = this.#world.state.conversation;
    if (running?.phase.type === "backing_off") this.#world.pass(running.phase.due.at - this.#world.at);
    this.#follow();
  }

  #read(reader: string, cursor: Json): void {
    const tell = (frame: AnswerFrame): void => void this.#seen.push([reader, jsonOf(frame)]);
    const leave = this.#stream.read(tell, cursor === null ? undefined : (cursor as unknown as AnswerCursor));
    if (leave === undefined) this.#seen.push([reader, { refused: "cursor_ahead" }]);
    else this.#leave.set(reader, leave);
  }

  readonly #steps: { readonly [name: string]: (a: Json, b: Json) => void } = {
    read: (reader, cursor) => this.#read(String(reader), cursor),
    leave: (reader) => {
      this.#leave.get(String(reader))?.();
      this.#leave.delete(String(reader));
    },
    delta: (text) => this.#delta(String(text)),
    pass: (ms) => this.#pass(Number(ms)),
    fail: () => this.#fail(),
    crash: () => this.#crash(),
    answer: (text) => this.#answer(text),
    stopped: (text) => this.#stopped(text),
  };

  take([name, a = null, b = null]: Step): Json {
    this.#seen = [];
    this.#steps[knownName("step", name, Object.keys(this.#steps))]?.(a, b);
    this.#world.takeSeen();
    return this.#seen;
  }

  get records(): readonly Json[] {
    return this.#records;
  }

  /** The text of the end, if the turn has ended. */
  get text(): Json {
    const row = this.#world.state.requests.at("t1");
    const end = row?.phase === "replying" ? row.turn : undefined;
    return end !== undefined && "text" in end ? (end.text ?? "") : "";
  }
}

const stream = (input: Input): Json => {
  const reading = new Reading(input);
  const seen = (input["steps"] as unknown as readonly Step[]).map((step) => reading.take(step));
  return { seen, records: [...reading.records], text: reading.text };
};

export const streamAdapters = {
  "turn.stream": withFields(["checkpoint_chars", "checkpoint_ms", "continues", "steps"], (input: Input) =>
    E.right(stream(input)),
  ),
};
