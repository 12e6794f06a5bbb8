/**
 * Garbage collection of blobs, mark and sweep: removes blobs that no log names. A blob is put just before the event that names
 * it, so a blob put within the grace is spared: its event may be in flight. A crash between the two leaves an unused blob.
 *
 * After a machine has slept, a blob may be old while its event is still in flight. So a runtime lists old blobs first, then waits
 * for appends in flight, and reads the logs last.
 */
import { namesIn } from "./blob.ts";
import type { Journal, JournalLine } from "./journal.ts";
import { entryOf } from "../log.ts";
import type { Platform } from "../platform.ts";
import type { RuntimeOptions } from "../runtime-options.ts";

export interface SweepOptions {
  /** The time that spares a blob after it was put: longer than any append takes. */
  readonly graceMs?: number;
  /** Lists what it would remove, and removes nothing. */
  readonly isTrial?: boolean;
  /** Awaited before the logs are read (`settled`), and after each batch of lines (`between`). */
  readonly settled?: () => Promise<void>;
  readonly between?: () => Promise<void>;
}
/** The schedule by which a runtime sweeps. */
export interface SweepSchedule extends Pick<SweepOptions, "graceMs"> {
  readonly everyMs: number;
}
const defaultGraceMs = 3_600_000;

export interface Sweep {
  /** The number of old blobs, and the names of those that were removed. */
  readonly looked: number;
  readonly removed: readonly string[];
}

const scopesAtOnce = 256;
const linesAtOnce = 1024;

async function* scopesOf(journal: Journal): AsyncGenerator<string> {
  for (let after = ""; ;) {
    const some = await journal.scopes("", after, scopesAtOnce);
    for (const { scope } of some) yield scope;
    if (some.length < scopesAtOnce) return;
    after = some.at(-1)?.scope ?? "";
  }
}

const baseOf = async (journal: Journal, scope: string): Promise<number> => (await journal.segment(scope))?.base ?? 0;

/** Reads all lines in batches. Up to the base only kept lines are left, which one read returns. */
async function* linesOf(journal: Journal, scope: string): AsyncGenerator<JournalLine> {
  let base = await baseOf(journal, scope);
  for (let from = 1; ;) {
    const to = from <= base ? base : from + linesAtOnce - 1;
    const lines = await journal.read(scope, from, to);
    yield* lines;
    if (lines.length > 0 || to === base) {
      from = to + 1;
      continue;
    }
    base = await baseOf(journal, scope); // Retention may have come as far meanwhile.
    if (base < from) return;
  }
}

/** Reads lines before the segment: lines that retention deletes meanwhile are in the segment by then. */
async function* textsOf(journal: Journal, scope: string): AsyncGenerator<string> {
  for await (const { line } of linesOf(journal, scope)) yield line;
  const segment = await journal.segment(scope);
  if (segment !== undefined) yield segment.snapshot;
  for (const { text } of await journal.inbox(scope)) yield text;
}

/** Removes from a set the names that occur in a log. */
const spareNamed = async (journal: Journal, names: Set<string>, between: SweepOptions["between"]): Promise<void> => {
  for await (const scope of scopesOf(journal)) {
    let lines = 0;
    for await (const text of textsOf(journal, scope)) {
      for (const name of namesIn(text)) names.delete(name);
      if (++lines % linesAtOnce === 0) await between?.();
    }
    await between?.();
  }
};

/**
 * Removes old blobs that no log names. Snapshots are not read: they name nothing that lines and segment do not. Lines are read as
 * they are stored, which needs no key, since sealed lines list their blobs.
 */
export const sweepBlobs = async (journal: Journal, options: SweepOptions = {}): Promise<Sweep> => {
  const { graceMs = defaultGraceMs, isTrial = false, settled, between } = options;
  const { blobs } = journal;
  const old = new Set(await blobs?.old(graceMs));
  const looked = old.size;
  if (blobs === undefined || looked === 0) return { looked, removed: [] };
  await settled?.();
  await spareNamed(journal.stored ?? journal, old, between);
  if (isTrial) return { looked, removed: [...old] };
  const removed: string[] = [];
  for (const name of old) if (await blobs.remove(name, graceMs)) removed.push(name);
  return { looked, removed };
};

/** The longest time between two elections, and the time for appends in flight. */
const lookEveryMs = 3_600_000;
const settleMs = 60_000;

interface SweeperPort extends Pick<RuntimeOptions, "journal" | "log" | "sweep"> {
  readonly platform: Platform;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** Sweeps periodically. Among processes that share a store of blobs, one at a time is elected (`BlobStore.turn`). */
export const sweepFromTimeToTime = ({ journal, log, sweep, platform, fault }: SweeperPort): void => {
  const { blobs } = journal;
  if (sweep === undefined || blobs === undefined) return;
  const { everyMs, ...options } = sweep;
  const settled = (): Promise<void> => new Promise((resolve) => void platform.later(settleMs, resolve));
  const between = (): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve));
  const look = async (): Promise<void> => {
    if (blobs.turn !== undefined && !(await blobs.turn(everyMs))) return;
    const { looked, removed } = await sweepBlobs(journal, { ...options, settled, between });
    log?.(entryOf("blobs.swept", { looked, removed: removed.length }));
  };
  const next = (): void => {
    platform.later(blobs.turn === undefined ? everyMs : Math.min(everyMs, lookEveryMs), () => {
      void look()
        .catch((thrown: unknown) => fault("blobs were not swept", thrown))
        .then(next);
    });
  };
  next();
};
