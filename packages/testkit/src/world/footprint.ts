/**
 * Footprints of events: the calls, keys, batches, links and budgets that they touch. Events with disjoint footprints
 * are independent: they commute in any state (`test/law`). The explorer of orders uses this for partial-order
 * reduction.
 */
import { type Event, type State, nextDeadline } from "@pawl/sansio-core";
import { type CallRow, bodyOf } from "@pawl/sansio-core/driver";

/** A path whose parts end in a zero character, so that a place within another starts with its path. */
export type Place = string;
export type Footprint = ReadonlySet<Place>;

const place = (...parts: readonly string[]): Place => parts.map((part) => `${part}\0`).join("");

/** Covers everything. */
export const everything: Footprint = new Set([""]);
export const wholeScope = (scope: string): Footprint => new Set([place(scope)]);
/** Covers a request with its calls and batches. */
export const wholeRequest = (scope: string, request: string): Footprint => new Set([place(scope, "of", request)]);
/** Anything that the host hears: the order may matter to it. */
export const hostHears: Place = place("the host");
/** An effect outside, by name. */
export const happening = (effect: string): Place => place("outside", effect);

const meet = (a: Place, b: Place): boolean => a.startsWith(b) || b.startsWith(a);

/** Holds if two arrivals touched nothing in common, so that their order does not matter. */
export const isIndependent = (a: Footprint, b: Footprint): boolean => {
  const others = [...b];
  return ![...a].some((one) => others.some((other) => meet(one, other)));
};

interface Keyed<A> {
  readonly keys: () => Iterable<string>;
  readonly get: (key: string) => A | undefined;
}

const changedIn = <A>(before: Keyed<A>, after: Keyed<A>): readonly string[] =>
  before === after
    ? []
    : [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));

/** Names a call by its request and by itself: an event may name a call that does not exist yet. */
const callPlaces = (scope: string, { call: { request, ref } }: CallRow): readonly Place[] => [
  place(scope, "of", request, "call", ref),
  place(scope, "call", ref),
];

/** Places of changed rows that belong to requests. */
const ofRequests = (before: State, after: State): readonly Place[] => {
  const scope = after.scope.id;
  const rows = after.calls
    .changedSince(before.calls)
    .flatMap((key) => before.calls.at(key) ?? after.calls.at(key) ?? []);
  const batches = after.batches.changedSince(before.batches).map((key) => {
    const { request = "" } = before.batches.at(key) ?? after.batches.at(key) ?? {};
    return place(scope, "of", request, "batch", key);
  });
  const requests = after.requests.changedSince(before.requests).map((key) => place(scope, "of", key, "request"));
  const flows = changedIn(before.flows, after.flows).map((key) => place(scope, "of", key, "flow"));
  return [...rows.flatMap((row) => callPlaces(scope, row)), ...batches, ...requests, ...flows];
};

/** The link in which a call has room kept, or waits for it. */
const linkOf = (row: CallRow | undefined): string | undefined =>
  row === undefined ? undefined : (bodyOf(row)?.room ?? (row.phase === "suspended" ? row.link?.to : undefined));

/** Links in which changed calls have taken room, given it back, or waited for it. */
const roomIn = (before: State, after: State): readonly string[] =>
  after.calls
    .changedSince(before.calls)
    .flatMap((key) => [linkOf(before.calls.at(key)), linkOf(after.calls.at(key))])
    .filter((to) => to !== undefined);

/** Places of changed rows that belong to the scope: waits, links and shared budgets. */
const ofScope = (before: State, after: State): readonly Place[] => {
  const within = (kind: string) => (key: string) => place(after.scope.id, kind, key);
  const budgets = {
    unclaimed: before.unclaimed !== after.unclaimed,
    process: before.process !== after.process,
    deletion: before.deletion !== after.deletion,
    work: before.background !== after.background || before.schedules !== after.schedules,
    handles: before.handles !== after.handles,
    conversation: before.conversation !== after.conversation,
  };
  return [
    ...after.waits.changedSince(before.waits).map(within("wait")),
    ...changedIn(before.outbox, after.outbox).map(within("outbox")),
    ...changedIn(before.links, after.links).map(within("link")),
    ...roomIn(before, after).map(within("link")),
    ...Object.entries(budgets).flatMap(([name, isTouched]) => (isTouched ? [within("budget")(name)] : [])),
  ];
};

/** Returns the shared budget of an event: background work or handles. */
const budgetOf = ({ type }: Event): string | undefined => {
  if (/^(?:task|run|permit|schedule|probe|artifacts)\./.test(type)) return "work";
  return /^handles?\./.test(type) ? "handles" : undefined;
};

