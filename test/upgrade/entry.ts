/**
 * The entries of the corpus, and their stores. An entry is a town that was cut at a live moment: the logs of its scopes with
 * all that a store keeps beside them, the ledger of what was done until then, and the ledger of a run that nothing disturbed.
 */
import { type Journal, importLog, logText, memoryJournal } from "@pawl/runtime";
import {
  type IndexEntry,
  type InboxMessage,
  type JournalLine,
  type Segment,
  type Snapshot,
  packBlobs,
  sealedJournal,
  unpackBlobs,
} from "@pawl/runtime/driver";
import { type State, currentProtocol, describeFault, replay, stateHash } from "@pawl/sansio-core";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import { hashText } from "@pawl/tool-value";
import type { LedgerText } from "./ledger.ts";
import { flipping } from "./stage.ts";
import type { Town } from "./town.ts";

/** The parts of a store that belong to one scope. */
export interface StoredScope {
  readonly scope: string;
  readonly epoch: number;
  readonly protocol: number;
  readonly wakeAt?: number;
  readonly approvals: number;
  readonly segment?: Segment;
  readonly snapshot?: Snapshot;
  readonly lines: readonly JournalLine[];
  readonly finished: readonly IndexEntry[];
  readonly letters: readonly InboxMessage[];
  readonly blobs: readonly PackedBlob[];
}

/** A log as it replays: the first half of the hash of its state after each event, and the whole of the last. */
export interface Course {
  readonly scope: string;
  readonly hashes: readonly string[];
  readonly last: string;
  /** Phases of the calls that are live at the cut. */
  readonly phases: readonly string[];
  /** Types of the events, in order. */
  readonly types: readonly string[];
}

export interface Entry {
  readonly town: Town;
  /** The time of the cut. */
  readonly at: number;
  readonly ledger: LedgerText;
  readonly undisturbed: LedgerText;
  readonly scopes: readonly StoredScope[];
  readonly courses: readonly Course[];
}

const movesOf = (journal: Journal): NonNullable<Journal["moves"]> => {
  if (journal.moves === undefined) throw new Error("the corpus needs a store whose scopes can move");
  return journal.moves;
};

/** Reads a scope out of a store, as it is stored. `owner` is the host that has it. */
const storedScope = async (store: Journal, scope: string, owner: string): Promise<StoredScope> => {
  const [entry] = await store.scopes(scope, "", 1);
  const lines = await store.read(scope, 1);
  const segment = await store.segment(scope);
  const snapshot = (await store.load(scope, owner))?.snapshot;
  const texts = [segment?.snapshot ?? "", ...lines.map(({ line }) => line)];
  return {
    scope,
    epoch: entry?.epoch ?? 0,
    protocol: currentProtocol,
    approvals: entry?.approvals ?? 0,
    lines,
    finished: await movesOf(store).index(scope),
    letters: await store.inbox(scope),
    blobs: await packBlobs(store.blobs, scope, texts),
    ...(entry?.wakeAt === undefined ? {} : { wakeAt: entry.wakeAt }),
    ...(segment === undefined ? {} : { segment }),
    ...(snapshot === undefined ? {} : { snapshot }),
  };
};

/** Reads all scopes out of a store that have a log. */
export const storedScopes = async (store: Journal, owner: string): Promise<readonly StoredScope[]> => {
  const all: StoredScope[] = [];
  for (const { scope } of await store.scopes("", "", 1000)) all.push(await storedScope(store, scope, owner));
  return all.filter(({ lines, segment }) => lines.length > 0 || segment !== undefined);
};

const importer = "importer";

/** Puts a scope into a store as it was: with its snapshot, its segment, and its letters. */
const restoreScope = async (store: Journal, stored: StoredScope): Promise<void> => {
  const { scope, epoch: above, protocol, approvals, wakeAt, segment, snapshot, finished, letters, blobs } = stored;
  await unpackBlobs(store.blobs, scope, blobs, hashText);
  const claim = await store.claim(scope, importer, currentProtocol, above);
  if (claim.type !== "claimed") throw new Error(`${scope} cannot be claimed: ${claim.type}`);
  const { epoch } = claim;
  const base = segment?.base ?? 0;
  const half = snapshot?.seq ?? stored.lines.at(-1)?.seq ?? base;
  const within = (from: number, to: number): readonly JournalLine[] =>
    stored.lines.filter(({ seq }) => seq > from && seq <= to);
  const at = { scope, epoch, wakeAt, approvals, protocol };
  const adopted = await movesOf(store).adopt({
    ...at,
    nonce: "corpus",
    appendId: "corpus",
    lines: within(base, half),
    kept: within(0, base),
    finished,
    letters,
    secrets: [],
    ...(segment === undefined ? {} : { segment }),
  });
  if (adopted.type !== "ok") throw new Error(`${scope} was not adopted: ${adopted.type}`);
  if (snapshot !== undefined) await store.snapshot(scope, epoch, snapshot.seq, snapshot.text);
  const rest = within(half, Infinity);
  if (rest.length === 0) return;
  const append = {
    ...at,
    appendId: "rest",
    expectedSeq: half + 1,
    lines: rest,
    finished: [],
    messages: [],
    received: [],
  };
  const [result] = await store.appendAll([append]);
  if (result?.type !== "ok") throw new Error(`${scope} was not restored: ${result?.type}`);
};

/** Puts the scopes of an entry into an empty store. */
export const restored = async (store: Journal, scopes: readonly StoredScope[]): Promise<Journal> => {
  for (const scope of scopes) await restoreScope(store, scope);
  await store.leave(importer);
  return store;
};

/** Exports every log of a town, and imports them into another store, as an operator would. */
export const imported = async (into: Journal, scopes: readonly StoredScope[]): Promise<Journal> => {
  const from = await restored(memoryJournal(), scopes);
  for (const { scope } of scopes) await importLog(into, importer, (await logText(from, scope)) ?? []);
  return into;
};

/** Says if logs can be imported as files: those that are whole, and whose values are open. */
export const isImportable = ({ town, scopes }: Entry): boolean =>
  !town.options.sealed && scopes.every(({ segment }) => segment === undefined);

const phasesOf = (state: State): readonly string[] => state.calls.rows().map(({ phase }) => phase);

/** Replays a log, and says how it went. Throws where it does not replay. */
export const courseOf = (scope: string, text: readonly string[]): Course => {
  const hashes: string[] = [];
  const types: string[] = [];
  const { state, fault } = replay(text, {
    onStep: ({ event }, transition) => {
      types.push(event.type);
      hashes.push(stateHash(transition.state).slice(0, 8));
    },
  });
  if (fault !== undefined) throw new Error(`${scope}: ${describeFault(fault)}`);
  if (state === undefined) throw new Error(`${scope}: its log is empty`);
  return { scope, hashes, last: stateHash(state), phases: phasesOf(state), types };
};

/** Replays the logs of a store, opened where they are sealed. */
export const coursesOf = async (store: Journal, isSealed: boolean): Promise<readonly Course[]> => {
  const journal = isSealed ? sealedJournal(store, flipping) : store;
  const courses: Course[] = [];
  for (const { scope } of await journal.scopes("", "", 1000)) {
    const text = await logText(journal, scope);
    if (text !== undefined) courses.push(courseOf(scope, text));
  }
  return courses;
};
