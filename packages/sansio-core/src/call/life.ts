/**
 * The lives of a call. `ctx.continueAs` ends a life of its body and begins the next:
 *
 *   launched ─▶ life 1 ──call.continued──▶ life 2 ──call.continued──▶ life 3 ─▶ … ─▶ the call's end
 *
 * A new life has other arguments and remembers nothing. It is the same call: it keeps its place, its completion key and
 * its approval, and goes on counting attempts, runs and the signals that its process was sent. Whatever the program
 * makes in one life must not meet what it made in another, so from life 2 on `inLife` writes the number in front of
 * every identity that is made inside the body. Identities of life 1 are those of a call that never continues.
 *
 * A wait that names a call, or one of its lives, leaves the state with that: nobody could ever await it again.
 */
import type { ChangeCheck, StateCheck } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { firstBroken } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { EventOf, SignalOf, State } from "../kernel/vocabulary.ts";
import type { BodyState, CallRow } from "./model.ts";
import { bodyOf, byBirth, known, putCall } from "./row.ts";

/** How many signals of a name a body was handed: the ordinal of the last. */
export interface SignalPlace {
  readonly name: string;
  readonly ordinal: number;
}

export interface Life {
  readonly number: number;
  /** The attempt that it began in: a retry policy counts from there. */
  readonly attempt: number;
  /** Scope time of its beginning. The first begins with the body, at `startedAt`. */
  readonly at?: number;
  /** The signals that earlier lives were handed, by name. */
  readonly signals: readonly SignalPlace[];
  /** How many of its attempts began by a release: a retry policy does not count them. */
  readonly released?: number;
  /** The attempt in which the upgrade found a life of protocol 1: this life keeps its keys, that attempt its clock. */
  readonly upgradedIn?: number;
}

/** One for all calls: most have no other. */
export const firstLife: Life = { number: 1, attempt: 1, signals: [] };

/** Returns the attempt of a body as its retry policy counts: from 1 in each life. */
export const attemptInLife = ({ attempt, life }: Pick<BodyState, "attempt" | "life">): number =>
  attempt - life.attempt + 1 - (life.released ?? 0);

/** Returns whether an attempt reads its clock from first answers, also where it reuses those of an earlier one. */
export const readsFirstAnswers = (protocol: number, { attempt, life }: Pick<BodyState, "attempt" | "life">): boolean =>
  hasRule(protocol, "now_from_log") && life.upgradedIn !== attempt;

/** Returns whether a call can await nothing more; or not in this life of it. */
export const isLifeOver = (row: CallRow | undefined, life: number | undefined): boolean => {
  const body = row === undefined ? undefined : bodyOf(row);
  return body === undefined || (life !== undefined && body.life.number !== life);
};

const lastOf = (places: readonly SignalPlace[], name: string): number =>
  Math.max(0, ...places.filter((place) => place.name === name).map(({ ordinal }) => ordinal));

/** Adds up the signals that a call was handed. What it was handed stays handed. */
const handed = (before: readonly SignalPlace[], more: readonly SignalPlace[]): readonly SignalPlace[] => {
  const all = [...before, ...more];
  const names = [...new Set(all.map(({ name }) => name))].toSorted();
  return names.map((name) => ({ name, ordinal: lastOf(all, name) }));
};

/** Returns what the next life of a body has of its own. Waits of the call go on with it; those of the old life leave. */
export const nextLife = (
  draft: Draft,
  { life, attempt, waits, manifest }: BodyState,
  { args_hash: argsHash = "", signals = [] }: EventOf<"call.continued">,
): Pick<BodyState, "life" | "argsHash" | "waits"> => ({
  life: { number: life.number + 1, attempt, at: draft.at, signals: handed(life.signals, signals) },
  argsHash: manifest.policy === "requires_approval" ? argsHash : "",
  waits: waits.filter((key) => draft.wait(key)?.own?.life === undefined),
});

/** A wait that names the call was resolved before its body waited. */
export const onWaitKept = (draft: Draft, { call, key }: SignalOf<"wait.kept">): void => {
  const row = known(draft, call);
  const body = bodyOf(row);
  if (body === undefined || body.waits.includes(key)) return;
  putCall(draft, { ...row, body: { ...body, waits: body.waits.concat(key) } } as CallRow, row);
};

/** Returns the row of a call that was launched under protocol 1, as protocol 2 goes on with it. */
const upgraded = (row: CallRow, argsHash: string | undefined): CallRow => {
  const body = bodyOf(row);
  if (body === undefined) return row;
  const life = { ...body.life, upgradedIn: body.attempt };
  const next = { ...row, body: { ...body, life, argsHash: argsHash ?? body.argsHash } } as CallRow;
  const isParked = next.phase === "awaiting_approval" && argsHash !== undefined;
  return isParked ? { ...next, approval: { ...next.approval, argsHash } } : next;
};

/** Lives that began under protocol 1 keep its keys. A call that continued there learns the hash of its arguments. */
export const onCallsUpgraded = (draft: Draft, { continued }: SignalOf<"calls.upgraded">): void => {
  const hashes = new Map<string, string>(continued.map(({ call, args_hash }) => [call, args_hash]));
  for (const row of draft.calls().toSorted(byBirth)) {
    const after = upgraded(row, hashes.get(row.call.ref));
    if (after !== row) putCall(draft, after, row);
  }
};

const firstOf = (state: State, broken: (row: CallRow) => string | undefined): string | undefined =>
  firstBroken(state.calls.rows(), ({ call }) => `call \`${call.ref}\``, broken);

export const checkC9: StateCheck = (state) =>
  firstOf(state, (row) => {
    const body = bodyOf(row);
    if (body === undefined) return undefined;
    const { number, attempt } = body.life;
    const hasBegun = attempt >= 1 && attempt <= body.attempt && (number === 1 ? attempt === 1 : number > 1);
    return hasBegun ? undefined : `C9: life ${number} of attempt ${attempt}, in attempt ${body.attempt}`;
  });

/** The other half of C9: what a new life begins with. */
export const checkC9Change: ChangeCheck = (before, after) =>
  firstOf(after, (row) => {
    const earlier = before.calls.at(row.call.ref);
    const [was, is] = [earlier && bodyOf(earlier), bodyOf(row)];
    if (was === undefined || is === undefined || earlier?.call.born !== row.call.born) return undefined;
    const grown = is.life.number - was.life.number;
    if (grown !== 0 && grown !== 1) return `C9: life ${is.life.number} after life ${was.life.number}`;
    const isFresh = is.open.length === 0 && is.settled.size === 0 && is.life.attempt === is.attempt;
    return grown === 0 || isFresh ? undefined : `C9: life ${is.life.number} remembers what another did`;
  });
