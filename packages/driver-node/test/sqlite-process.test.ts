/** Several processes on one journal file, some of them killed with SIGKILL. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Journal } from "@pawl/runtime";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteJournal } from "../src/index.ts";
import { oneLine, testFolder } from "./sqlite-rig.ts";
import { until } from "./until.ts";

const { file, remove } = testFolder();
afterAll(remove);

interface Contender {
  readonly child: ChildProcess;
  /** The acknowledged appends that it has printed. */
  readonly said: () => readonly string[];
  readonly ended: Promise<void>;
}

const contend = (path: string, name: string, work: "hold" | "contend"): Contender => {
  const program = join(import.meta.dirname, "contender.ts");
  const child = spawn(process.execPath, [program, path, name, work], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return { child, said: () => text.split("\n").slice(0, -1), ended };
};

describe("processes on one journal file", () => {
  it("lose no acknowledged append and double none, while they take scopes from each other and are killed", async () => {
    const path = file("contended.db");
    await sqliteJournal(path).close();
    const contenders = ["one", "two", "three"].map((name) => contend(path, name, "contend"));
    await until(() => contenders.every(({ said }) => said().length > 10));
    contenders[0]?.child.kill("SIGKILL");
    await until(() => contenders.slice(1).every(({ said }) => said().length > 40));
    for (const { child } of contenders) child.kill("SIGKILL");
    await Promise.all(contenders.map(({ ended }) => ended));
    const journal = sqliteJournal(path);
    const acknowledged = new Set(contenders.flatMap(({ said }) => said()));
    for (const { scope, seq: last } of await journal.scopes("", "", 9)) {
      const lines = await journal.read(scope, 1);
      expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
      const written = lines.map(({ line }) => line.trim());
      expect(new Set(written).size).toBe(written.length);
      for (const line of written) acknowledged.delete(line);
      const epochs = written.map((line) => Number(line.split(" ")[2]));
      expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
      expect(await journal.verify(scope)).toMatchObject({ type: "whole", seq: last });
    }
    expect([...acknowledged]).toEqual([]);
    await journal.close();
  }, 60_000);

  it("end the lease of a killed process at once, and keep that of a live one", async () => {
    const path = file("held.db");
    await sqliteJournal(path).close();
    const holder = contend(path, "holder", "hold");
    await until(() => holder.said().includes("holds"));
    const journal = sqliteJournal(path);
    expect(await journal.claim("s", "next", 1)).toMatchObject({ type: "owned_by", instance: "holder" });
    expect(await journal.lost()).toEqual([]);
    holder.child.kill("SIGKILL");
    await holder.ended;
    expect(await journal.lost()).toEqual(["holder"]);
    expect(await journal.claim("s", "next", 1)).toMatchObject({ type: "claimed", epoch: 2 });
    await journal.close();
  }, 60_000);
});

describe("a lease whose process has ended early", () => {
  const whatShows: Readonly<Record<string, (journal: Journal) => Promise<unknown>>> = {
    "claims the scope": async (journal) => (await journal.claim("s", "b", 1)).type,
    "looks for what is due": (journal) => journal.due(1, "b"),
    "lists scopes": async (journal) => (await journal.scopes("", "", 1))[0]?.held,
    "looks for the lost": (journal) => journal.lost(),
  };
  it.each([
    ["claims the scope", "owned_by", "claimed"],
    ["looks for what is due", [], ["s"]],
    ["lists scopes", {}, undefined],
    ["looks for the lost", [], ["a"]],
  ] as const)("has expired for whoever %s", async (what, before, after) => {
    const path = file(`${what}.db`);
    const journal = sqliteJournal(path, { commits: "inline" });
    await journal.join("a", { ttlMs: 60_000 });
    await journal.claim("s", "a", 1);
    await journal.appendAll([{ ...oneLine("s", 1, 1), wakeAt: 1 }]);
    expect(await whatShows[what]?.(journal)).toEqual(before);
    const later = new DatabaseSync(path);
    later.exec("UPDATE instance SET process = process || '0'"); // As if another process had its number by now.
    later.close();
    expect(await whatShows[what]?.(journal)).toEqual(after);
    await journal.close();
  });
});

describe("a journal file that was changed by hand", () => {
  it("is detected by its chain from where it was hashed before", async () => {
    const path = file("forged.db");
    const journal = sqliteJournal(path, { commits: "inline" });
    await journal.claim("s", "a", 1);
    for (const seq of [1, 2, 3]) await journal.appendAll([oneLine("s", 1, seq)]);
    expect(await journal.verify("s")).toMatchObject({ type: "whole", seq: 3, kept: 0 });
    const head = await journal.head("s");
    expect(await journal.verify("s")).toEqual({ type: "whole", base: 0, ...head, kept: 3 });
    const forger = new DatabaseSync(path);
    forger.exec("UPDATE append SET lines = '9' || char(10) WHERE first = 2");
    forger.close();
    expect(await journal.verify("s")).toMatchObject({ type: "broken", base: 0, seq: 3, expected: head?.hash });
    await journal.close();
  });
});
