/**
 * OpenTelemetry spans from the steps of a runtime: a batch for each request, a call for each call in it, an effect for
 * each request of a body, and a commit for each append to the store. They carry ids, names, codes and times, and values only
 * where a host asks for content.
 *
 *   (the caller's span) ─▶ pawl.batch ─▶ execute_tool ─▶ pawl.effect ─▶ execute_tool of a batch that the body made
 *                       └▶ invoke_agent ─▶ chat, for each attempt of a model call
 *                                      └▶ execute_tool, for each call of an answer
 *
 * A commit is below the batch that it is for; one that several batches share is a root, with a link to each.
 *
 * A span lives in the memory of one process. A call that continues after a crash gets a new span, marked as resumed, in
 * the trace of its first run and linked to it: the request records the caller's span, or its own batch's span if the caller has
 * none. A turn is a request as well: its span is `invoke_agent` in place of `pawl.batch`.
 */
import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { Telemetry } from "@pawl/runtime";
import type { CommandOf, Command, Event, EventOf, State } from "@pawl/sansio-core";
import { requestBatch } from "@pawl/sansio-core/driver";
import type { CommitContexts } from "./commit.ts";
import { type Attributes, agentAttributes, describeOutcome, toolAttributes, toolContent } from "./gen-ai.ts";
import { ModelSpans } from "./model-spans.ts";
import { parentOf, traceparentOf } from "./traceparent.ts";

type Observe = CommandOf<"observe">;
const inBatch = /^(?<maker>.+)\/(?:life:\d+:)?tool-batch:[^/]+\/[^/]+$/s;

/** Returns the call whose body made a call, by the name that the batch gave it. */
const makerOf = (call: string): string | undefined => inBatch.exec(call)?.groups?.["maker"];

/** Returns the batch of a call. */
const batchOf = (call: string): string => call.slice(0, call.indexOf(":") + 1);

const mostReplied = 16;

/** Options of spans. */
export interface SpanOptions {
  /** Puts arguments and results of tools into their spans. */
  readonly content?: boolean;
}

class ScopeSpans {
  readonly #tracer: Tracer;
  readonly #scope: string;
  readonly #options: SpanOptions;
  readonly #models: ModelSpans;
  readonly #batches = new Map<string, Span>();
  readonly #calls = new Map<string, Span>();
  /** Spans of open effects, by call and key. */
  readonly #effects = new Map<string, Map<string, Span>>();
  /** The effect that made a call, for calls of a body's batch. */
  readonly #makers = new Map<string, Span>();
  /** Contexts of batches that began in another process. */
  readonly #resumed = new Map<string, Context>();
  /** Contexts of batches that have ended since the last commit. */
  #ended: readonly Context[] = [];
  /** Contexts of the last batches whose replies nobody has acknowledged yet. */
  readonly #replied = new Map<string, Context>();
  /** The batch that is about to be submitted. */
  #nextBatch: { readonly request: string; readonly span: Span } | undefined;

  constructor(tracer: Tracer, scope: string, options: SpanOptions) {
    this.#tracer = tracer;
    this.#scope = scope;
    this.#options = options;
    this.#models = new ModelSpans(tracer, scope, (at, request) => this.#turn(at, request));
  }

