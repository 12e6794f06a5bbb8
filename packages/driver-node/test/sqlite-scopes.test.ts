/** Lists scopes by the prefix of their names. */
import { afterAll, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { Connection } from "../src/sqlite/connection.ts";
import { scopes } from "../src/sqlite/query.ts";
import { ScopeIndex } from "../src/sqlite/scope-index.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const listed = async (journal: SqliteJournal, prefix: string, after = "", limit = 100): Promise<readonly string[]> =>
  (await journal.scopes(prefix, after, limit)).map(({ scope }) => scope);

it("lists all names with a prefix, whatever its characters, and no others", async () => {
  const ids = ["", "a", "a\0", "a\0b", "a\0c", "aa", "a\u{d7ff}", "a\u{e000}", "a\u{10ffff}", "a\u{10ffff}b", "b", "é"];
  const names = ids.flatMap((id) => [`process:${id}`, `session:${id}`, `s${id}`]);
  const journal = sqliteJournal(file("names.db"), { commits: "inline" });
  for (const name of names) await journal.claim(name, "x", 1);
  const whole = await listed(journal, "");
  expect(whole.toSorted()).toEqual(names.toSorted());
  for (const prefix of [...names, "\u{10ffff}", "session:a\u{10ffff}\u{10ffff}"]) {
    const wanted = whole.filter((name) => name.startsWith(prefix));
    expect(await listed(journal, prefix)).toEqual(wanted);
    expect(await listed(journal, prefix, wanted[0], 2)).toEqual(wanted.slice(1, 3));
  }
  await journal.close();
});

it("finds a name, whatever comes before and after it", () => {
  const path = file("many.db");
  const at = new Connection(path);
  const scope = at.sql.make;
  at.transact(() => {
    for (let i = 0; i < 200_000; i++) scope.run(`session:${i}`);
  });
  const index = new ScopeIndex(at);
  const msOnce = (prefix: string, after: string): number => {
    const begun = performance.now();
    for (let i = 0; i < 20; i++) scopes(at, index, "scopes", [prefix, after, 1]);
    return performance.now() - begun;
  };
  const ms = (prefix: string, after: string): number =>
    Math.min(...Array.from({ length: 3 }, () => msOnce(prefix, after)));
  const first = ms("session:0", "");
  for (const [prefix, after] of [
    ["session:99999", ""],
    ["session:x", ""],
    ["session:0x", ""],
    ["a", "t"],
  ] as const)
    expect(ms(prefix, after)).toBeLessThan(10 * first + 10); // Walking all names took 20 ms each time.
  at.close();
});
