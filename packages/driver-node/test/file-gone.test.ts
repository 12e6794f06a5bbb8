/** A journal whose file is taken away from under a live runtime: nothing more is acknowledged into nowhere. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { type Session, defineTool } from "@pawl/runtime";
import type { LogEntry } from "@pawl/runtime/driver";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type OpenRuntime, openRuntime } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";
import { until } from "./until.ts";

const { file, remove } = testFolder();
afterAll(remove);

const echo = defineTool({ name: "echo", execute: (args) => args });
const wait = defineTool({ name: "wait", durable: true, execute: (_, ctx) => ctx.waitFor("never") });
const use = (tool: string) => [{ label: "c", tool, args: {} }];

const open = (path: string, entries: LogEntry[]): OpenRuntime =>
  openRuntime({
    file: path,
    tools: [echo, wait],
    lease: { ttlMs: 300 },
    log: (entry) => void entries.push(entry),
  });

const lostBy = async (takeAway: (path: string) => void, name: string) => {
  const path = file(name);
  const entries: LogEntry[] = [];
  const { runtime, close } = open(path, entries);
  const session = await runtime.session("s");
  await session.request("before", use("echo"));
  const waiting = session.request("waits", use("wait")).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  takeAway(path);
  const lost = await waiting;
  const calling = (again: Session | Promise<Session>) =>
    Promise.resolve(again).then((one) => one.request("after", use("echo")));
  const refused = await calling(runtime.session("s")).then(undefined, (thrown: unknown) => thrown);
  return { path, entries, runtime, close, lost, refused };
};

const gone = {
  name: "JournalFileError",
  code: "file_gone",
  message: expect.stringContaining("deleted, moved or replaced"),
};
const takenAway: readonly (readonly [string, (path: string) => void])[] = [
  ["deleted", (path) => rmSync(path)],
  ["moved", (path) => renameSync(path, `${path}.old`)],
  [
    "replaced by another",
    (path) => {
      renameSync(path, `${path}.old`);
      for (const part of ["-wal", "-shm"]) if (existsSync(path + part)) renameSync(path + part, `${path}.old${part}`);
      void openRuntime({ file: path, tools: [] }).close();
    },
  ],
];

describe.each(takenAway)("a journal that is %s while a runtime works", (how, takeAway) => {
  it("ends what waits with `scope_lost`, takes no more work, and says why", async () => {
    const { entries, close, lost, refused } = await lostBy(takeAway, `${how}.db`);
    expect(lost).toMatchObject({ code: "scope_lost" });
    expect(refused).toMatchObject(gone);
    await until(() => entries.some(({ thrown }) => (thrown as { readonly code?: string })?.code === "file_gone"));
    await close();
  });
});

describe("a journal that comes back", () => {
  it("is worked on again, with all that was acknowledged", async () => {
    const { path, runtime, close, refused } = await lostBy((at) => renameSync(at, `${at}.old`), "back.db");
    expect(refused).toMatchObject(gone);
    renameSync(`${path}.old`, path);
    const session = await vi.waitFor(() => runtime.session("s"));
    expect(await session.replies("before")).toMatchObject([{ output: { outcome: { payload: {} } } }]);
    await close();
  });
});