  /** The name of the session, or of the process. */
  get #conversation(): string {
    return this.#scope.replace(/^session:/, "");
  }

  get isEmpty(): boolean {
    const { size } = this.#batches;
    const isDone = size === 0 && this.#calls.size === 0 && this.#resumed.size === 0;
    return isDone && this.#ended.length === 0 && this.#replied.size === 0;
  }

  /** Takes the contexts of the batches that a commit of this scope is for. */
  takeContexts(): readonly Context[] {
    const live = [...this.#batches.values()].map((span) => trace.setSpan(ROOT_CONTEXT, span));
    const contexts = [...live, ...this.#resumed.values(), ...this.#ended];
    this.#ended = [];
    return contexts;
  }

  #start(name: string, at: number, attributes: Attributes, parent: Context): Span {
    const linked = attributes["pawl.resumed"] === true ? trace.getSpanContext(parent) : undefined;
    const links = linked === undefined ? [] : [{ context: linked }];
    return this.#tracer.startSpan(
      name,
      { startTime: at, attributes: { "pawl.scope": this.#scope, ...attributes }, links },
      parent,
    );
  }

  /** Starts the span of a batch without a parent. Returns its traceparent, to be recorded. */
  begins(request: string): string | undefined {
    const span = this.#start("pawl.batch", Date.now(), { "pawl.request": request }, ROOT_CONTEXT);
    const traceparent = traceparentOf(span);
    if (traceparent !== undefined) this.#nextBatch = { request, span };
    return traceparent;
  }

  resumes(spans: ReadonlyMap<string, string>): void {
    for (const [request, span] of spans) this.#resumed.set(requestBatch(request), parentOf(span));
  }

  onEvent(at: number, event: Event, state: State): void {
    this.#models.onEvent(at, event, state);
    switch (event.type) {
      case "turn.submitted":
        return this.#onTurn(at, event, state);
      case "request.submitted":
        return this.#onSubmitted(at, event);
      case "flow.submitted":
        return this.#startBatch(at, event.request, {}, ROOT_CONTEXT);
      case "reply.acked":
        return this.#onAcked(event.request);
      case "call.resumed":
        return void this.#call(at, event.call, { "pawl.resumed": true });
      case "effect.requested":
        return this.#startEffect(at, event);
      case "step.settled":
        if (event.result.status === "err") this.#failEffect(event.call, event.key, event.result.error.code);
        return undefined;
      default:
        return undefined;
    }
  }

  #onSubmitted(at: number, { request, calls, traceparent }: EventOf<"request.submitted">): void {
    const next = this.#nextBatch;
    this.#nextBatch = undefined;
    if (next?.request !== request)
      return this.#startBatch(at, request, { "pawl.calls": calls.length }, parentOf(traceparent));
    next.span.setAttribute("pawl.calls", calls.length);
    this.#batches.set(requestBatch(request), next.span);
  }

  #onTurn(at: number, { request, traceparent, agent }: EventOf<"turn.submitted">, { conversation }: State): void {
    const next = this.#nextBatch;
    this.#nextBatch = undefined;
    const name = agent ?? conversation.frames.get(conversation.frame)?.agent;
    const attributes = { "pawl.request": request, ...agentAttributes(this.#conversation, name) };
    const span = next?.request === request ? next.span : this.#start("invoke_agent", at, {}, parentOf(traceparent));
    span.setAttributes(attributes).updateName(name === undefined ? "invoke_agent" : `invoke_agent ${name}`);
    this.#batches.set(requestBatch(request), span);
  }

  /** Returns the context of a turn's span, which begins again where another process has begun it. */
  #turn(at: number, request: string): Context {
    const batch = requestBatch(request);
    const resumed = this.#resumed.get(batch) ?? ROOT_CONTEXT;
    const attributes = {
      "pawl.request": request,
      "pawl.resumed": true,
      ...agentAttributes(this.#conversation, undefined),
    };
    const span = this.#batches.get(batch) ?? this.#start("invoke_agent", at, attributes, resumed);
    this.#batches.set(batch, span);
    return trace.setSpan(ROOT_CONTEXT, span);
  }

  /** Keeps the context of a batch for the commits of its reply and of its acknowledgement. */
  #replies(request: string, context: Context): void {
    this.#ended = [...this.#ended, context];
    this.#replied.set(request, context);
    const [oldest] = this.#replied.keys();
    if (this.#replied.size > mostReplied && oldest !== undefined) this.#replied.delete(oldest);
  }

  #onAcked(request: string): void {
    const context = this.#replied.get(request);
    this.#replied.delete(request);
    if (context !== undefined) this.#ended = [...this.#ended, context];
  }

  #startBatch(at: number, request: string, attributes: Attributes, parent: Context): void {
    const span = this.#start("pawl.batch", at, { "pawl.request": request, ...attributes }, parent);
    this.#batches.set(requestBatch(request), span);
  }

  #call(at: number, call: string, attributes: Attributes): Span {
    const known = this.#calls.get(call);
    if (known !== undefined) return known;
    const above = this.#makers.get(call) ?? this.#resumedMaker(at, call) ?? this.#batches.get(batchOf(call));
    const resumed = this.#resumed.get(batchOf(call)) ?? ROOT_CONTEXT;
    const parent = above === undefined ? resumed : trace.setSpan(ROOT_CONTEXT, above);
    const span = this.#start("execute_tool", at, { "pawl.call": call, ...attributes }, parent);
    this.#calls.set(call, span);
    return span;
  }

  /** A call of a body whose batch was made in another process: the span of that body's call begins again first. */
  #resumedMaker(at: number, call: string): Span | undefined {
    const maker = makerOf(call);
    return maker === undefined ? undefined : this.#call(at, maker, { "pawl.resumed": true });
  }

  #startEffect(at: number, { call, key, effect }: EventOf<"effect.requested">): void {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#call(at, call, { "pawl.resumed": true }));
    const attributes = { "pawl.call": call, "pawl.effect": effect.kind, "pawl.key": key };
    const span = this.#start("pawl.effect", at, attributes, parent);
    const effects = this.#effects.get(call) ?? new Map<string, Span>();
    this.#effects.set(call, effects.set(key, span));
    if (effect.kind !== "batch") return;
    for (const { id } of effect.calls) this.#makers.set(`${call}/${key}/${id}`, span);
  }

  #failEffect(call: string, key: string, code: string): void {
    this.#effects.get(call)?.get(key)?.setStatus({ code: SpanStatusCode.ERROR, message: code });
  }

  onCommand(at: number, command: Command, state: State): void {
    switch (command.type) {
      case "model.ask":
        return this.#models.asked(at, command, state);
      case "observe":
        return this.#onObserved(at, command);
      case "step.answer":
        return this.#endEffect(at, command.call, command.key);
      case "reply": {
        const batch = requestBatch(command.request);
        const span = this.#batches.get(batch);
        const context = span === undefined ? this.#resumed.get(batch) : trace.setSpan(ROOT_CONTEXT, span);
        span?.end(at);
        if (context !== undefined) this.#replies(command.request, context);
        this.#batches.delete(batch);
        this.#resumed.delete(batch);
        return undefined;
      }
      default:
        return undefined;
    }
  }

  #onObserved(at: number, { what, call, tool, call_id: callId, args, output }: Observe): void {
    if (what !== "call_started" && what !== "call_completed") return;
    const span = this.#call(at, call, {}).updateName(`execute_tool ${tool}`);
    span.setAttributes({ "pawl.tool": tool, ...toolAttributes(tool, callId) });
    if (what !== "call_completed") return;
    if (output !== undefined) describeOutcome(span, output);
    if (output !== undefined && this.#options.content === true) span.setAttributes(toolContent(args, output));
    for (const key of this.#effects.get(call)?.keys() ?? []) this.#endEffect(at, call, key);
    span.end(at);
    this.#calls.delete(call);
    this.#effects.delete(call);
    this.#makers.delete(call);
  }

  #endEffect(at: number, call: string, key: string): void {
    this.#effects.get(call)?.get(key)?.end(at);
    this.#effects.get(call)?.delete(key);
  }

  /** Ends all spans: another process continues the work. */
  lost(at: number): void {
    const effects = [...this.#effects.values()].flatMap((spans) => [...spans.values()]);
    this.#models.lost(at);
    for (const span of [...effects, ...this.#calls.values(), ...this.#batches.values()]) {
      span.setAttribute("pawl.lost", true);
      span.end(at);
    }
  }
}

/** Makes spans from the steps of a runtime. */
export const spansOf = (tracer: Tracer, options: SpanOptions = {}): Telemetry & CommitContexts => {
  const scopes = new Map<string, ScopeSpans>();
  const spansAt = (scope: string): ScopeSpans => {
    const spans = scopes.get(scope) ?? new ScopeSpans(tracer, scope, options);
    scopes.set(scope, spans);
    return spans;
  };
  return {
    begins: (scope, request) => spansAt(scope).begins(request),
    resumes: (scope, recorded) => spansAt(scope).resumes(recorded),
    stepped: (scope, { at, event }, commands, state) => {
      const spans = spansAt(scope);
      spans.onEvent(at, event, state);
      for (const command of commands) spans.onCommand(at, command, state);
      if (spans.isEmpty) scopes.delete(scope);
    },
    takeContexts: (scope) => {
      const spans = scopes.get(scope);
      const contexts = spans?.takeContexts() ?? [];
      if (spans?.isEmpty === true) scopes.delete(scope);
      return contexts;
    },
    lost: (scope) => {
      scopes.get(scope)?.lost(Date.now());
      scopes.delete(scope);
    },
  };
};
