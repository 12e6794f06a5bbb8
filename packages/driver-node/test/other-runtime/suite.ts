/**
 * `suite.ts FOLDER [inline] [thread]`: runs the checks of journals and moves over SQLite, and those of the platform, in whichever
 * runtime this is, and prints what fails as JSON.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { platformChecks, journalChecks, moveChecks } from "@pawl/testkit";
import { nodePlatform, sqliteJournal } from "../../src/index.ts";
import { fileRig } from "../sqlite-rig.ts";

const [folder = ".", ...ways] = process.argv.slice(2);
const failed: Record<string, string> = {};
let passed = 0;

/** Returns the code of what a function throws. */
const codeOf = (run: () => unknown): string => {
  try {
    run();
    return "none";
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
  }
};

const checked = async (name: string, run: () => Promise<void>): Promise<void> => {
  try {
    await run();
    passed += 1;
  } catch (thrown) {
    failed[name] = thrown instanceof Error ? thrown.message : String(thrown);
  }
};

for (const commits of (["inline", "thread"] as const).filter((way) => ways.includes(way)))
  for (const [i, { name, run }] of [...journalChecks, ...moveChecks].entries())
    await checked(`${commits}: ${name}`, async () => {
      const rig = fileRig(join(folder, `suite-${commits}-${i}.db`), { commits });
      try {
        await run(rig);
      } finally {
        await rig.close();
      }
    });
await checked("says that a file is no database", async () => {
  const file = join(folder, "text.db");
  writeFileSync(file, "this is a text, and longer than the header of a database: ".repeat(40));
  const opened = (): unknown => sqliteJournal(file, { commits: "inline" });
  const code = codeOf(opened);
  if (code !== "not_intact") throw new Error(`expected not_intact, found ${code}`);
});
await checked("keeps a scope whose name has a NUL, or refuses it", async () => {
  const name = "session:a\0b";
  const journal = sqliteJournal(join(folder, "nul.db"), { commits: "inline" });
  const claimed = await journal.claim(name, "a", 2).catch((thrown: unknown) => thrown);
  const scopes = (await journal.scopes("", "", 9)).map(({ scope }) => scope);
  await journal.close();
  const wanted = claimed instanceof Error ? [] : [name];
  if (JSON.stringify(scopes) !== JSON.stringify(wanted)) throw new Error(`found ${JSON.stringify(scopes)}`);
});
for (const { name, run } of platformChecks) await checked(name, () => run(nodePlatform));

console.log(JSON.stringify({ passed, failed }));
