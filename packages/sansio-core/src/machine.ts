/**
 * The core: `step` takes a state and an event, and gives the next state and the commands that follow from it.
 *
 * It is pure, synchronous and total: the same state and event give the same result on every platform, for ever within
 * one protocol. An event that does not fit is a typed `Rejection`, and the state stands; `Invariant`, the only thing
 * that is thrown, says that the core itself is wrong. Nothing here does IO, keeps time or draws random numbers: a driver
 * records the event, then performs the commands, and reports what came of them as further events.
 *
 * A step does five things, in this order:
 *
 *   1  admit    the envelope fits: its sequence is the next, its time is not earlier, its scope takes events of its protocol
 *   2  time     deadlines at or before `at` pass, earliest first, before the event is looked at
 *   3  handle   one concern looks the event up, decides, and only then writes and emits; or it rejects the event
 *   4  route    signals go between concerns, first in, first out, until there are none; deferred ones come last
 *   5  finish   the draft becomes the state
 *
 * Time comes before the event, so that a deadline that passed at 10 has passed for an event of 11, whichever of them
 * reached the driver first. Deadlines pass by (time, sequence that set them, key): by data alone, never by the order of a
 * map. At most `expire_at_once` pass in one step; the next step goes on with the rest. While a scope moves, none pass.
 *
 * An event is handled before signals are routed, so a rejected event leaves nothing behind: its draft is thrown away. A
 * handler never writes before its last refusal. Signals carry on from there and cannot be refused. Their routing graph
 * (`raises`) has no cycle, so routing ends. A step of a flow is the exception: it raises again what led to it. So its end
 * is deferred until all else is quiet, and every flow counts the nodes that it comes to: there is an end to that too.
 *
 * Commands leave in the order in which handlers emitted them, which depends on data alone. Each has a duty: perform it at
 * once, when its event is durable, or while the lease holds. A driver may step ahead of its journal, but answers nobody
 * and performs no durable command before the event that led to it is stored. `dutyOf` says which; nothing else decides it.
 *
 * After a crash the state is folded from the log, and `outstanding` lists the commands to issue again, oldest first: of
 * a live state and of a folded one the same, at any prefix of the log. A running body is not among them: it asks again
 * for what it needs, and is answered from the log (`ask`). Owners that are gone are an event, `scope.opened` or
 * `owner.lost`, and what that means for their calls is decided by that event, not by recovery.
 *
 * The digest of an event's commands and of the next deadline stands beside the event in the log. Replay compares it, and
 * so finds the first event after which today's code acts otherwise than the code that recorded it.
 *
 * Nothing in this file names a concern. Each is a record in `concerns.ts`; the tables below are made of the list, once.
 */
import { type Codec, tagged } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { CommandRule, DueSource, EventRule, SignalRule } from "./concern.ts";
import { concerns } from "./concerns.ts";
import type {
  Born,
  Command,
  CommandType,
  Duty,
  Envelope,
  Event,
  EventType,
  Finished,
  Signal,
  SignalType,
  State,
} from "./kernel/vocabulary.ts";
import { type Deadline, type Due, earlierOf } from "./kernel/deadline.ts";
import { Lanes } from "./kernel/digest.ts";
import { Draft } from "./kernel/draft.ts";
import { type Rejection, Invariant } from "./kernel/error.ts";
import { type ProtocolRule, missingRule, newestProtocol } from "./kernel/protocol.ts";
import { admit } from "./scope/concern.ts";

/** The result of a step. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** Rows that left the state, for the journal's finished index. */
  readonly finished: readonly Finished[];
}

type Kind = "events" | "signals" | "commands" | "rows";
type Every<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void ? All : never;

/** Puts the parts of all concerns into one. What a concern leaves out is missing in its type, and does not compile. */
const merged = <K extends Kind>(kind: K): Every<(typeof concerns)[number][K]> =>
  Object.assign({}, ...concerns.map((concern) => concern[kind])) as Every<(typeof concerns)[number][K]>;

const eventRules: { readonly [T in EventType]: EventRule<T> } = merged("events");
const signalRules: { readonly [T in SignalType]: SignalRule<T> } = merged("signals");
const commandRules: { readonly [T in CommandType]: CommandRule<T> } = merged("commands");

