/** One scope in a journal in memory. */
import { chain, chainStart } from "@pawl/sansio-core/driver";
import type {
  Adoption,
  IndexEntry,
  Append,
  AppendResult,
  ChainHead,
  Holding,
  JournalLine,
  InboxMessage,
  InboxMessageId,
  LastOwner,
  NotWritten,
  Retained,
  Segment,
  Snapshot,
} from "./journal.ts";

const indexKey = (kind: string, id: string): string => `${kind} ${id}`;

const messageKey = ({ kind, link, number, from }: InboxMessageId & { readonly from: string }): string =>
  `${kind} ${link} ${number} ${from}`;

/** Returns the chain before the first append, which hashes the scope's name. */
export const chainStartOf = (scope: string): string => chain(chainStart, [`${scope}\n`]);

export class StoredScope {
  readonly name: string;
  epoch = 0;
  protocol = 0;
  owner: string | undefined;
  /** The last sequence when an owner released it. */
  #releasedAt: number | undefined;
  wakeAt: number | undefined;
  approvals = 0;
  #lines: JournalLine[] = [];
  #seq = 0;
  readonly #appendIds = new Set<string>();
  readonly #finished = new Map<string, IndexEntry>();
  readonly #inbox = new Map<string, InboxMessage>();
  /** The chain by the last sequence of each append. The newest appends are hashed on demand. */
  readonly #links = new Map<number, string>();
  #unlinked: (readonly JournalLine[])[] = [];
  #hash: string;
  #snapshot: Snapshot | undefined;
  #segment: Segment | undefined;

  constructor(name: string) {
    this.name = name;
    this.#hash = chainStartOf(name);
  }

  get seq(): number {
    return this.#seq;
  }
  get segment(): Segment | undefined {
    return this.#segment;
  }
  get head(): ChainHead | undefined {
    this.#link();
    return this.#seq === 0 ? undefined : { seq: this.#seq, hash: this.#hash };
  }
  get hasMail(): boolean {
    return this.#inbox.size > 0;
  }
  get holding(): Holding {
    const { epoch, seq } = this;
    return { epoch, seq, ...(this.#snapshot && { snapshot: this.#snapshot }) };
  }

  claim(owner: string, above: number): Holding & { readonly lastOwner?: LastOwner } {
    this.epoch = Math.max(this.epoch, above) + 1;
    this.owner = owner;
    if (this.#seq === 0) return this.holding;
    return { lastOwner: this.#releasedAt === this.#seq ? "released" : "lost", ...this.holding };
  }

  release(): void {
    this.owner = undefined;
    this.#releasedAt = this.#seq;
  }

  #fenced(epoch: number): NotWritten | undefined {
    return epoch === this.epoch && epoch > 0 ? undefined : { type: "fenced", epoch: this.epoch };
  }

  /** Returns the result of an append that is refused or there already; undefined if it follows. */
  judge({ epoch, appendId, expectedSeq }: Append): AppendResult | undefined {
    const fenced = this.#fenced(epoch);
    if (fenced !== undefined) return fenced;
    if (this.#appendIds.has(appendId)) return { type: "ok" };
    return expectedSeq === this.#seq + 1 ? undefined : { type: "conflict", seq: this.#seq };
  }

  write({ appendId, lines, finished, wakeAt, approvals = this.approvals, protocol, received }: Append): void {
    for (const letter of received) this.#inbox.delete(messageKey(letter));
    if (lines.length === 0) return;
    this.#lines.push(...lines);
    this.#seq += lines.length;
    this.#unlinked.push(lines);
    this.#appendIds.add(appendId);
    for (const entry of finished) this.#finished.set(indexKey(entry.kind, entry.id), entry);
    this.wakeAt = wakeAt;
    this.approvals = approvals;
    this.protocol = protocol;
  }

  #link(): void {
    for (const lines of this.#unlinked) {
      const texts = lines.map(({ line }) => line);
      this.#hash = chain(this.#hash, texts);
      this.#links.set(lines.at(-1)?.seq ?? 0, this.#hash);
    }
    this.#unlinked = [];
  }

  deliver(letter: InboxMessage): void {
    this.#inbox.set(messageKey(letter), letter);
  }

  read(from: number, to: number): readonly JournalLine[] {
    return this.#lines.filter(({ seq }) => seq >= from && seq <= to);
  }
  find(kind: string, id: string): number | undefined {
    return this.#finished.get(indexKey(kind, id))?.seq;
  }
  index(): readonly IndexEntry[] {
    return [...this.#finished.values()];
  }
  inbox(): readonly InboxMessage[] {
    return [...this.#inbox.values()];
  }

  /** Replaces everything with a scope from another store. */
  adopt(adoption: Adoption): NotWritten | undefined {
    const fenced = this.#fenced(adoption.epoch);
    if (fenced !== undefined) return fenced;
    const { segment, kept, letters } = adoption;
    this.#lines = [...kept];
    this.#seq = segment?.base ?? 0;
    this.#links.clear();
    this.#unlinked = [];
    this.#hash = segment?.hash ?? chainStartOf(this.name);
    if (segment !== undefined) this.#links.set(segment.base, segment.hash);
    this.#segment = segment;
    this.#snapshot = undefined;
    this.#appendIds.clear();
    this.write({ ...adoption, expectedSeq: this.#seq + 1, messages: [], received: [] });
    for (const letter of letters) this.deliver(letter);
    return undefined;
  }

  keepSnapshot(epoch: number, snapshot: Snapshot): AppendResult {
    const fenced = this.#fenced(epoch);
    if (fenced !== undefined) return fenced;
    this.#link();
    if (!this.#links.has(snapshot.seq)) return { type: "conflict", seq: this.#seq };
    this.#snapshot = snapshot;
    return { type: "ok" };
  }

  retain(epoch: number, keep: readonly number[]): Retained {
    const fenced = this.#fenced(epoch);
    if (fenced !== undefined) return fenced;
    const { seq: base, text: snapshot } = this.#snapshot ?? { seq: 0, text: "" };
    const hash = this.#links.get(base);
    if (hash === undefined) return { type: "conflict", seq: this.#seq };
    const kept = new Set(keep);
    this.#lines = this.#lines.filter(({ seq }) => seq > base || kept.has(seq));
    for (const seq of this.#links.keys()) if (seq < base) this.#links.delete(seq);
    this.#segment = { base, hash, snapshot };
    return { type: "ok", base };
  }
}
