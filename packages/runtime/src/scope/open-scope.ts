/**
 * Loads the state of a scope from its store, and makes the events by which a new owner opens it. The state comes from a
 * snapshot and the lines after it, or from the whole log. A snapshot only makes this cheap; the log says the same.
 */
import * as E from "fp-ts/lib/Either.js";
import {
  type State,
  restore,
  snapshot,
  type Event,
  type EventOf,
  type Options,
  currentProtocol,
  initial,
} from "@pawl/sansio-core";
import { bodyOf, hasRule, newestProtocol, optionsUnder, referredTo, snapshotSlices } from "@pawl/sansio-core/driver";
import { type Platform, inTurns } from "../platform.ts";
import type { CodeVersions } from "../tool/version.ts";
import { type Json, describe, noLimits, parse, sliceOf, stableHash, stringify, textSlices } from "@pawl/tool-value";
import type { Claim, Holding, Journal, LastOwner, Segment, Snapshot } from "../journal/journal.ts";
import { sealedHere } from "../journal/seal.ts";
import { OwnedElsewhere, newerProtocol, textOf } from "../error.ts";
import { Quarantined, foldLines } from "./history.ts";
import type { RuntimeOptions } from "../runtime-options.ts";
import type { Values } from "./large-values.ts";
import type { Taken } from "./snapshots.ts";

const isSealed = (json: Json): boolean => typeof json === "object" && json !== null && Object.hasOwn(json, "sealed");

/** Returns the state of a snapshot, or what is wrong with it. Throws where a key, or a newer core, has to read it. */
export const restored = (scope: string, { seq, text }: Snapshot): E.Either<string, State> => {
  const json = parse(text, noLimits);
  if (E.isRight(json) && isSealed(json.right)) throw sealedHere(scope);
  const state = E.isLeft(json) ? json : restore(json.right);
  if (E.isLeft(state)) {
    if (state.left.code === "newer_protocol") throw newerProtocol(scope, state.left.protocol);
    return E.left(describe(state.left));
  }
  const { right } = state;
  if (right.scope.id !== scope) return E.left(`it is of ${right.scope.id}`);
  return right.seq === seq ? state : E.left(`it is of event ${right.seq}`);
};

export const snapshotText = (state: State): string => stringify(snapshot(state) as Json);

/** As `snapshotText`; while one of thousands of calls is written, others are served. */
export const snapshotInTurns = async (state: State, platform: Pick<Platform, "nextTurn">): Promise<string> => {
  const hasMany = state.requests.some((row) => row.phase === "replying" && row.replies.length > sliceOf);
  if (state.calls.size <= sliceOf && !hasMany) return snapshotText(state);
  return inTurns(textSlices(await inTurns(snapshotSlices(state), platform)), platform);
};

export const referredUpTo = (state: State, last: number): readonly number[] =>
  referredTo(state).filter((seq) => seq <= last);

/** Returns the state where a log begins: nothing, or what retention has left. */
export const beforeLines = (scope: string, segment: Segment | undefined): State => {
  if (segment === undefined) return initial(scope);
  const state = restored(scope, { seq: segment.base, text: segment.snapshot });
  if (E.isLeft(state)) throw new Quarantined(scope, `what retention left does not restore: ${state.left}`);
  return state.right;
};

/** Returns the state where the log of a stored scope begins. */
export const begun = async (journal: Pick<Journal, "segment">, scope: string): Promise<State> =>
  beforeLines(scope, await journal.segment(scope));

export const isStored = async (journal: Journal, scope: string): Promise<boolean> =>
  (await journal.scopes(scope, "", 1)).some((entry) => entry.scope === scope && entry.seq > 0);

/** Claims a scope, and throws where another instance owns it. */
export const claimed = async (
  { journal, instance }: Pick<RuntimeOptions, "journal" | "instance">,
  scope: string,
): Promise<Extract<Claim, { readonly type: "claimed" }>> => {
  const claim = await (journal.open ?? journal).claim(scope, instance, newestProtocol);
  if (claim.type === "owned_by") throw new OwnedElsewhere(scope, claim.instance, claim.address);
  if (claim.type === "newer_protocol") throw newerProtocol(scope, claim.protocol);
  return claim;
};

export interface Opened {
  readonly state: State;
  readonly snapshot: Taken | undefined;
  /** Characters of the events after the snapshot, or of all. */
  readonly since: number;
}

/** The stored log of a scope: what a claim brought along is not read again. */
type Stored = Pick<Journal, "read" | "segment">;

