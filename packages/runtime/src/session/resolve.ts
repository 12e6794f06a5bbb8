/** Resolves wait keys from outside: by token, or by id for an operator. The first resolution wins. */
import { type Event, nextDeadline } from "@pawl/sansio-core";
import { type WaitRow, isLifeOver, resolutionIn } from "@pawl/sansio-core/driver";
import { type Codec, type Json, type ResolveOutcome, Resolution, string, stringify, tagged } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Access, decoded, refuse, storedForm } from "../scope/access.ts";
import { eventAt } from "../scope/history.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import type { Journal } from "../journal/journal.ts";
import { type Roots, type SignedKey, readToken, readTokenUnder, scopeOfToken } from "../scope/wait-token.ts";
import type { HostSide } from "../host/host.ts";

/** The outcome of a resolution. A key that nobody may resolve, or ever could, is `unknown_or_revoked`. */
export type Resolved = ResolveOutcome | { readonly status: "too_many_unclaimed" };
export const Resolved: Codec<Resolved> = tagged<Resolved, "status">("Resolved", "status", {
  accepted: {},
  already_resolved: { terminal: Resolution },
  unknown_or_revoked: {},
  too_many_unclaimed: {},
});

export const unknownKey = { status: "unknown_or_revoked" } as const;
const cancelled = { status: "already_resolved", terminal: { status: "cancelled" } } as const;

interface Resolving extends SignedKey {
  readonly resolution: Resolution;
  readonly by?: string | undefined;
  /** The resolver's own name for it. */
  readonly id?: string | undefined;
  /** The event with a reference, where its value is large. */
  readonly stored?: Event | undefined;
}

const accepted = { status: "accepted" } as const;

const outcomeOfRow = ({ terminal, revoked }: WaitRow): Resolved | undefined => {
  if (terminal !== undefined) return { status: "already_resolved", terminal: terminal.resolution };
  return revoked ? unknownKey : undefined;
};

/** Says whether an event records this very resolution: then its answer was lost, and is the same again. */
const isThis = (event: Event, { key, by, id }: Resolving): boolean =>
  id !== undefined &&
  event.type === "wait.resolved" &&
  event.key === key &&
  event.by === by &&
  event.resolution_id === id;

/** Says whether a key is of a call, or of a life of one, that can await nothing more. */
const isOver = ({ runner }: Access, { call, life }: Resolving): boolean =>
  call !== undefined && isLifeOver(runner.state.calls.at(call), life);

/** Returns how a wait ended that has left the state. */
const outcomeOfFinished = async (access: Access, resolving: Resolving, seq: number): Promise<Resolved> => {
  const { finished } = access;
  const { key } = resolving;
  if ((await finished.find("wait_timed_out", key)) !== undefined)
    return { status: "already_resolved", terminal: { status: "timeout" } };
  const { event } = await eventAt(access, seq);
  if (isThis(event, resolving)) return accepted;
  const terminal = resolutionIn(event, key);
  if (terminal !== undefined) return { status: "already_resolved", terminal };
  const isLeft = resolving.call === undefined && (await finished.find("wait_left", key)) !== undefined;
  return isLeft ? unknownKey : cancelled;
};

const outcomeOfEnded = async (access: Access, resolving: Resolving): Promise<Resolved> => {
  const { key } = resolving;
  const row = access.runner.state.waits.at(key);
  const seq = await access.finished.find("wait", key);
  if (seq !== undefined) return outcomeOfFinished(access, resolving, seq);
  return (row && outcomeOfRow(row)) ?? (isOver(access, resolving) ? cancelled : unknownKey);
};

/** Returns what an earlier resolution of an ended key was told. */
const outcomeOfKept = async (access: Access, resolving: Resolving, row: WaitRow): Promise<Resolved | undefined> => {
  const outcome = outcomeOfRow(row);
  if (row.terminal === undefined || resolving.id === undefined) return outcome;
  const isSame = isThis((await eventAt(access, row.terminal.seq)).event, resolving);
  if (!isSame) return outcome;
  return (await access.finished.find("wait", row.key)) === undefined ? accepted : outcomeOfEnded(access, resolving);
};

const eventOf = ({ key, resolution, by, id, call, life }: Resolving): Event => ({
  type: "wait.resolved",
  key,
  resolution,
  ...(by === undefined ? {} : { by }),
  ...(id === undefined ? {} : { resolution_id: id }),
  ...(call === undefined ? {} : { call }),
  ...(life === undefined ? {} : { life }),
});

