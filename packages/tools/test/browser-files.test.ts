/** Files in IndexedDB pass the suite of file stores in a real browser. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FileError, type FileStore } from "@pawl/tools";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { origin, pageWith } from "../../../test/runtime/page.ts";
import { bytes, fileSuite, outcome, readText, text } from "./file-suite.ts";

type Answer = { readonly value?: unknown } | { readonly kind: FileError["kind"]; readonly message: string };

const isBytes = (value: unknown): value is { readonly bytes: readonly number[] } =>
  typeof value === "object" && value !== null && "bytes" in value && Array.isArray(value.bytes);

/** Converts bytes for the page, and back. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (one instanceof Uint8Array ? { bytes: [...one] } : one)) ?? "undefined";
const readBack = (value: unknown): unknown => {
  if (isBytes(value)) return Uint8Array.from(value.bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, readBack(one)]));
};

/** A proxy for the store in the page. */
const storeIn = (page: Page, name: string): FileStore => {
  const ask =
    <A>(method: keyof FileStore) =>
    async (...of: readonly unknown[]): Promise<A> => {
      const list = of.map(written).join(", ");
      const answer = (await page.evaluate(`suite.ask("${name}", "${method}", [${list}])`)) as Answer;
      if ("kind" in answer) throw new FileError(answer.kind, answer.message);
      return ("bytes" in Object(answer.value) ? answer.value : readBack(answer.value)) as A;
    };
  return {
    read: async (path) => {
      const file = await ask<Record<string, unknown> | undefined>("read")(path);
      return file && (readBack({ ...file }) as Awaited<ReturnType<FileStore["read"]>>);
    },
    write: ask("write"),
    delete: ask("delete"),
    list: ask("list"),
    stat: ask("stat"),
    grep: ask("grep"),
    createDirectory: ask("createDirectory"),
  };
};

inChromium("files in IndexedDB", "packages/tools/test/page/files.ts", (at) => {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "pawl-files-")));
  writeFileSync(join(outside, "secret.txt"), "secret");
  let page: Page;
  beforeAll(async () => {
    page = await pageWith(await at.browser.newContext(), at.code);
  });
  afterAll(() => rmSync(outside, { recursive: true }));

  let count = 0;
  fileSuite(
    async () => storeIn(page, `files${(count += 1)}`),
    () => outside,
  );

  it("survive reopening their store", async () => {
    const files = storeIn(page, "again");
    await files.write("/a/b", bytes("one"), text);
    await page.evaluate(`suite.forget("again")`);
    expect(await readText(files, "/a/b")).toBe("one");
  });

  it.each([1, 4])("are not stored in a foreign database of version %i", async (version) => {
    const name = `notes${version}`;
    expect(await page.evaluate(`suite.overOther("${name}", ${version})`)).toEqual({
      said: `Error: files ${name}: a database of this name exists and belongs to something else; choose another name`,
      version,
      stores: ["note"],
    });
  });

  it("report a full disk, and keep the existing files", async () => {
    const small = await pageWith(await at.browser.newContext(), at.code);
    const files = storeIn(small, "small");
    const session = await small.context().newCDPSession(small);
    await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1_000_000 });
    const outcomes: string[] = [];
    const write = (): Promise<unknown> =>
      files.write(`/${outcomes.length}`, new Uint8Array(randomBytes(100_000)), text);
    while (outcomes.length < 40 && outcomes.at(-1) !== "size") outcomes.push(await outcome(write()));
    expect(outcomes.at(-1)).toBe("size");
    expect(await files.list("/")).toHaveLength(outcomes.length - 1);
    expect((await files.read("/0"))?.bytes).toHaveLength(100_000);
    await small.context().close();
  });
});
