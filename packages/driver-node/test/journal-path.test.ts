/** A journal's place: a file that the program names, or memory. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineTool } from "@pawl/runtime";
import { readToken, tokenOf } from "@pawl/runtime/driver";
import { JournalFileError, openRuntime, sqliteJournal } from "../src/index.ts";
import { rootsOf } from "../src/journal/root-secret.ts";

const large = defineTool({ name: "large", execute: () => "x".repeat(100_000) });
const call = [{ label: "c", tool: "large", args: {} }];

/** A tool that waits for the outside and gives out its tokens. */
const askedBy = (tokens: string[]) =>
  defineTool({
    name: "asked",
    durable: true,
    execute: async (_, ctx) => {
      tokens.push(ctx.token("go"));
      return ctx.waitFor("go");
    },
  });

let folder: string;
const home = process.cwd();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-path-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

const refused = (open: () => unknown): { readonly code: string; readonly message: string } => {
  try {
    open();
  } catch (thrown) {
    if (thrown instanceof JournalFileError) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error("it was opened");
};

describe("a journal in memory", () => {
  it("runs calls with large values, and leaves nothing on disk", async () => {
    const { runtime, close } = openRuntime({ file: ":memory:", tools: [large] });
    const session = await runtime.session("s");
    const replies = await session.request("r", call);
    expect(JSON.stringify(replies[0]?.output)).toHaveLength(
      100_000 + JSON.stringify({ outcome: { status: "success", payload: "" } }).length,
    );
    await close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is private: its scopes and its tokens", async () => {
    const [one, two] = [sqliteJournal(":memory:"), sqliteJournal(":memory:", { commits: "thread" })];
    await one.claim("session:s", "a", 1);
    expect([await one.scopes("", "", 9), await two.scopes("", "", 9)]).toMatchObject([[{ scope: "session:s" }], []]);
    expect([one.commits, two.commits]).toEqual(["inline", "inline"]);
    await Promise.all([one.close(), two.close()]);
    expect(rootsOf(":memory:").newest.kid).not.toBe(rootsOf(":memory:").newest.kid);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a journal with a relative path", () => {
  it("stays in the folder where it was opened, with its blobs and its root", async () => {
    const { runtime, close } = openRuntime({ file: "journal.db", tools: [large] });
    mkdirSync("elsewhere");
    process.chdir("elsewhere");
    await (await runtime.session("s")).request("r", call);
    await close();
    expect(readdirSync(folder).toSorted()).toEqual(["elsewhere", "journal.db", "journal.db.blobs", "journal.db.root"]);
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  });

  it("may have its blobs in a folder of a relative path", async () => {
    const { runtime, close } = openRuntime({ file: "journal.db", blobs: "values", tools: [large] });
    mkdirSync("elsewhere");
    process.chdir("elsewhere");
    await (await runtime.session("s")).request("r", call);
    await close();
    expect(readdirSync(folder)).toContain("values");
  });
});

describe("a journal whose runtime is not closed", { timeout: 30_000 }, () => {
  it("leaves no file open when it is closed", async () => {
    const { runtime, close } = openRuntime({ file: "journal.db", tools: [large] });
    await (await runtime.session("s")).request("r", call);
    const other = new DatabaseSync("journal.db");
    other.exec("BEGIN IMMEDIATE"); // Longer than a commit waits.
    await expect(close()).rejects.toMatchObject({ name: "JournalFileError", code: "locked" });
    other.exec("ROLLBACK");
    other.close();
    expect(readdirSync(".").filter((name) => name.endsWith("-wal"))).toEqual([]); // The last one to close deletes it.
  });
});

describe("an invalid path of a journal", () => {
  const wrong: readonly (readonly [file: unknown, message: RegExp])[] = [
    ["", /expected a path, found ""/],
    [" ", /expected a path, found " "/],
    [undefined, /expected a path, found undefined/],
    [new URL("file:///tmp/j.db"), /is a URL.*fileURLToPath/],
    ["file:journal.db", /is a URL.*fileURLToPath/],
    [".", /is a folder.*name a file in it/],
    ["nowhere/deep/journal.db", /folder .*nowhere\/deep does not exist.*create it/],
    ["text/journal.db", /text is not a folder/],
  ];

  it.each(wrong)("is refused, and creates nothing: %s", (file, message) => {
    writeFileSync("text", "");
    for (const open of [() => sqliteJournal(file as string), () => openRuntime({ file: file as string, tools: [] })])
      expect(refused(open)).toMatchObject({ code: "can_not_open", message: expect.stringMatching(message) });
    expect(readdirSync(folder)).toEqual(["text"]);
  });

  it("is a file as the folder of blobs", () => {
    writeFileSync("text", "");
    const wrongBlobs = refused(() => openRuntime({ file: "journal.db", blobs: "text", tools: [] }));
    expect(wrongBlobs).toMatchObject({ code: "can_not_open", message: expect.stringMatching(/text is not a folder/) });
  });
});

describe("the root secret beside a journal", () => {
  it("is the same for all who open it at once", async () => {
    const module = JSON.stringify(new URL("../src/journal/root-secret.ts", import.meta.url).href);
    const source = `import(${module}).then(({ rootsOf }) => console.log(rootsOf(process.argv[1]).newest.kid))`;
    const kids = Array.from({ length: 6 }, () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", source, join(folder, "j.db")]);
      return new Promise<string>((resolve) => {
        let said = "";
        child.stdout.on("data", (text: Buffer) => (said += text.toString()));
        child.stderr.on("data", (text: Buffer) => (said += text.toString()));
        child.on("close", () => resolve(said.trim()));
      });
    });
    const all = new Set(await Promise.all(kids));
    expect([...all]).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/)]);
    expect(readdirSync(folder)).toEqual(["j.db.root"]);
    expect(readFileSync("j.db.root")).toHaveLength(32);
  });

  it("is rotated by renaming: old tokens are valid while the file exists, and a new root signs", async () => {
    const file = "journal.db";
    const tokens: string[] = [];
    const asked = askedBy(tokens);
    const answered = async (request: string, token: () => string) => {
      const { runtime, close } = openRuntime({ file, tools: [asked] });
      const session = await runtime.session("s");
      const begun = tokens.length;
      session.request(request, [{ label: "c", tool: "asked", args: {} }]).catch(() => undefined); // May end with its runtime.
      await vi.waitUntil(() => tokens.length > begun && session.state.waits.size === 1);
      const { status } = await session.resolve(token(), { status: "ok", payload: request });
      await close();
      return status;
    };
    expect(await answered("r1", () => "")).toBe("unknown_or_revoked");
    renameSync("journal.db.root", "journal.db.root.old-1");
    const [first = ""] = tokens;
    expect(await answered("r1", () => first)).toBe("accepted");
    expect(tokens.map((token) => token.split(".")[1])).toEqual([
      rootsOf(file).older?.[0]?.kid,
      rootsOf(file).newest.kid,
    ]);
    expect(await answered("r2", () => "")).toBe("unknown_or_revoked");
    renameSync("journal.db.root", "journal.db.root.old-2");
    const third = tokens.at(-1) ?? "";
    rmSync("journal.db.root.old-2");
    expect(await answered("r2", () => third)).toBe("unknown_or_revoked");
  });

  it("is rotated under running hosts: each token is made and checked with the current files", () => {
    const [one, other] = [rootsOf("j.db"), rootsOf("j.db")];
    const before = tokenOf(one, "s", "key");
    renameSync("j.db.root", "j.db.root.old");
    const after = tokenOf(one, "s", "key");
    expect(after.split(".")[1]).not.toBe(before.split(".")[1]);
    expect(tokenOf(other, "s", "key")).toBe(after);
    for (const token of [before, after]) expect(readToken(other, "s", token)).toEqual({ key: "key" });
    rmSync("j.db.root.old");
    expect([before, after].map((token) => readToken(other, "s", token)?.key)).toEqual([undefined, "key"]);
  });

  it("is rotated under a host with waiting calls: old tokens work until the file is removed", async () => {
    const tokens: string[] = [];
    const asked = askedBy(tokens);
    const { runtime, close } = openRuntime({ file: "journal.db", tools: [asked] });
    const session = await runtime.session("s");
    for (const n of [1, 2, 3]) {
      session.request(`r${n}`, [{ label: "c", tool: "asked", args: {} }]).catch(() => undefined); // May end with its runtime.
      await vi.waitUntil(() => tokens.length === n && session.state.waits.size === n);
      if (n === 2) renameSync("journal.db.root", "journal.db.root.old");
    }
    const resolved = async (n: number) =>
      (await session.resolve(tokens[n - 1] ?? "", { status: "ok", payload: null })).status;
    expect([await resolved(1), await resolved(3)]).toEqual(["accepted", "accepted"]);
    rmSync("journal.db.root.old");
    expect(await resolved(2)).toBe("unknown_or_revoked");
    await close();
  });

  it("is refused if it was truncated, since anybody could guess it", () => {
    writeFileSync("journal.db.root", "");
    const short = refused(() => openRuntime({ file: "journal.db", tools: [] }));
    expect(short).toMatchObject({ code: "not_intact", message: expect.stringMatching(/root.*0 bytes/) });
  });
});
