/**
 * The vocabulary of the machine. A step takes the state and an event, and gives the next state and commands:
 *
 *   event     happened. Events are the only thing that is recorded.
 *   state     the state of a scope: opaque, persistent, and a pure function of its log. Each concern has its rows in it.
 *   command   is asked of the world. Commands are derived, never recorded; their duties say when to perform them.
 *   signal    is told by one concern to another within a step. Concerns never call each other: they raise signals, which
 *             `machine.ts` routes. Each concern declares the signals that it hears, and which its handlers may raise.
 *
 * The rows of calls and batches are named by refs, which are made of names that the caller gave: one event more or less
 * renames nothing else.
 */
import type { Command, Event, Signal, State } from "../concerns.ts";

/** A call in its scope: `{request}:{name}`. The name is the call id at the top, `{parent}/{batch}/{id}` below. */
export type CallRef = string & { readonly __brand: "CallRef" };

/** A batch in its scope: a request, a step of a flow, or the effect of a body that made it. */
export type BatchRef = string & { readonly __brand: "BatchRef" };

/** A request id may be any text; a colon in it is escaped, so that two calls never have one ref. */
const escapeRequest = (request: string): string => request.replaceAll("%", "%25").replaceAll(":", "%3A");

/** Names a live call by its request and its own id. */
export const callRef = (request: string, name: string): CallRef => `${escapeRequest(request)}:${name}` as CallRef;

/** Names the batch of a request's calls. */
export const requestBatch = (request: string): BatchRef => `${escapeRequest(request)}:` as BatchRef;

/** The batch of a step of a flow, which has one call. */
export const stepBatch = (request: string, id: string): BatchRef => `${callRef(request, id)}:` as BatchRef;
/** The batch of the calls of an answer: that of the n-th model call of a turn. */
export const answerBatch = (request: string, n: number): BatchRef => stepBatch(request, `m${n}`);
export const effectBatch = (call: CallRef, key: string): BatchRef => `${call}/${key}` as BatchRef;

/** Names a stream of a call, for those who read it once the call is over. */
export const streamId = (call: string, name: string): string =>
  `${call}/${name.replaceAll("%", "%25").replaceAll("/", "%2F")}`;

/** Owners that keep a lease of their own: a scope's new epoch says nothing of them. */
export const isExecutor = (owner: string): boolean => owner.startsWith("executor:");

// Events.

export type { Event };
export type EventType = Event["type"];
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;

/** An event with its place in the log and its time. */
export interface Envelope {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

/**
 * Names a row that left the state with this event, for the journal's finished index. A wait that its call's end or its own time
 * closed, or that nobody ever resolved, has a mark beside it: the event that ended it does not say how.
 */
export interface Finished {
  readonly kind:
    | "request"
    | "call"
    | "wait"
    | "wait_timed_out"
    | "wait_left"
    | "link"
    | "wake"
    | "task"
    | "schedule"
    | "stream";
  readonly id: string;
  /** For a wait: the event that resolved it, where that came before the one with which it left. */
  readonly seq?: number;
}

// The state.

export type { State };

/** The place and time of the last event; the next one stands at `seq + 1`. */
export interface Place {
  readonly seq: number;
  readonly at: number;
}

// Signals.

export type { Signal };
export type SignalType = Signal["type"];
export type SignalOf<T extends SignalType> = Extract<Signal, { readonly type: T }>;

// Commands.

export type { Command };
export type CommandType = Command["type"];
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>;

/** A command that is issued again, and where in the log it was asked for. */
export interface Born {
  readonly born: number;
  readonly index: number;
  readonly command: Command;
}

export interface Duty {
  readonly performed: "at_once" | "durable" | "when_leased";
  readonly afterLoss: "again" | "counted" | "never" | "when_asked" | "until_acknowledged" | "from_the_log" | "parked";
  readonly answeredBy: string | undefined;
}

/** Performed at once, and again after a loss, until this event answers it. */
export const answered = (by: string): Duty => ({ performed: "at_once", afterLoss: "again", answeredBy: by });

/** Told to a running body, which reads it from the log when it runs again. */
export const toBody: Duty = { performed: "at_once", afterLoss: "from_the_log", answeredBy: undefined };

/** Performed when its event is durable, again and again until this event acknowledges it. */
export const untilAcked = (by: string): Duty => ({
  performed: "durable",
  afterLoss: "until_acknowledged",
  answeredBy: by,
});

/** Shown to observers, who read from the log what they have missed. */
export const observed: Duty = { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined };

/** Told to a caller, who asks again. */
export const toCaller: Duty = { performed: "durable", afterLoss: "when_asked", answeredBy: undefined };