/** Records the resolution; what it is refused with is its outcome, where it has one. */
const tell = (access: Access, resolving: Resolving): (() => Promise<Resolved>) => {
  const { runner } = access;
  const { key, stored } = resolving;
  const wasAwaited = runner.state.waits.at(key) !== undefined;
  const told = runner.apply(eventOf(resolving), stored);
  if (E.isRight(told)) {
    const isTooLate = wasAwaited && runner.state.waits.at(key)?.born === runner.state.seq;
    return isTooLate ? () => outcomeOfEnded(access, resolving) : async () => accepted;
  }
  const rejection = told.left;
  switch (rejection.code) {
    case "already_resolved":
      if (isOver(access, resolving)) return async () => cancelled;
      runner.apply({ type: "clock.ticked" }); // Its time was over with this very event, which is not recorded.
      return () => outcomeOfEnded(access, resolving);
    case "unknown_or_revoked":
    case "too_many_unclaimed":
      return async () => ({ status: rejection.code as "unknown_or_revoked" | "too_many_unclaimed" });
    default:
      return () => refuse(access, rejection);
  }
};

/** Records first that the time of keys is over, where that has not happened yet. */
const passTime = ({ runner, platform }: Access): void => {
  const due = nextDeadline(runner.state);
  if (due !== undefined && due.at <= platform.now()) runner.apply({ type: "clock.ticked" });
};

/** Answers once the state that the answer is made from is durable. */
const settled = async <A>({ runner, values }: Access, answer: () => Promise<A>): Promise<A> => {
  await runner.whenDurable();
  return values.of(await answer());
};

/** Resolves a key that is not in the state: it may have left it, or not be waited for yet, where that is allowed. */
const resolveAbsent = async (access: Access, resolving: Resolving, mayBeEarly: boolean): Promise<Resolved> => {
  const { key } = resolving;
  const answer = await access.finished.lookup("wait", key, (seq) => {
    if (seq !== undefined) return () => outcomeOfFinished(access, resolving, seq);
    const isKnown = access.runner.state.waits.at(key) !== undefined;
    return isKnown || mayBeEarly ? tell(access, resolving) : async () => unknownKey;
  });
  return settled(access, answer);
};

const storedOf = async (access: Access, resolving: Resolving): Promise<Event | undefined> => {
  const { waits } = access.runner.state;
  const isOpen = waits.at(resolving.key)?.terminal === undefined;
  const isLarge = isOpen && access.values.isLarge(stringify(Resolution.encode(resolving.resolution) as Json));
  return isLarge ? storedForm(access, eventOf(resolving)) : undefined;
};

export const resolveKey = async (access: Access, given: Resolving, mayBeEarly: boolean): Promise<Resolved> => {
  for (const name of ["by", "id"] as const) if (given[name] !== undefined) decoded(string, given[name], name);
  const said = { ...given, resolution: decoded(Resolution, given.resolution, "resolution") };
  const resolving = { ...said, stored: await storedOf(access, said) };
  passTime(access);
  const row = access.runner.state.waits.at(given.key);
  if (row === undefined) return resolveAbsent(access, resolving, mayBeEarly);
  if (outcomeOfRow(row) === undefined) return settled(access, tell(access, resolving));
  return settled(access, async () => (await outcomeOfKept(access, resolving, row)) ?? unknownKey);
};

export const resolveToken = async (
  access: Access,
  { roots }: HostSide,
  { secrets }: ScopeStore,
  token: string,
  said: Omit<Resolving, keyof SignedKey>,
): Promise<Resolved> => {
  const signed = readToken(roots, access.runner.id, token) ?? readTokenUnder(await secrets(), token);
  return signed === undefined ? unknownKey : resolveKey(access, { ...said, ...signed }, true);
};

/** Returns the scope that a token names, if its signature is good: no other scope is opened for it. */
export const scopeSigned = async (
  { roots, journal }: { readonly roots: Roots; readonly journal: Journal },
  token: string,
): Promise<string | undefined> => {
  const scope = scopeOfToken(token);
  if (scope === undefined) return undefined;
  const isGood = readToken(roots, scope, token) ?? readTokenUnder((await journal.moves?.secrets(scope)) ?? [], token);
  return isGood === undefined ? undefined : scope;
};
