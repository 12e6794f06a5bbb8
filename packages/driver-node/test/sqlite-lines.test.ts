/** Reading lines: a scan where a scope's rows are close together, a walk where others' rows lie between. */
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

/** Appends one to three lines to scopes in this order. Returns each scope's lines. */
const written = async (journal: SqliteJournal, scopes: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const all = new Map<string, string[]>();
  for (const scope of new Set(scopes)) {
    await journal.claim(scope, "a", 1);
    all.set(scope, []);
  }
  for (const [i, scope] of [...scopes].entries()) {
    const lines = all.get(scope) ?? [];
    const expectedSeq = lines.length + 1;
    const more = Array.from({ length: 1 + (i % 3) }, (_, n) => ({ seq: expectedSeq + n, line: `${scope}${i}${n}\n` }));
    const append = { ...oneLine(scope, 1, expectedSeq), lines: more };
    expect(await journal.appendAll([append])).toEqual([{ type: "ok" }]);
    lines.push(...more.map(({ line }) => line));
  }
  return all;
};

it.each(["aaaaaaaa", "abababab", "aaaabbbb", "abbbbbba", "bbbaabbbbbcccaaccc"])(
  "reads any part of a scope's log: %s",
  async (order) => {
    const journal = sqliteJournal(file(`${order}.db`));
    for (const [scope, lines] of await written(journal, order))
      for (let from = 0; from <= lines.length + 2; from++)
        for (const to of [from, from + 1, from + 3, undefined]) {
          const found = await journal.read(scope, from, to);
          const expected = lines.map((line, i) => ({ seq: i + 1, line }));
          expect(found).toEqual(expected.filter(({ seq }) => seq >= from && seq <= (to ?? Infinity)));
        }
    await journal.close();
  },
);

it("names a missing row, even if rows are scanned", async () => {
  const path = file("gone.db");
  const journal = sqliteJournal(path);
  await written(journal, "aaaaaa");
  await journal.close();
  const db = new DatabaseSync(path);
  db.exec("DELETE FROM append WHERE id = 3");
  db.close();
  const after = sqliteJournal(path);
  await expect(after.read("a", 1)).rejects.toMatchObject({ code: "not_intact" });
  await after.close();
});

describe("a read of a part", () => {
  const all = vi.spyOn(StatementSync.prototype, "all");
  afterEach(() => void all.mockClear());
  afterAll(() => void all.mockRestore());
  const rows = (): number => all.mock.results.reduce((sum, { value }) => sum + (value as readonly unknown[]).length, 0);

  it("loads the rows of that part only", async () => {
    const journal = sqliteJournal(file("part.db"), { commits: "inline" });
    await written(journal, "a".repeat(300));
    all.mockClear();
    expect(await journal.read("a", 1, 1)).toHaveLength(1);
    expect(rows()).toBe(1);
    await journal.close();
  });

  it("loads each row once if others lie between", async () => {
    const journal = sqliteJournal(file("between.db"), { commits: "inline" });
    await written(journal, "abb".repeat(100));
    all.mockClear();
    await journal.read("a", 1);
    expect(rows()).toBe(100);
    await journal.close();
  });
});
