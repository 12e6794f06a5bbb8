/** The state of a scope as its store has it: of a snapshot and the lines after it, or of the whole log. */
import { type EventOf, type Options, type State, currentProtocol, initial } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { OwnedElsewhere, newerProtocol, textOf } from "../error.ts";
import { Quarantined, foldLines } from "./fold.ts";
import type { Holding, Journal, Snapshot } from "../journal/journal.ts";
import type { RuntimeOptions } from "../runtime-options.ts";
import type { Taken } from "./snapshots.ts";
import { restored } from "./stored-state.ts";

/** Where the log begins: at its first line, or behind what retention left. */
export const begun = async (journal: Journal, scope: string): Promise<State> => {
  const segment = await journal.segment(scope);
  if (segment === undefined) return initial(scope);
  const state = restored(scope, { seq: segment.base, text: segment.snapshot });
  if (E.isLeft(state)) throw new Quarantined(scope, `what retention left does not restore: ${state.left}`);
  return state.right;
};

/** Whether a store has anything of a scope. */
export const isStored = async (journal: Journal, scope: string): Promise<boolean> =>
  (await journal.scopes(scope, "", 1)).some((entry) => entry.scope === scope && entry.seq > 0);

/** A scope as its new owner has it. */
export const claimed = async (
  { journal, instance }: Pick<RuntimeOptions, "journal" | "instance">,
  scope: string,
): Promise<Holding> => {
  const claim = await journal.claim(scope, instance, currentProtocol);
  if (claim.type === "owned_by") throw new OwnedElsewhere(scope, claim.instance, claim.address);
  if (claim.type === "newer_protocol") throw newerProtocol(scope, claim.protocol);
  return claim;
};

/** A state, and what it was made of. */
export interface Opened {
  readonly state: State;
  readonly snapshot: Taken | undefined;
  /** Characters of the events after the snapshot, or of all. */
  readonly since: number;
}

const folded = async (journal: Journal, scope: string, from: State): Promise<Pick<Opened, "state" | "since">> => {
  const lines = await journal.read(scope, from.seq + 1);
  return { state: foldLines(scope, lines, from), since: lines.reduce((sum, { line }) => sum + line.length, 0) };
};

const fromSnapshot = async (journal: Journal, scope: string, snapshot: Snapshot): Promise<E.Either<string, Opened>> => {
  const state = restored(scope, snapshot);
  if (E.isLeft(state)) return state;
  const { seq, at } = state.right;
  try {
    const after = await folded(journal, scope, state.right);
    return E.right({ ...after, snapshot: { seq, at, size: snapshot.text.length } });
  } catch (thrown) {
    if (thrown instanceof Quarantined) return E.left(thrown.message);
    throw thrown;
  }
};

/** A snapshot only makes opening cheap: one that does not restore is a fault, and the log says the same. */
export const openState = async (
  journal: Journal,
  scope: string,
  snapshot: Snapshot | undefined,
  fault: (what: string) => void,
): Promise<Opened> => {
  if (snapshot !== undefined) {
    const opened = await fromSnapshot(journal, scope, snapshot);
    if (E.isRight(opened)) return opened.right;
    fault(`the snapshot at event ${snapshot.seq} does not restore: ${opened.left}`);
  }
  return { ...(await folded(journal, scope, await begun(journal, scope))), snapshot: undefined };
};

/** What a claim says in the log: a scope that is new is of this core's protocol. */
export const openedBy = (
  { scope }: State,
  { owner, epoch }: { readonly owner: string; readonly epoch: number },
  options: Options,
): EventOf<"scope.opened"> => ({
  type: "scope.opened",
  epoch,
  owner,
  protocol: scope.epoch === 0 ? currentProtocol : scope.protocol,
  options,
});

interface Opening {
  readonly runner: { readonly abandon: (why: string) => void };
}

/** A scope that is opened to its end, or not at all: half open it would go on beside the one that is opened next. */
export const wholly = async <A extends Opening>(session: A, open: () => Promise<void>): Promise<A> => {
  try {
    await open();
    return session;
  } catch (thrown) {
    session.runner.abandon(`it could not be opened: ${textOf(thrown)}`);
    throw thrown;
  }
};
