/**
 * Takes away blobs that no log names any more. Whoever records a reference has put its blob just before, so a blob that
 * was put within the grace is spared: its event may be on its way. Dying in between leaves more than is needed.
 *
 * A machine that slept may have made a blob old whose event is still to come: a runtime gives all that was on its way
 * some time to arrive, after it has looked which blobs are old, and before it looks who names them.
 */
import { namesIn } from "./blob.ts";
import type { Journal, JournalLine } from "./journal.ts";
import { entryOf } from "../log.ts";
import type { Platform } from "../platform.ts";
import type { RuntimeOptions } from "../runtime-options.ts";

export interface SweepOptions {
  /** How long a blob is spared after it was put: longer than any append takes. */
  readonly graceMs?: number;
  /** Only says what it would take away. */
  readonly isTrial?: boolean;
  /** Waited for before the logs are read, and again after each few of their lines. */
  readonly settled?: () => Promise<void>;
  readonly between?: () => Promise<void>;
}
/** How often a runtime sweeps. */
export interface SweepSchedule extends Pick<SweepOptions, "graceMs"> {
  readonly everyMs: number;
}
const defaultGraceMs = 3_600_000;

export interface Sweep {
  /** Blobs that were old enough to be looked at, and those of them that are gone. */
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

/** All lines, few at once. Behind the base there are none but those that were kept: however many were cut, one look. */
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

/** Lines before the segment: what retention takes from the lines meanwhile is in the segment by then. */
async function* textsOf(journal: Journal, scope: string): AsyncGenerator<string> {
  for await (const { line } of linesOf(journal, scope)) yield line;
  const segment = await journal.segment(scope);
  if (segment !== undefined) yield segment.snapshot;
  for (const { text } of await journal.inbox(scope)) yield text;
}

/** Takes those out of a set that some log names. */
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
 * A snapshot is the state after lines that are there, or after a segment: it names nothing that they do not. Lines are
 * read as they are stored: sealed ones say which blobs they name, and need no key.
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

/** How often it is asked whether it is time, at most; and how long what is on its way may take. */
const lookEveryMs = 3_600_000;
const settleMs = 60_000;

export interface SweeperPort extends Pick<RuntimeOptions, "journal" | "log" | "sweep"> {
  readonly platform: Platform;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** Sweeps from time to time. Of those who share a store of blobs the first whose turn it is does it for all. */
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
