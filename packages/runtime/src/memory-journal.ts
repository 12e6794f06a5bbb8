/** A journal in memory: for tests, for trying things out, and as the plainest statement of what a store must do. */
import type { Append, AppendResult, Claim, Journal, JournalLine } from "./journal.ts";

/** What is kept of one scope. */
class StoredScope {
  epoch = 0;
  wakeAt: number | undefined;
  readonly lines: JournalLine[] = [];
  readonly appendIds = new Set<string>();
  readonly finished = new Map<string, number>();

  get seq(): number {
    return this.lines.at(-1)?.seq ?? 0;
  }

  claim(): Claim {
    this.epoch += 1;
    return { epoch: this.epoch, seq: this.seq };
  }

  append({ epoch, expectedSeq, appendId, lines, finished, wakeAt }: Append): AppendResult {
    if (epoch !== this.epoch) return { type: "fenced", epoch: this.epoch };
    if (this.appendIds.has(appendId)) return { type: "ok" };
    if (expectedSeq !== this.seq + 1) return { type: "conflict", seq: this.seq };
    this.lines.push(...lines);
    this.appendIds.add(appendId);
    for (const { kind, id, seq } of finished) this.finished.set(indexKey(kind, id), seq);
    this.wakeAt = wakeAt;
    return { type: "ok" };
  }
}

const indexKey = (kind: string, id: string): string => `${kind} ${id}`;

/** A store that holds what it is told, and forgets it with the process. */
export const memoryJournal = (): Journal => {
  const scopes = new Map<string, StoredScope>();
  const at = (scope: string): StoredScope => {
    const stored = scopes.get(scope) ?? new StoredScope();
    scopes.set(scope, stored);
    return stored;
  };
  return {
    claim: async (scope) => at(scope).claim(),
    appendAll: async (appends) => appends.map((append) => at(append.scope).append(append)),
    read: async (scope, from) => at(scope).lines.filter(({ seq }) => seq >= from),
    find: async (scope, kind, id) => at(scope).finished.get(indexKey(kind, id)),
    due: async (now) => [...scopes].filter(([, { wakeAt }]) => wakeAt !== undefined && wakeAt <= now).map(([id]) => id),
  };
};
