/** A flow whose host is killed with SIGKILL at any node resumes there. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

interface Ran {
  readonly text: string;
  readonly signal: string | null;
}

const run = (journal: string, done: string, shown: number): Promise<Ran> => {
  const program = join(import.meta.dirname, "flow-process.ts");
  const child = spawn(process.execPath, [program, journal, done, `${shown}`], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.on("close", (_, signal) => resolve({ text, signal })));
};

const countsOf = (done: string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const line of readFileSync(done, "utf8").split("\n").slice(0, -1)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};

const works = ["first", "twice ha", "turn a", "else", "turn b", "then", "left", "right", "last"];

describe("a flow on SQLite whose host is killed with SIGKILL", () => {
  it("at any node resumes there: ended nodes are not repeated, and the result is the same", async () => {
    const [undisturbed, done] = [file("undisturbed.db"), file("undisturbed.done")];
    writeFileSync(done, "");
    const { text: expected } = await run(undisturbed, done, 0);
    expect(JSON.parse(expected)).toMatchObject({ ending: { type: "returned" } });
    expect([...countsOf(done).keys()].toSorted()).toEqual(works.map((work) => `"${work}"`).toSorted());

    for (const place of works.map((_, node) => node + 1)) {
      const [journal, log] = [file(`killed-${place}.db`), file(`killed-${place}.done`)];
      writeFileSync(log, "");
      expect((await run(journal, log, place)).signal).toBe("SIGKILL");
      const { text, signal } = await run(journal, log, 0);
      expect([place, signal, text]).toEqual([place, null, expected]);
      const counts = countsOf(log);
      expect([...counts.keys()].toSorted()).toEqual(works.map((work) => `"${work}"`).toSorted());
      const again = [...counts.values()].filter((count) => count > 1);
      expect(again.length).toBeLessThanOrEqual(2); // One node or both branches were in progress.
      expect(Math.max(...counts.values())).toBeLessThanOrEqual(2);
    }
  }, 600_000);
});
