import { DatabaseSync } from "node:sqlite";
import type { Append } from "@pawl/runtime/driver";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Appender } from "../src/sqlite/append.ts";
import { claim } from "../src/sqlite/ownership.ts";
import { Connection } from "../src/sqlite/connection.ts";
import { read } from "../src/sqlite/query.ts";
import { ScopeIndex } from "../src/sqlite/scope-index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

interface Writer {
  readonly at: Connection;
  readonly index: ScopeIndex;
  readonly append: (...appends: readonly Append[]) => readonly string[];
  /** The mark up to which the file's index is current. */
  readonly mark: () => unknown;
}

const writer = (name: string, ...scopes: readonly string[]): Writer => {
  const at = new Connection(file(name), { synchronous: "normal" });
  const index = new ScopeIndex(at);
  const appender = new Appender(at, index);
  for (const scope of scopes) claim(at, index, scope, { instance: "a", protocol: 1, above: 0 });
  return {
    at,
    index,
    append: (...appends) => appender.appendAll(appends).map(({ type }) => type),
    mark: () => {
      const other = new DatabaseSync(file(name), { readOnly: true });
      const found = other.prepare("SELECT upto FROM mark").get()?.["upto"];
      other.close();
      return found;
    },
  };
};

/** Returns an append that finishes this many requests. */
const finishing = (scope: string, seq: number, count: number): Append => ({
  ...oneLine(scope, 1, seq),
  finished: Array.from({ length: count }, (_, i) => ({ kind: "request", id: `${seq}.${i}`, seq })),
});

describe("the mark", () => {
  it("moves after a thousand commits, single appends or groups, and then after the next thousand", () => {
    const { at, append, mark } = writer("mark.db", "s", "t");
    let seq = 0;
    const commit = (): void => {
      seq += 1;
      const appends = [oneLine("s", 1, seq), oneLine("t", 1, seq)];
      if (seq % 2 === 0) expect(append(...appends)).toEqual(["ok", "ok"]);
      else for (const one of appends) expect(append(one)).toEqual(["ok"]);
    };
    const marks = new Set<unknown>();
    for (let commits = 3; commits <= 2250; commits += 3) {
      commit();
      commit();
      if (commits % 150 === 0) marks.add(mark());
    }
    expect(marks.size).toBe(3); // The first mark, and one after each thousand.
    at.close();
  });

  it("moves once when more has finished than is sorted in at a time", () => {
    const { at, append, mark } = writer("finished.db", "s");
    const before = mark();
    append(finishing("s", 1, 4096));
    expect(mark()).toBe(before);
    append(finishing("s", 2, 1));
    const moved = mark();
    expect(moved).not.toBe(before);
    append(finishing("s", 3, 1));
    expect(mark()).toBe(moved);
    at.close();
  });
});

describe("the index of scopes", () => {
  it("caches the scopes that appended last, and evicts the oldest", () => {
    const { at, index } = writer("many.db");
    const keep = (i: number, seq: number): void =>
      index.keep(`${i}`, { id: i, epoch: 1, protocol: 1, seq, head: undefined, appendId: "" });
    for (let i = 0; i < 4096; i++) keep(i, 1);
    keep(0, 2);
    keep(4096, 1);
    expect(index.current("0")?.seq).toBe(2);
    expect(index.current("1")).toBeUndefined();
    expect(index.current("2")?.seq).toBe(1);
    at.close();
  });

  it("is read from the file after a rolled-back group, if another process has appended since", () => {
    const { at, append } = writer("rolled-back.db", "s", "t");
    for (const seq of [1, 2]) append(oneLine("s", 1, seq));
    vi.spyOn(at.sql.commit, "run").mockImplementationOnce(() => {
      throw new Error("disk I/O error");
    });
    expect(append(oneLine("s", 1, 3), oneLine("t", 1, 1), oneLine("t", 1, 2))).toEqual(["failed", "failed", "failed"]);
    expect(append(oneLine("s", 1, 3))).toEqual(["ok"]);
    const other = new Connection(at.file);
    new Appender(other, new ScopeIndex(other)).appendAll([oneLine("s", 1, 4, " of another")]);
    other.close();
    expect(append({ ...oneLine("s", 1, 4), appendId: "mine" })).toEqual(["conflict"]);
    at.close();
  });

  it("is read from the file after a single append with an unknown outcome", () => {
    const { at, index, append } = writer("unknown.db", "s");
    append(oneLine("s", 1, 1));
    append(oneLine("s", 1, 2));
    const { appendAlone } = at.sql;
    const run = appendAlone.run.bind(appendAlone);
    vi.spyOn(appendAlone, "run").mockImplementationOnce((...row: Parameters<typeof run>) => {
      run(...row);
      throw new Error("disk I/O error");
    });
    expect(append(oneLine("s", 1, 3))).toEqual(["failed"]);
    expect(append(oneLine("s", 1, 3))).toEqual(["ok"]);
    expect(append(oneLine("s", 1, 4))).toEqual(["ok"]);
    expect(read(at, index, "s", 1, Infinity).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(at.sql.newest.get()?.["id"]).toBe(4); // Each one is there once.
    at.close();
  });
});
