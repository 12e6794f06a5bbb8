/** A span for each attempt of a model call, below that of its turn. An answer that is read from the record makes none. */
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { CommandOf, Event, State } from "@pawl/sansio-core";
import type { Route } from "@pawl/sansio-core/driver";
import { type Attributes, answerAttributes, chatAttributes, usageAttributes } from "./gen-ai.ts";

type Attempt = Pick<CommandOf<"model.ask">, "request" | "n" | "attempt">;

const nameOf = ({ request, n, attempt }: Attempt): string => JSON.stringify([request, n, attempt]);

export class ModelSpans {
  readonly #tracer: Tracer;
  readonly #scope: string;
  readonly #turn: (at: number, request: string) => Context;
  readonly #open = new Map<string, Span>();

  /** `turn` returns the context of a turn's span. */
  constructor(tracer: Tracer, scope: string, turn: (at: number, request: string) => Context) {
    this.#tracer = tracer;
    this.#scope = scope;
    this.#turn = turn;
  }

  asked(at: number, command: CommandOf<"model.ask">, { conversation }: State): void {
    this.#start(at, command, conversation.running?.agent?.routes[command.route]);
  }

  #start(at: number, attempt: Attempt, route: Route | undefined): Span {
    const attributes: Attributes = {
      "pawl.scope": this.#scope,
      "pawl.request": attempt.request,
      "pawl.model_call": attempt.n,
      "pawl.attempt": attempt.attempt,
      ...chatAttributes(this.#scope.replace(/^session:/, ""), route),
    };
    const name = route === undefined ? "chat" : `chat ${route.model}`;
    const parent = this.#turn(at, attempt.request);
    const span = this.#tracer.startSpan(name, { startTime: at, kind: SpanKind.CLIENT, attributes }, parent);
    this.#open.set(nameOf(attempt), span);
    return span;
  }

  /** Returns the span of an attempt that ends. One that a new owner asked for as it opened the scope begins late. */
  #spanOf(at: number, event: Attempt & { readonly ms: number }, { conversation: { running } }: State): Span {
    return this.#open.get(nameOf(event)) ?? this.#start(at - event.ms, event, running?.agent?.routes[running.route]);
  }

  onEvent(at: number, event: Event, state: State): void {
    switch (event.type) {
      case "model.answered":
        this.#spanOf(at, event, state);
        return this.#end(at, event, answerAttributes(event));
      case "model.failed":
        this.#spanOf(at, event, state).setStatus({ code: SpanStatusCode.ERROR, message: event.class });
        return this.#end(at, event, { "error.type": event.class, ...usageAttributes(event.usage ?? {}) });
      case "model.stopped":
        return this.#end(at, event, usageAttributes(event.usage ?? {}));
      default:
        return undefined;
    }
  }

  #end(at: number, attempt: Attempt, attributes: Attributes): void {
    const span = this.#open.get(nameOf(attempt));
    this.#open.delete(nameOf(attempt));
    span?.setAttributes(attributes).end(at);
  }

  /** Ends the attempts that the next owner asks for again. */
  lost(at: number): void {
    for (const span of this.#open.values()) span.setAttribute("pawl.lost", true).end(at);
    this.#open.clear();
  }
}