/**
 * Returns the same fields, laid out within one object. An object that grew field by field keeps most of them in a second
 * one, and so does each copy of it; a parsed one has room for all. Every step copies the state.
 */
const compact = <A extends object>(fields: A): A => {
  const room = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
  return Object.assign(JSON.parse(JSON.stringify(room)) as A, fields);
};
const nowhere: State = compact({ seq: 0, at: 0, ...merged("rows") });

const tableOf = <Rule>(rules: { readonly [type: string]: Rule }): ((type: string) => Rule) => {
  const table: ReadonlyMap<string, Rule> = new Map(Object.entries(rules));
  return (type) => {
    const rule = table.get(type);
    if (rule === undefined) throw new Invariant(`no concern knows \`${type}\``);
    return rule;
  };
};

/** The rule of an event as a step reads it: each has all fields, so that reading one costs the same for every event. */
interface StepRule {
  readonly since: ProtocolRule | undefined;
  readonly youngFields: readonly (readonly [field: string, since: ProtocolRule])[];
  readonly on: (draft: Draft, event: Event) => Rejection | undefined;
}
const stepRuleOf = ({ since, fieldsSince = {}, on }: EventRule<EventType>): StepRule => ({
  since,
  youngFields: Object.entries<ProtocolRule>(fieldsSince),
  on: on as StepRule["on"],
});
const eventRule = tableOf<StepRule>(
  Object.fromEntries(
    Object.entries(eventRules).map(([type, rule]) => [type, stepRuleOf(rule as EventRule<EventType>)]),
  ),
);
const signalRule = tableOf<{ on(draft: Draft, signal: Signal): void }>(signalRules);
const commandRule = tableOf<{
  readonly tag: number;
  readonly duty: Duty | { of(command: Command): Duty };
  digest(lanes: Lanes, command: Command): void;
}>(commandRules);
const dueSources: readonly DueSource[] = concerns.flatMap((concern) => ("due" in concern ? (concern.due ?? []) : []));

/** Sources are folded into one function, not walked through: each call in it has one target, which can be inlined. */
const firstDue = dueSources
  .map(({ next }) => next)
  .reduce((one, other) => (state) => earlierOf(one(state), other(state)));

const tidyDues = dueSources
  .flatMap(({ tidy }) => tidy ?? [])
  .reduce((one, other) => (draft) => {
    one(draft);
    other(draft);
  });

/** Decodes and encodes events: one union, its member picked by the tag. */
export const EventCodec: Codec<Event> = tagged<Event, "type">(
  "Event",
  "type",
  Object.fromEntries(Object.entries(eventRules).map(([type, { fields }]) => [type, fields])) as EventFields,
);
type EventFields = { readonly [T in EventType]: EventRule<T>["fields"] };

/** Which signals the handler of each may raise. */
export const raises = Object.fromEntries(Object.entries(signalRules).map(([type, rule]) => [type, rule.raises])) as {
  readonly [T in SignalType]: readonly SignalType[];
};

/** Returns the state of a scope that nobody has opened yet. */
export const initial = (scope: string): State => ({
  ...nowhere,
  scope: { ...nowhere.scope, id: scope },
});

const routeAll = (draft: Draft): void => {
  for (let signal = draft.nextSignal(); signal !== undefined; signal = draft.nextSignal()) {
    signalRule(signal.type).on(draft, signal);
  }
};

/** Refuses an event, or a field of it, that the protocol of its scope does not have. The newest has them all. */
const tooYoung = ({ since, youngFields }: StepRule, { scope }: State, event: Event): Rejection | undefined => {
  const { protocol } = event.type === "scope.opened" ? event : scope;
  if (protocol >= newestProtocol) return undefined;
  const missing = since && missingRule(protocol, since, `\`${event.type}\``);
  if (missing !== undefined) return missing;
  for (const [field, rule] of youngFields) {
    if ((event as { readonly [field: string]: unknown })[field] === undefined) continue;
    const refused = missingRule(protocol, rule, `\`${field}\` of \`${event.type}\``);
    if (refused !== undefined) return refused;
  }
  return undefined;
};

