/**
 * A concern is one record: the events that it takes, the signals that it hears, the commands that it asks for, its
 * deadlines, what it asks for again after a loss, its invariants and its rows. `concerns.ts` lists them, and
 * `machine.ts` derives the core from the list. To add one, write its folder and name it in `concerns.ts`.
 */
import type { Fields } from "@pawl/tool-value";
import type {
  Born,
  Command,
  CommandOf,
  CommandType,
  Duty,
  EventOf,
  EventType,
  SignalOf,
  SignalType,
  State,
} from "./kernel/vocabulary.ts";
import type { Due } from "./kernel/deadline.ts";
import type { Lanes } from "./kernel/digest.ts";
import type { Draft } from "./kernel/draft.ts";
import type { Rejection } from "./kernel/error.ts";
import type { ProtocolRule } from "./kernel/protocol.ts";

export interface EventRule<T extends EventType> {
  readonly fields: Fields<Omit<EventOf<T>, "type">>;
  /** The rule of a later protocol that brought the event. A scope without the rule refuses it. */
  readonly since?: ProtocolRule;
  /** Fields that later rules brought. They are optional, and a scope without the rule refuses them. */
  readonly fieldsSince?: { readonly [F in keyof Omit<EventOf<T>, "type">]?: ProtocolRule };
  /** Looks the event up, decides, and only then writes and emits; or rejects it, and nothing has happened. */
  on(draft: Draft, event: EventOf<T>): Rejection | undefined;
}

export interface SignalRule<T extends SignalType> {
  /** Which signals the handler may raise. No signal may lead back to itself. */
  readonly raises: readonly SignalType[];
  on(draft: Draft, signal: SignalOf<T>): void;
}

export interface CommandRule<T extends CommandType> {
  /** Begins the digest of the command. A number that was used once is never given to another. */
  readonly tag: number;
  readonly duty: Duty | { of(command: CommandOf<T>): Duty };
  /** Writes what tells the command from others of its type; its form is frozen with the protocol. */
  digest(lanes: Lanes, command: CommandOf<T>): void;
}

/** Deadlines of a concern's rows. */
export interface DueSource {
  next(state: State): Due | undefined;
  /** Called after each event, and before time passes: drops deadlines that no row has any more. */
  tidy?(draft: Draft): void;
  /** Called when the first deadline has passed; sets a new one, or none. */
  on(draft: Draft, key: string): void;
}

/** Returns what is broken in a state, if anything is. `issued`: the commands that are outstanding. */
export type Check = (state: State, issued: readonly Command[]) => string | undefined;
/** A check that looks at the state alone. */
export type StateCheck = (state: State) => string | undefined;
/** Returns what is broken in a step from one state to the next, if anything is. */
export type ChangeCheck = (before: State, after: State) => string | undefined;

/** Rows in a snapshot: plain JSON, in an order that the rows give. */
export interface SnapshotPart<Shape extends object, Rows> {
  readonly fields: Fields<Shape>;
  write(state: State): Shape;
  /** Returns undefined where two rows have one name. */
  read(shape: Shape): Rows | undefined;
}

export interface Concern<
  Rows extends Partial<State> = {},
  Own extends EventType = never,
  Heard extends SignalType = never,
  Asks extends CommandType = never,
> {
  readonly name: string;
  readonly events: { readonly [T in Own]: EventRule<T> };
  readonly signals: { readonly [T in Heard]: SignalRule<T> };
  readonly commands: { readonly [T in Asks]: CommandRule<T> };
  readonly due?: DueSource;
  /** Returns the commands to issue again after a loss: of a live state and of one folded from its log the same. */
  readonly outstanding?: (state: State) => readonly Born[];
  /** Returns whether the scope has to be looked after though nobody asks for it. */
  readonly isAtWork?: (state: State) => boolean;
  readonly checks: readonly Check[];
  /** The rows of a scope in which nothing has happened yet. */
  readonly rows: Rows;
  /** Left out where the rows stand in the snapshot of calls. */
  readonly snapshot?: SnapshotPart<object, Partial<Rows>>;
}