/** Tells whether an event depends on the process's state. */
const looksAtProcess = (event: Event): boolean =>
  event.type === "effect.requested"
    ? event.effect.kind !== "step" && event.effect.kind !== "sleep"
    : /^(?:message|link|process|run|artifacts|permit|call)\./.test(event.type);

const namedRequest = (scope: string, event: Event): readonly Place[] => {
  if (!("request" in event) || typeof event.request !== "string") return [];
  const isWhole = event.type === "request.cancelled" || event.type === "flow.consumer_gone";
  return [place(scope, "of", event.request, ...(isWhole ? [] : ["request"]))];
};

/** The link that a message uses, and the handles that it concerns. */
const namedLink = (scope: string, event: Event): readonly Place[] => {
  switch (event.type) {
    case "message.received":
      return [
        place(scope, "link", event.from),
        ...("process" in event.message ? [place(scope, "budget", "handles")] : []),
      ];
    case "message.answered":
      return [place(scope, "link", event.to)];
    case "call.suspended":
      return event.link === undefined ? [] : [place(scope, "link", event.link)];
    case "effect.requested":
      if (event.effect.kind !== "message") return [];
      return [place(scope, "link", event.effect.to), place(scope, "budget", "handles")];
    default:
      return [];
  }
};

/** The wait keys that an event names. */
const namedWaits = (scope: string, event: Event): readonly Place[] => {
  const keysOf = (): readonly string[] => {
    switch (event.type) {
      case "wait.revoked":
        return event.keys;
      case "wait.resolved":
      case "wait.cancelled":
        return [event.key];
      case "call.settled":
        return event.result.type === "pending" ? [event.result.key] : [];
      case "call.dispatched":
        return event.key === undefined ? [] : [event.key];
      case "effect.requested":
        return event.effect.kind === "wait" ? [event.effect.wait] : [];
      default:
        return [];
    }
  };
  return keysOf().map((key) => place(scope, "wait", key));
};

/** Tells whether an event depends on the calls that a call has made. */
const looksBelow = (row: CallRow | undefined, { type }: Event): boolean => {
  if (type === "call.cancelled" || type === "call.cleaned_up") return true;
  if (type === "call.suspended") return true; // The calls of its batches decide.
  const isReport = type === "replies.recorded" || type === "call.resumed";
  return isReport && row !== undefined && "cancelled" in row && row.cancelled !== undefined;
};

/** Places that an event names, whether it changes them or not. */
const named = ({ scope, calls }: State, event: Event): readonly Place[] => {
  const row = "call" in event ? calls.at(event.call) : undefined;
  const below = row !== undefined && looksBelow(row, event) ? [place(scope.id, "of", row.call.request)] : [];
  const call = "call" in event ? [place(scope.id, "call", event.call)] : [];
  const budget = budgetOf(event);
  const isOfProcess = scope.id.startsWith("process:") && looksAtProcess(event);
  return [
    ...call,
    ...below,
    ...(row === undefined ? [] : callPlaces(scope.id, row)),
    ...namedRequest(scope.id, event),
    ...namedWaits(scope.id, event),
    ...namedLink(scope.id, event),
    ...(budget === undefined ? [] : [place(scope.id, "budget", budget)]),
    ...(isOfProcess ? [place(scope.id, "budget", "process")] : []),
  ];
};

/** Events that concern the whole scope. */
const sweeping: ReadonlySet<Event["type"]> = new Set([
  "catalog.published",
  "catalog.overridden",
  "executors.available",
  "handles.revoked",
  "handles.transferred",
  "owner.lost",
  "session.deleted",
]);

/**
 * Returns the footprint of a step. A step with a deadline due covers the whole scope, since any event would trigger it.
 */
export const footprintOf = (before: State, event: Event, after: State): Footprint => {
  const isDue = (nextDeadline(after)?.at ?? Infinity) <= after.at;
  const isOfAll =
    isDue ||
    sweeping.has(event.type) ||
    event.type.startsWith("scope.") ||
    before.scope !== after.scope ||
    before.catalog !== after.catalog ||
    before.about !== after.about ||
    before.sticky !== after.sticky;
  if (isOfAll) return wholeScope(after.scope.id);
  const touched = [...ofRequests(before, after), ...ofScope(before, after), ...named(before, event)];
  return new Set(touched.length === 0 ? [place(after.scope.id, "nothing", event.type)] : touched);
};