const passTime = (draft: Draft): void => {
  if (draft.scope.status.type !== "open") return;
  for (let count = 0; count < draft.options.expire_at_once; count++) {
    tidyDues(draft);
    const due = firstDue(draft.state);
    if (due === undefined || due.at > draft.at) return;
    dueSources.find((source) => source.next(draft.state) === due)?.on(draft, due.key);
    routeAll(draft);
  }
};

/** Takes an event in a state: returns the next state with its commands, or the reason why the event does not fit. */
export const step = (state: State, { seq, at, event }: Envelope): E.Either<Rejection, Transition> => {
  const problem = admit(state, { seq, at, event });
  if (problem !== undefined) return E.left(problem);
  const rule = eventRule(event.type);
  const young = tooYoung(rule, state, event);
  if (young !== undefined) return E.left(young);
  const draft = new Draft(state, seq, at);
  passTime(draft);
  const rejection = rule.on(draft, event);
  if (rejection !== undefined) return E.left(rejection);
  routeAll(draft);
  tidyDues(draft);
  return E.right({ state: draft.state, commands: draft.commands, finished: draft.finished });
};

/** Returns when this scope has to be looked at again, if nothing else happens before, and which row asks for it. */
export const nextDeadline = (state: State): Due | undefined => {
  const first = firstDue(state);
  return first === undefined ? undefined : { at: first.at, birth: first.birth, key: first.key };
};

/** Returns what a driver owes a command. */
export const dutyOf = (command: Command): Duty => {
  const { duty } = commandRule(command.type);
  return "of" in duty ? duty.of(command) : duty;
};

const lanesOf = (protocol: number, commands: readonly Command[], deadline: Deadline | undefined): Lanes => {
  const lanes = new Lanes(protocol);
  lanes.word(commands.length);
  for (const command of commands) {
    const rule = commandRule(command.type);
    lanes.word(rule.tag);
    rule.digest(lanes, command);
  }
  return deadline === undefined ? lanes.absent() : lanes.number(deadline.at).number(deadline.birth);
};

/** Returns the digest of these commands and this next deadline, in the form of a protocol: 16 hexadecimal digits. */
export const digestOf = (protocol: number, commands: readonly Command[], deadline: Deadline | undefined): string =>
  lanesOf(protocol, commands, deadline).digits();

type Outcome = Pick<Transition, "state" | "commands">;

/** Returns the digest of what an event produced. */
export const digest = ({ state, commands }: Outcome): string =>
  digestOf(state.scope.protocol, commands, nextDeadline(state));

/** Returns whether this is the digest of what an event produced. */
export const hasDigest = ({ state, commands }: Outcome, digits: string): boolean =>
  lanesOf(state.scope.protocol, commands, nextDeadline(state)).is(digits);

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
/** Flows may ask for several things with one event: these go by their names. */
const nameOf = (command: Command): string => ("call" in command ? command.call : "id" in command ? command.id : "");
const byBirth = (a: Born, b: Born): number =>
  a.born - b.born ||
  a.index - b.index ||
  byText(a.command.type, b.command.type) ||
  byText(nameOf(a.command), nameOf(b.command));

const asking = concerns.flatMap((concern) => ("outstanding" in concern ? (concern.outstanding ?? []) : []));
const working = concerns.flatMap((concern) => ("isAtWork" in concern ? (concern.isAtWork ?? []) : []));

/** Returns the commands to issue again, oldest first. */
export const outstanding = (state: State): readonly Command[] =>
  asking
    .flatMap((of) => of(state))
    .toSorted(byBirth)
    .map(({ command }) => command);

/**
 * Returns when a scope has to be looked after though nobody asks for it; one that has moved away never has to be. Work in
 * progress is due from 0, the earliest time, as soon as it has no owner: the clock of its last owner may have been ahead.
 */
export const wakeAtOf = (state: State): number | undefined => {
  if (state.scope.status.type === "moved") return undefined;
  return working.some((isAtWork) => isAtWork(state)) ? 0 : nextDeadline(state)?.at;
};
