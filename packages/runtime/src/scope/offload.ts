/**
 * Decides which values may be stored apart from the log, and what happens when the store does not take them. Values that
 * the core only hands on may go; what it reads itself stays in the event: texts of flows, outputs that a flow's steps or
 * a process go on with, and what processes and scopes tell each other.
 *
 * Events whose large values are on their way to the store are stepped once the values are stored, or recorded
 * without them: whoever waits for such an event hears of it, the scope goes on, and the host is told why.
 */
import type { Command, Event, EventType, State, EventOf, Rejection, Written } from "@pawl/sansio-core";
import { type EffectKind, type EffectSpec, awaitedEffects, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import { Refused, textOf } from "../error.ts";
import * as E from "fp-ts/lib/Either.js";
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import type { Offloaded } from "./large-values.ts";

export const notStored = "value_not_stored";

export const whyNotStored = "its store did not take it, perhaps for want of room";

export const refusedValue = (event: Event["type"]): Refused =>
  new Refused(notStored, `a value of \`${event}\` was not kept, and nothing was recorded: ${whyNotStored}`);

/** These are told by nobody who looks at what becomes of them at once: they may wait until their values are stored. */
export const waiting: readonly Event["type"][] = [
  "hook.ran",
  "call.prepared",
  "call.settled",
  "call.settled_late",
  "call.continued",
  "step.settled",
  "host.answered",
  "replies.recorded",
  "outcome.resolved",
  "result.projected",
];

/** Effects that may be recorded without their input. What goes to processes stays whole. */
const asked: ReadonlySet<EffectKind> = new Set<EffectKind>(["step", "host", "trigger", "batch"]);

export const mayWait = (event: Event): boolean =>
  waiting.includes(event.type) || (event.type === "effect.requested" && asked.has(event.effect.kind));

const handedOn: ReadonlySet<EventType> = new Set<EventType>([
  ...waiting,
  "request.submitted",
  "approval.decided",
  "effect.requested",
  "wait.resolved",
]);

const told: ReadonlySet<string> = new Set(["message", "event"]);

/** Says whether a call is a step of a flow. The core makes its arguments and reads its output. */
export const isStep = (state: State, call: string): boolean => {
  const request = state.calls.at(call)?.call.request;
  return request !== undefined && state.flows.has(request);
};

/**
 * Says whether a command carries the arguments of a flow's step. Until the step is prepared they are the core's own text:
 * nothing in them refers to a large value.
 */
export const isMadeByFlow = (state: State, command: Command): boolean => {
  switch (command.type) {
    case "args.check":
    case "tool.prepare":
      return isStep(state, command.call);
    case "hook.run":
      return command.phase === "before" && isStep(state, command.call);
    default:
      return false;
  }
};

/** Says whether the core reads the end of a call: of a flow's step, or in a process. */
const isRead = (event: Event, state: State): boolean => {
  switch (event.type) {
    case "call.settled":
    case "call.settled_late":
    case "call.prepared":
    case "hook.ran":
    case "outcome.resolved":
    case "call.continued":
      return state.process !== undefined || isStep(state, event.call);
    case "wait.resolved":
      return state.process !== undefined || state.flows.size > 0;
    default:
      return false;
  }
};

export const mayOffload = (event: Event, state: State): boolean => {
  if (!handedOn.has(event.type) || isRead(event, state)) return false;
  return event.type !== "effect.requested" || !told.has(event.effect.kind);
};

const withoutInput = (effect: EffectSpec): EffectSpec => {
  switch (effect.kind) {
    case "step":
    case "host":
    case "trigger":
      return { ...effect, input: null };
    case "batch":
      return { ...effect, calls: effect.calls.map((call) => ({ ...call, args: null })) };
    default:
      return effect;
  }
};

/** Replies cannot be other than their calls came to: the call whose body made the batch ends, which has to be at work. */
const endOfCall = (state: State, { call }: EventOf<"replies.recorded">, output: ToolCallOutput): Event | undefined => {
  const row = state.calls.at(call);
  if (row === undefined || bodyOf(row) === undefined) return undefined; // The call has ended meanwhile: nobody waits for them.
  if (row.phase !== "running") throw new Error(`replies for call \`${call}\` were not kept: ${whyNotStored}`);
  const { attempt, run } = row.body;
  const keys = hasRule(state.scope.protocol, "waits_for_effects") ? awaitedEffects(state, call) : [];
  const left = keys.length === 0 ? {} : { left: keys };
  return { type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 0, ...left };
};

/** Returns the event that is recorded instead of one of so many characters; undefined for what is only shown. */
const withoutValue = (event: Event, characters: number, state: State): Event | undefined => {
  const error = { code: notStored, message: `a value of ${characters} characters was not kept: ${whyNotStored}` };
  const output = failureOutput(runtimeFailure("resource_limit", notStored, error.message));
  switch (event.type) {
    case "call.settled":
      return { ...event, result: { type: "done", output } };
    case "call.continued": {
      const { call, attempt, run, left } = event;
      const settled = { type: "call.settled", call, attempt, run, result: { type: "done", output } } as const;
      return { ...settled, duration_ms: 0, ...(left === undefined ? {} : { left }) };
    }
    case "replies.recorded":
      return endOfCall(state, event, output);
    case "call.prepared":
      return { ...event, preparation: { type: "finished", output } };
    case "outcome.resolved":
      return { ...event, resolved: { type: "verified", output } };
    case "hook.ran":
      return { ...event, outcome: { status: "err", message: error.message } };
    case "result.projected":
      return { ...event, parts: [{ type: "text", text: error.message }] };
    case "effect.requested":
      return { ...event, effect: withoutInput(event.effect), refused: error };
    case "step.settled":
    case "host.answered":
      return { ...event, result: { status: "err", error } };
    default:
      return undefined;
  }
};

interface DeferringScope {
  readonly isAbandoned: boolean;
  readonly state: State;
  /** `storedForm`: the event as it is recorded. */
  readonly apply: (event: Event, storedForm?: Event) => E.Either<Rejection, Told>;
  readonly abandon: (why: string) => void;
}

/** Why a value was not stored is not for those who hear of it. */
export type Fault = (what: string, thrown: unknown) => void;

/** `later`: it fits, and is stepped when its values are stored; what it came to then, if anything was told. */
export type Told = Written & { readonly later?: Promise<E.Either<Rejection, Told> | undefined> };

export class DeferredEvents {
  readonly #scope: DeferringScope;
  readonly #fault: Fault;
  readonly #waiting = new Set<Promise<void>>();
  #over: PromiseWithResolvers<void> | undefined;

  constructor(scope: DeferringScope, fault: Fault) {
    this.#scope = scope;
    this.#fault = fault;
  }

  /** Resolves when none waits any more: all are told, or will never be; undefined where none waits. */
  get over(): Promise<void> | undefined {
    if (this.#waiting.size === 0) return undefined;
    this.#over ??= Promise.withResolvers();
    return this.#over.promise;
  }

  add(event: Event, { event: storedForm, stored }: Offloaded, written: Written): E.Either<never, Told> {
    const later = stored
      .then(
        () => this.#apply(event, storedForm),
        (thrown: unknown) => this.#without(event, written.line.length, thrown),
      )
      .catch((thrown: unknown) => void this.#scope.abandon(textOf(thrown)));
    const over: Promise<void> = later.then(() => this.#told(over));
    this.#waiting.add(over);
    return E.right({ ...written, later });
  }

  /** Nobody hears of them any more. */
  end(): void {
    this.#waiting.clear();
    this.#none();
  }

  #told(one: Promise<void>): void {
    this.#waiting.delete(one);
    if (this.#waiting.size === 0) this.#none();
  }

  #none(): void {
    this.#over?.resolve();
    this.#over = undefined;
  }

  #apply(event: Event, storedForm?: Event): E.Either<Rejection, Told> | undefined {
    return this.#scope.isAbandoned ? undefined : this.#scope.apply(event, storedForm);
  }

  #without(event: Event, characters: number, thrown: unknown): E.Either<Rejection, Told> | undefined {
    this.#fault(`a value of \`${event.type}\` was not stored`, thrown);
    const without = withoutValue(event, characters, this.#scope.state);
    return without === undefined ? undefined : this.#apply(without);
  }
}
