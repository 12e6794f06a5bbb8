/** Large values are exported with the logs that refer to them; attachments only on request. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { attachmentId } from "@pawl/runtime/driver";
import { beforeAll, describe, expect, it } from "vitest";
import { diskAttachments, openRuntime } from "@pawl/driver-node";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

const large = "large ".repeat(20_000);
const tool = defineTool({
  name: "echo",
  durable: true,
  execute: (args, ctx) => ctx.run("step", () => args, { input: args }),
});

const called = async (file: string, session: string): Promise<unknown> => {
  const { runtime, close } = openRuntime({ file, tools: [tool] });
  const [reply] = await (await runtime.session(session)).request("r", [{ label: "c", tool: "echo", args: { large } }]);
  await close();
  return reply?.output.outcome.payload;
};

const folder = newFolder();
const journal = join(folder, "journal.db");
const exported = join(folder, "s.jsonl");
beforeAll(async () => {
  expect(await called(journal, "s")).toEqual({ large });
  expect((await pawl(["log", "export", `${journal}#s`, "-o", exported])).code).toBe(0);
}, 120_000);

const lines = (): readonly string[] => readFileSync(exported, "utf8").split(/(?<=\n)/);

describe("large values and the command line", { timeout: 300_000 }, () => {
  it("are exported once each, after the header, and verified with the log", async () => {
    const blobs = lines().filter((line) => line.startsWith('{"blob"'));
    expect(blobs.length).toBe(1);
    expect(lines()[1]).toBe(blobs[0]);
    expect((await pawl(["log", "verify", exported, journal])).code).toBe(0);
  });

  it("are imported with their log, which then gives the same answers and the same head", async () => {
    const other = join(folder, "other.db");
    expect((await pawl(["log", "import", exported, "-j", other])).code).toBe(0);
    expect(await called(other, "s")).toEqual({ large });
    const heads = jsonIn(await pawl(["log", "head", exported, `${journal}#s`, "--json"]));
    expect(new Set(heads.map(({ head }: { head?: unknown }) => head)).size).toBe(1);
  });

  it("are reported if they are missing or differ", async () => {
    const without = join(folder, "without.jsonl");
    writeFileSync(
      without,
      lines()
        .filter((line) => !line.startsWith('{"blob"'))
        .join(""),
    );
    const forged = join(folder, "forged.jsonl");
    const bytes = Buffer.from('"forged"').toString("base64");
    writeFileSync(
      forged,
      lines()
        .map((line) => line.replace(/(?<="bytes":")[^"]+/, bytes))
        .join(""),
    );
    for (const [file, code, text] of [
      [without, "blob_missing", "missing blob"],
      [forged, "blob_corrupt", "not what its name says"],
    ] as const) {
      const imported = await pawl(["log", "import", file, "-j", join(folder, "refused.db"), "--json"]);
      expect([imported.code, imported.out]).toEqual([1, expect.stringContaining(code)]);
      const verified = await pawl(["log", "verify", file]);
      expect([verified.code, verified.out]).toEqual([1, expect.stringContaining(text)]);
    }
  });

  it("are copied into a fork", async () => {
    expect((await pawl(["fork", "s", "--at", "3", "--into", "forked", "-j", journal])).code).toBe(0);
    expect(await called(journal, "forked")).toEqual({ large });
  });
});

const picture = Buffer.from(Array.from({ length: 999 }, (_, i) => i % 256));
const draw = defineTool({
  name: "draw",
  execute: (_, ctx) => ctx.attachments.put(picture, { media_type: { kind: "file", type: "image/png" } }),
});

describe("attachments and the command line", { timeout: 300_000 }, () => {
  const [file, plain, whole] = ["drawn.db", "plain.jsonl", "whole.jsonl"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  beforeAll(async () => {
    const { runtime, close } = openRuntime({ file, tools: [draw] });
    await (await runtime.session("s")).request("r", [{ label: "c", tool: "draw", args: {} }]);
    await close();
    expect((await pawl(["log", "export", `${file}#s`, "-o", plain])).code).toBe(0);
    expect((await pawl(["log", "export", `${file}#s`, "-o", whole, "--attachments"])).code).toBe(0);
  }, 120_000);

  it("are exported on request, and change no head", async () => {
    const [short, long] = [readFileSync(plain, "utf8"), readFileSync(whole, "utf8")];
    const line = `{"attachment":"${attachmentId(picture)}","bytes":"${picture.toString("base64")}"}\n`;
    expect([short.includes(line), long.replace(line, "")]).toEqual([false, short]);
    const heads = jsonIn(await pawl(["log", "head", plain, whole, `${file}#s`, "--json"]));
    expect(new Set(heads.map(({ head }: { head?: unknown }) => head)).size).toBe(1);
    expect((await pawl(["log", "verify", plain, whole])).code).toBe(0);
  });

  it("are stored beside the journal that a log is imported into", async () => {
    const other = join(folder, "drawn-again.db");
    const imported = await pawl(["log", "import", whole, "-j", other, "--json"]);
    expect(jsonIn(imported)).toMatchObject([{ scope: "session:s", attachments: 1 }]);
    expect(await diskAttachments(`${other}.attachments`).bytes(attachmentId(picture))).toEqual(new Uint8Array(picture));
  });

  it("with wrong bytes are found and not imported, nor are any beside sealed values", async () => {
    const forged = join(folder, "forged-picture.jsonl");
    writeFileSync(forged, readFileSync(whole, "utf8").replace(/(?<="attachment":"[^"]*","bytes":")..../, "////"));
    const verified = await pawl(["log", "verify", forged]);
    expect([verified.code, verified.out]).toEqual([1, expect.stringContaining("attachment is not what its name says")]);
    const nowhere = join(folder, "refused-picture.db");
    const imported = await pawl(["log", "import", forged, "-j", nowhere, "--json"]);
    expect([imported.code, imported.out]).toEqual([1, expect.stringContaining("attachment_corrupt")]);
    const keys = join(folder, "keys");
    mkdirSync(keys);
    const sealed = await pawl(["log", "import", whole, "-j", nowhere, "--keys", keys, "--json"]);
    expect(sealed.out).toContain("attachment_not_kept");
    expect((await pawl(["ls", "-j", nowhere])).out).not.toContain("session:s");
  });
});
