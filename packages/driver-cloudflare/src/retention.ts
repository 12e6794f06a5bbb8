/** Snapshots, retention, and the hash chain over the appends of the scope. */
import {
  type AppendResult,
  type ChainCheck,
  type ChainHead,
  type Retained,
  type Segment,
  chainStartOf,
} from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import type { ScopeLog } from "./log.ts";
import type { Row, Tables } from "./table.ts";

interface SnapshotRow extends Row {
  readonly seq: number;
  readonly text: string;
}
interface SegmentRow extends Row {
  readonly base: number;
  readonly hash: string;
  readonly text: string;
}
interface ChainRow extends Row {
  readonly seq: number;
  readonly hash: string;
}

export class Retention {
  readonly #tables: Tables;
  readonly #log: ScopeLog;

  constructor(tables: Tables, log: ScopeLog) {
    this.#tables = tables;
    this.#log = log;
  }

  /** Returns the chain at the start of the lines: after the segment, or before the first line. */
  #start(): ChainHead {
    const [segment] = this.#tables.read<SegmentRow>("segment", "");
    return segment === undefined
      ? { seq: 0, hash: chainStartOf(this.#log.name) }
      : { seq: segment.base, hash: segment.hash };
  }

  /** Computes the chain from a point on, up to the append that ends at a sequence; undefined if none ends there. */
  #chainTo(to: number, from: ChainHead): ChainHead | undefined {
    let { seq, hash } = from;
    if (to > seq)
      for (const { last, lines } of this.#log.appends(seq + 1, to)) {
        hash = chain(
          hash,
          lines.map(({ line }) => line),
        );
        seq = last;
      }
    return seq === to ? { seq, hash } : undefined;
  }

  /** Returns the recorded point of the chain. */
  #recorded(): ChainHead | undefined {
    const [row] = this.#tables.read<ChainRow>("chain", "");
    return row && { seq: row.seq, hash: row.hash };
  }

  /** Returns the chain over all lines, and records it. */
  head(): ChainHead | undefined {
    if (this.#log.seq === 0) return undefined;
    const recorded = this.#recorded();
    if (recorded?.seq === this.#log.seq) return recorded;
    const head = this.#chainTo(this.#log.seq, recorded ?? this.#start());
    if (head === undefined) return undefined;
    this.#tables.need("chain");
    this.#tables.exec(`INSERT OR REPLACE INTO chain VALUES (1, ?, ?)`, head.seq, head.hash);
    return head;
  }

  verify(): ChainCheck | undefined {
    const { seq, base } = this.#log;
    if (seq === 0) return undefined;
    const recorded = this.#recorded();
    const start = this.#start();
    const at = recorded === undefined || recorded.seq < start.seq ? start : recorded;
    const found = this.#chainTo(at.seq, start);
    if (found?.hash !== at.hash)
      return { type: "broken", base, seq: at.seq, expected: at.hash, found: found?.hash ?? "no append ends there" };
    const end = this.#chainTo(seq, at) ?? at;
    return { type: "whole", base, seq: end.seq, hash: end.hash, kept: at.seq };
  }

  snapshot(epoch: number, seq: number, text: string): AppendResult {
    const fenced = this.#log.fenced(epoch);
    if (fenced !== undefined) return fenced;
    const isEnd = seq === this.#log.base || this.#log.appends(seq, seq)[0]?.last === seq;
    if (!isEnd) return { type: "conflict", seq: this.#log.seq };
    this.#tables.atOnce(() => {
      this.#tables.need("snapshot");
      const head = this.#tables.cut("snapshot", text);
      this.#tables.exec(`INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?)`, seq, head);
    });
    return { type: "ok" };
  }

  retain(epoch: number, keep: readonly number[]): Retained {
    const fenced = this.#log.fenced(epoch);
    if (fenced !== undefined) return fenced;
    const [snapshot] = this.#tables.read<SnapshotRow>("snapshot", "");
    const end = snapshot === undefined ? undefined : this.#chainTo(snapshot.seq, this.#start());
    if (snapshot === undefined || end === undefined) return { type: "conflict", seq: this.#log.seq };
    const base = snapshot.seq;
    this.#tables.atOnce(() => {
      this.#tables.need("segment");
      const head = this.#tables.cut("segment", this.#tables.whole("snapshot", snapshot.text));
      this.#tables.exec(`INSERT OR REPLACE INTO segment VALUES (1, ?, ?, ?)`, base, end.hash, head);
      this.#log.drop(base, new Set(keep));
    });
    this.#log.dropped(base);
    return { type: "ok", base };
  }

  segment(): Segment | undefined {
    const [row] = this.#tables.read<SegmentRow>("segment", "");
    return row && { base: row.base, hash: row.hash, snapshot: this.#tables.whole("segment", row.text) };
  }
}
