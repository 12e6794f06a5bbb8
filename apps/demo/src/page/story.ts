/** The story of a session, for its scene: a projection of its log alone. */
import { type Command, type Event, type State, follow, initial, recordedOf } from "@pawl/sansio-core";
import { type Json, noLimits, parse, valueForProjection } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import type { Line } from "../engine/message.ts";
import { TurnStory } from "../turn/turn-story.ts";

export interface StepStory {
  readonly name: string;
  readonly once: boolean;
  status: "doing" | "ok" | "err";
  value: Json;
  /** The time of its last start. */
  since: number;
  /** The time when its result was recorded. */
  until: number | undefined;
}

export interface CallStory {
  readonly ref: string;
  readonly tool: string;
  readonly args: Json;
  readonly steps: StepStory[];
  /** Set while the call needs approval: the arguments, and their hash. */
  approval: { readonly hash: string; readonly args: Json } | undefined;
  /** The decision, once it is made. */
  decision: string | undefined;
  phase: string;
  end: { readonly status: string; readonly value: Json } | undefined;
}

/** The steps that had started before a crash, by their fate. */
export interface Crash {
  readonly kept: number;
  /** Cut off, and started again. */
  readonly again: number;
  /** Cut off, and not repeated: they run at most once. */
  readonly left: number;
}

/** The tool that asks the model. It is not shown as one of the agent's tools. */
export const modelTool = "ask_model";

const nameOf = (key: string): string => key.replace(/^durable-step:/, "");

export class Story {
  #state: State;
  readonly calls: CallStory[] = [];
  readonly #byRef = new Map<string, CallStory>();
  /** The crashes so far: each time that a new owner took over a running session. */
  readonly crashes: Crash[] = [];
  /** The texts of the model, in order. */
  readonly words: string[] = [];
  readonly turn = new TurnStory();
  /** The messages to the session, from ended background runs and from schedules. */
  readonly messages: string[] = [];

  constructor(session: string) {
    this.#state = initial(`session:${session}`);
  }

  /** The agent has begun. */
  get isBegun(): boolean {
    return this.calls.length > 0 || this.turn.isBegun;
  }

  get state(): State {
    return this.#state;
  }

  take({ seq, line }: Line): void {
    const recorded = pipe(parse(line, noLimits), E.chain(recordedOf));
    if (E.isLeft(recorded)) throw new Error(`line ${seq}: ${recorded.left.message}`);
    const followed = follow(this.#state, recorded.right, seq);
    if (E.isLeft(followed)) throw new Error(followed.left.message);
    const { event } = recorded.right;
    if (event.type === "scope.opened" && this.#state.calls.rows().some(({ phase }) => phase === "running"))
      this.crashes.push(this.#crash());
    this.#state = followed.right.state;
    this.turn.take(event, followed.right.commands);
    if (this.turn.isBegun) this.#takeCalls();
    this.#apply(event, recorded.right.at);
    for (const command of followed.right.commands) this.#applyCommand(command);
    for (const call of this.calls) this.#refresh(call);
  }

  /** Takes the calls of a turn, which its model asks for. */
  #takeCalls(): void {
    for (const { call, tool, args } of this.#state.calls.rows()) {
      if (this.#byRef.has(call.ref)) continue;
      this.#begin(call.ref, tool, args);
      this.turn.called(call.ref);
    }
  }

  #crash(): Crash {
    const steps = this.calls.filter(({ tool }) => tool !== modelTool).flatMap((call) => call.steps);
    const cut = steps.filter(({ status }) => status === "doing");
    const left = cut.filter(({ once }) => once).length;
    return { kept: steps.length - cut.length, again: cut.length - left, left };
  }

  #refresh(call: CallStory): void {
    const row = this.#state.calls.at(call.ref);
    call.phase = row?.phase ?? "completed";
    call.approval = row?.phase === "awaiting_approval" ? { hash: row.approval.argsHash, args: row.args } : undefined;
  }

  #apply(event: Event, at: number): void {
    switch (event.type) {
      case "request.submitted":
        for (const { id, tool, args } of event.calls) this.#begin(`${event.request}:${id}`, tool, args);
        return;
      case "effect.requested":
        if (event.effect.kind === "step") {
          const once = event.effect.recovery === "once";
          this.#byRef
            .get(event.call)
            ?.steps.push({ name: nameOf(event.key), once, status: "doing", value: null, since: at, until: undefined });
        }
        return;
      case "step.settled": {
        const step = this.#byRef.get(event.call)?.steps.find(({ name }) => name === nameOf(event.key));
        if (step !== undefined) {
          step.status = event.result.status;
          step.until = at;
          step.value = event.result.status === "ok" ? event.result.value : event.result.error.message;
        }
        return this.#addWords(event);
      }
      case "call.resumed":
        for (const step of this.#byRef.get(event.call)?.steps ?? []) if (step.status === "doing") step.since = at;
        return;
      case "approval.decided": {
        const call = this.#byRef.get(event.call);
        if (call !== undefined) call.decision = event.decision.type;
        return;
      }
      default:
        return;
    }
  }

  #begin(ref: string, tool: string, args: Json): void {
    const call: CallStory = {
      ref,
      tool,
      args,
      steps: [],
      approval: undefined,
      decision: undefined,
      phase: "requested",
      end: undefined,
    };
    this.calls.push(call);
    this.#byRef.set(ref, call);
  }

  #applyCommand(command: Command): void {
    if (command.type === "session.tell") this.messages.push(command.text);
    if (command.type !== "observe" || command.what !== "call_completed" || command.output === undefined) return;
    const call = this.#byRef.get(command.call);
    const { output } = command;
    if (call !== undefined) call.end = { status: output.outcome.status, value: valueForProjection(output) };
  }

  #addWords(event: Extract<Event, { readonly type: "step.settled" }>): void {
    const { result } = event;
    if (this.#byRef.get(event.call)?.tool !== modelTool || result.status !== "ok") return;
    const { text } = result.value as { readonly text?: Json };
    if (typeof text === "string") this.words.push(text);
  }
}
