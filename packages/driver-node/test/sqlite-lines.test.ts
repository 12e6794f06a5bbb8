/** Lines are read as they lie where a scope's rows lie close together, and by a walk where others' lie between them. */
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

/** Appends to scopes in this order, of one, two or three lines; gives each scope's lines. */
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

it("says which row is gone, where they lie close together", async () => {
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
