/**
 * Takes away blobs that no log names any more. Whoever records a reference has put its blob just before, so a blob that
 * was put within the grace is spared: its event may be on its way. Dying in between leaves more than is needed.
 */
import { namesIn } from "./blob.ts";
import type { Journal } from "./journal.ts";

export interface SweepOptions {
  /** How long a blob is spared after it was put: longer than any append takes. */
  readonly graceMs?: number;
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

/** Lines before the segment: what retention takes from the lines meanwhile is in the segment by then. */
async function* textsOf(journal: Journal, scope: string): AsyncGenerator<string> {
  for (let from = 1; ; from += linesAtOnce) {
    const lines = await journal.read(scope, from, from + linesAtOnce - 1);
    for (const { line } of lines) yield line;
    if (lines.length === 0 && (await journal.read(scope, from)).length === 0) break;
  }
  const segment = await journal.segment(scope);
  if (segment !== undefined) yield segment.snapshot;
  for (const { text } of await journal.inbox(scope)) yield text;
}

/** A snapshot is the state after lines that are there, or after a segment: it names nothing that they do not. */
export const sweepBlobs = async (journal: Journal, { graceMs = defaultGraceMs }: SweepOptions = {}): Promise<Sweep> => {
  const { blobs } = journal;
  const old = new Set(await blobs?.old(graceMs));
  const looked = old.size;
  if (blobs === undefined || looked === 0) return { looked, removed: [] };
  for await (const scope of scopesOf(journal)) {
    for await (const text of textsOf(journal, scope)) for (const name of namesIn(text)) old.delete(name);
  }
  const removed: string[] = [];
  for (const name of old) if (await blobs.remove(name, graceMs)) removed.push(name);
  return { looked, removed };
};
