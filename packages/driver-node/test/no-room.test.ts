/** A full disk: the call whose value does not fit fails, and the session continues. */
import { statSync, writeFileSync } from "node:fs";
import type { Reply } from "@pawl/runtime";
import { type Journal, Runtime, defineTool } from "@pawl/runtime";
import { afterAll, describe, expect, it } from "vitest";
import { nodePlatform, sqliteJournal } from "../src/index.ts";
import { rootsOf } from "../src/journal/root-secret.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const makes = defineTool<{ readonly size: number }>({
  name: "makes",
  durable: true,
  execute: ({ size }) => "x".repeat(size),
});
const use = (size: number) => [{ label: "c", tool: "makes", args: { size } }];
const outcome = ([reply]: readonly Reply[]): unknown => reply?.output.outcome;
const failure = { status: "failure", payload: { class: "resource_limit", code: "value_not_stored" } };

const runtimeOver = (journal: Journal, faults: unknown[] = []): Runtime =>
  new Runtime({
    journal,
    platform: nodePlatform,
    tools: [makes],
    instance: "i",
    roots: rootsOf(":memory:"),
    host: { fault: (_, thrown) => void faults.push(thrown) },
  });

describe("a folder of large values that cannot be written", () => {
  it("fails the call that needs it, and tells the host why", async () => {
    const blobs = file("values");
    const journal = sqliteJournal(file("blobs.db"), { blobs });
    writeFileSync(blobs, "a file is in the way");
    const faults: unknown[] = [];
    const session = await runtimeOver(journal, faults).session("s");
    expect(outcome(await session.request("r1", use(100_000)))).toMatchObject(failure);
    expect(outcome(await session.request("r2", use(1000)))).toMatchObject({ status: "success" });
    expect(session.state.scope.epoch).toBe(1);
    expect(faults).toMatchObject([{ name: "JournalFileError", code: "io_failed" }]);
    await journal.close();
  });
});

describe.each(["inline", "thread"] as const)("a full journal file that commits %s", (commits) => {
  it("fails the call that is too large, and the others continue", async () => {
    const path = file(`full-${commits}.db`);
    await sqliteJournal(path).close();
    const journal = sqliteJournal(path, { commits, maxBytes: statSync(path).size + 32_768 });
    const runtime = runtimeOver(journal);
    const call = async (request: string, size: number) =>
      outcome(await (await runtime.session("s")).request(request, use(size)));
    await expect(call("r1", 60_000)).rejects.toMatchObject({
      code: "scope_lost",
      message: expect.stringMatching(/full/),
    });
    expect(await call("r1", 60_000)).toMatchObject(failure);
    expect(await call("r2", 100)).toMatchObject({ status: "success" });
    expect((await runtime.session("s")).state.scope.epoch).toBe(2);
    await journal.close();
  });
});