const storedOf = (journal: Journal, held: Pick<Holding, "snapshot" | "brought">): Stored => {
  const { brought } = held;
  if (brought === undefined) return journal;
  const { segment, lines } = brought;
  const after = held.snapshot?.seq ?? segment?.base ?? 0;
  return {
    segment: async () => segment,
    read: async (scope, from, to) => (from === after + 1 ? lines : journal.read(scope, from, to)),
  };
};

const folded = async (journal: Stored, scope: string, from: State): Promise<Pick<Opened, "state" | "since">> => {
  const lines = await journal.read(scope, from.seq + 1);
  return { state: foldLines(scope, lines, from), since: lines.reduce((sum, { line }) => sum + line.length, 0) };
};

const fromSnapshot = async (journal: Stored, scope: string, stored: Snapshot): Promise<E.Either<string, Opened>> => {
  const state = restored(scope, stored);
  if (E.isLeft(state)) return state;
  const { seq, at } = state.right;
  try {
    const after = await folded(journal, scope, state.right);
    return E.right({ ...after, snapshot: { seq, at, size: stored.text.length } });
  } catch (thrown) {
    if (thrown instanceof Quarantined) return E.left(thrown.message);
    throw thrown;
  }
};

/** Loads the state. A snapshot that does not restore is reported, and the log is read instead. */
export const openState = async (
  journal: Journal,
  scope: string,
  held: Pick<Holding, "snapshot" | "brought">,
  fault: (what: string) => void,
): Promise<Opened> => {
  const { snapshot: taken } = held;
  const stored = storedOf(journal, held);
  if (taken !== undefined) {
    const opened = await fromSnapshot(stored, scope, taken);
    if (E.isRight(opened)) return opened.right;
    fault(`the snapshot at event ${taken.seq} does not restore: ${opened.left}`);
  }
  return { ...(await folded(stored, scope, await begun(stored, scope))), snapshot: undefined };
};

/** Returns the protocol that a scope may go on to, which a new one begins under: every live instance can read it. */
export const mayGoOnTo = (
  upgrade: RuntimeOptions["upgrade"],
  { known = currentProtocol }: { readonly known?: number },
): number => (upgrade === "never" ? 1 : Math.min(known, currentProtocol));

type Continued = NonNullable<EventOf<"scope.upgraded">["continued"]>;

/** Finds calls that continued under protocol 1: its log does not say the hash of the arguments that a person decides on. */
const continuedIn = async ({ calls }: State, values: Pick<Values, "of">): Promise<Continued> => {
  const found: Continued[number][] = [];
  for (const row of calls.rows()) {
    const body = bodyOf(row);
    if (body === undefined || body.argsHash === "" || body.manifest.policy !== "requires_approval") continue;
    const args_hash = stableHash(await values.of(row.args));
    if (args_hash !== body.argsHash) found.push({ call: row.call.ref, args_hash });
  }
  return found;
};

interface Owner {
  readonly owner: string;
  readonly epoch: number;
  /** The protocol that the scope may go on to. */
  readonly newest: number;
  /** How the owner before went, as the store knows. */
  readonly lastOwner?: LastOwner | undefined;
  readonly versions: CodeVersions;
}

/**
 * Makes the events with which an owner opens a scope. One of an older protocol than `newest` is upgraded before it is opened,
 * so that losses are judged by the newer rules.
 */
export const openingOf = async (
  state: State,
  values: Pick<Values, "of">,
  { owner, epoch, newest, versions, lastOwner = "lost" }: Owner,
  given: Options,
): Promise<readonly Event[]> => {
  const { scope } = state;
  const protocol = Math.max(scope.protocol, newest);
  const options = optionsUnder(protocol, given);
  const isTold = scope.epoch > 0 && hasRule(protocol, "crash_loops");
  const went = isTold ? { last_owner: lastOwner } : {};
  const told = versions.toldTo(state, protocol);
  const opened = { type: "scope.opened", epoch, owner, protocol, options, ...went, ...told } as const;
  if (scope.epoch === 0 || protocol === scope.protocol) return [opened];
  const continued = await continuedIn(state, values);
  const upgraded = { type: "scope.upgraded", to: protocol, ...(continued.length > 0 && { continued }) } as const;
  return [upgraded, opened];
};

interface Opening {
  readonly runner: { readonly abandon: (why: string) => void };
}

/** Opens a session to its end, or abandons it: half open it would go on beside the one that is opened next. */
export const wholly = async <A extends Opening>(session: A, open: () => Promise<void>): Promise<A> => {
  try {
    await open();
    return session;
  } catch (thrown) {
    session.runner.abandon(`it could not be opened: ${textOf(thrown)}`);
    throw thrown;
  }
};
