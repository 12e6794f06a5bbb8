/** Sealed values: encrypted under their scope's key, and destroyed by deleting it. */
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { sealedJournal } from "@pawl/runtime/driver";
import { afterAll, describe, expect, it, vi } from "vitest";
import { aesCodec, fileKeys, memoryKeys, openRuntime, sqliteJournal } from "../src/index.ts";
import { jsonIn, pawl } from "../../cli/test/pawl.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const secret = "the secret of Ann ";
const large = secret.repeat(4000);
const echo = defineTool({
  name: "echo",
  durable: true,
  execute: (args, ctx) => ((input) => ctx.run("step", () => input, { input }))(args),
});

const called = async (path: string, session: string, keys: string): Promise<unknown> => {
  const { runtime, close } = openRuntime({ file: path, tools: [echo], codec: aesCodec(fileKeys(keys)) });
  try {
    const opened = await runtime.session(session);
    const replies = await opened.request("r", [
      { label: "c", tool: "echo", args: { secret } },
      { label: "d", tool: "echo", args: { large } },
    ]);
    return replies.map(({ output }) => output.outcome.payload);
  } finally {
    await close();
  }
};

const filesUnder = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe("a journal on SQLite whose values are encrypted", { timeout: 300_000 }, () => {
  it("contains no value in clear, in any file, and opens them with the keys", async () => {
    const [path, keys] = [file("sealed.db"), file("keys")];
    expect(await called(path, "s", keys)).toEqual([{ secret }, { large }]);
    expect(await called(path, "s", keys)).toEqual([{ secret }, { large }]);
    const files = [path, `${path}-wal`, ...filesUnder(`${path}.blobs`)].filter((name) => name !== "");
    const held = files.flatMap((name) => {
      try {
        return [readFileSync(name)];
      } catch {
        return []; // A closed journal's write-ahead log is gone.
      }
    });
    expect(held.length).toBeGreaterThan(1);
    expect(held.some((bytes) => bytes.includes("secret of Ann"))).toBe(false);
  });

  it("can be read and verified in its structure without a key", async () => {
    const [path, keys] = [file("structure.db"), file("structure-keys")];
    await called(path, "s", keys);
    const verified = await pawl(["log", "verify", `${path}#s`]);
    expect([verified.code, verified.err]).toEqual([0, ""]);
    const without = await pawl(["log", "export", `${path}#s`]);
    expect(without.out).toContain('"type":"step.settled"');
    expect(without.out).toContain('"key":"durable-step:step"');
    expect(without.out).not.toContain("secret of Ann");
    const sealed = await pawl(["show", `${path}#s`, "--json"]);
    expect(sealed.code).toBe(0);
    const open = await pawl(["log", "export", `${path}#s`, "--keys", keys]);
    expect(open.out).toContain("secret of Ann");
    expect((await pawl(["log", "verify", `${path}#s`, "--keys", keys])).code).toBe(0);
    const heads = await Promise.all(
      [[], ["--keys", keys]].map(async (more) => jsonIn(await pawl(["log", "head", `${path}#s`, "--json", ...more]))),
    );
    const [stored, same] = heads.map((head) => (head[0] as { readonly stored: object }).stored);
    expect(stored).toEqual(same);
  });

  it.each([
    ["of its log", {}],
    ["of a snapshot", { snapshotAfter: 1 }],
  ])("is not resumed without its keys, %s", async (_, more) => {
    const [path, keys] = [file(`codecless${Object.keys(more).length}.db`), file("codecless-keys")];
    const call = [{ label: "c", tool: "echo", args: { secret } }];
    const callSealed = async (): Promise<unknown> => {
      const { runtime, close } = openRuntime({ file: path, tools: [echo], codec: aesCodec(fileKeys(keys)), ...more });
      const [reply] = await (await runtime.session("s")).request("r", call);
      await close();
      return reply?.output.outcome.payload;
    };
    await callSealed();
    const before = await pawl(["log", "export", `${path}#s`]);

    const codecless = openRuntime({ file: path, tools: [echo] });
    const refused = { code: "key_missing", message: expect.stringContaining("session:s are sealed") as string };
    await expect(codecless.runtime.session("s").then((session) => session.request("r", call))).rejects.toMatchObject(
      refused,
    );
    expect(await (await codecless.runtime.session("t")).request("r", call)).toMatchObject([{ tool: "echo" }]);
    await codecless.close();
    expect(await pawl(["log", "export", `${path}#s`])).toEqual(before);
    expect(await callSealed()).toEqual({ secret });
  });

  it("can be imported only from an open export", async () => {
    const [path, keys] = [file("travels.db"), file("travel-keys")];
    await called(path, "s", keys);
    const [closed, open] = [file("closed.jsonl"), file("open.jsonl")];
    await pawl(["log", "export", `${path}#s`, "-o", closed]);
    await pawl(["log", "export", `${path}#s`, "-o", open, "--keys", keys]);
    const refused = await pawl(["log", "import", closed, "-j", file("other.db"), "--json"]);
    expect([refused.code, refused.out]).toEqual([4, expect.stringContaining("sealed")]);
    expect((await pawl(["log", "import", open, "-j", file("other.db")])).code).toBe(0);
  });

  it("loses all of a scope's values with its key, with blobs, and nothing of others", async () => {
    const [path, keys] = [file("deleted.db"), file("deleted-keys")];
    await called(path, "ann", keys);
    await called(path, "bob", keys);
    await fileKeys(keys).remove("session:ann");
    await expect(called(path, "ann", keys)).rejects.toMatchObject({ name: "SealedError", code: "key_gone" });
    expect(await called(path, "bob", keys)).toEqual([{ secret }, { large }]);
    const journal = sqliteJournal(path);
    const sealed = sealedJournal(journal, aesCodec(fileKeys(keys)));
    for (const name of (await journal.blobs?.old(0)) ?? []) {
      const read = await Promise.allSettled([
        sealed.blobs?.read("session:ann", name),
        sealed.blobs?.read("session:bob", name),
      ]);
      expect(read[0]?.status).toBe("rejected");
    }
    expect(await journal.verify("session:ann")).toMatchObject({ type: "whole" });
    await journal.close();
    expect(
      filesUnder(keys)
        .map((name) => readFileSync(name).length)
        .toSorted(),
    ).toEqual([0, 32]);
  });
});

describe("a key store", () => {
  it.each(["memory", "files"])("of %s makes one key for each scope, and none after its deletion", async (kind) => {
    const keys = kind === "memory" ? memoryKeys() : fileKeys(file("store"));
    await expect(keys.opening("s")).rejects.toMatchObject({ code: "key_missing" });
    const [one, same, other] = await Promise.all([keys.sealing("s"), keys.sealing("s"), keys.sealing("t")]);
    expect([one.length, [...same]]).toEqual([32, [...one]]);
    expect([...other]).not.toEqual([...one]);
    expect([...(await keys.opening("s"))]).toEqual([...one]);
    await keys.remove("s");
    await expect(keys.sealing("s")).rejects.toMatchObject({ code: "key_gone" });
    await expect(keys.opening("s")).rejects.toMatchObject({ code: "key_gone" });
    await keys.remove("never-had-one");
    await expect(keys.sealing("never-had-one")).rejects.toMatchObject({ code: "key_gone" });
  });

  it("of files checks after ten seconds whether a key still exists, and never replaces it", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const folder = file("watched");
      const [host, operator] = [fileKeys(folder), fileKeys(folder)];
      for (const scope of ["s", "t"]) await host.sealing(scope);
      await operator.remove("s");
      for (const name of filesUnder(folder)) if (readFileSync(name).length > 0) rmSync(name);
      for (const scope of ["s", "t"]) expect(await host.opening(scope)).toHaveLength(32);
      vi.advanceTimersByTime(10_000);
      await expect(host.opening("s")).rejects.toMatchObject({ code: "key_gone" });
      await expect(host.sealing("s")).rejects.toMatchObject({ code: "key_gone" });
      await expect(host.sealing("t")).rejects.toMatchObject({ code: "key_missing" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("detects bytes that were changed, cut, or moved", async () => {
    const codec = aesCodec(memoryKeys());
    const place = { scope: "s", at: "1/value" };
    const sealed = await codec.seal(place, new TextEncoder().encode("said"));
    expect(new TextDecoder().decode(await codec.open(place, sealed))).toBe("said");
    const changed = Uint8Array.from(sealed);
    changed[20] = (changed[20] as number) ^ 1;
    for (const bytes of [changed, sealed.subarray(0, 20), sealed.subarray(0, -1), new Uint8Array()])
      await expect(codec.open(place, bytes)).rejects.toMatchObject({ code: "seal_broken" });
    await expect(codec.open({ ...place, at: "2/value" }, sealed)).rejects.toMatchObject({ code: "seal_broken" });
  });
});
