/** The core as pages load it: without the code that only some logs need, and with it. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as core from "../src/index.ts";
import { replay } from "../src/index.ts";

type Core = typeof core;

const scratch = mkdtempSync(join(tmpdir(), "pawl-late-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const goldenFolder = resolve(import.meta.dirname, "golden");
const goldens = readdirSync(goldenFolder).filter((name) => name.endsWith(".jsonl") && !name.endsWith(".cmds.jsonl"));
const textOf = (name: string): string => readFileSync(join(goldenFolder, name), "utf8");

let code: string;
let copies = 0;
/** A core of its own, as bundlers for pages put it together. */
const freshCore = async (): Promise<Core> => {
  const file = join(scratch, `core-${(copies += 1)}.mjs`);
  writeFileSync(file, code);
  return (await import(pathToFileURL(file).href)) as Core;
};

beforeAll(async () => {
  const { output } = await build({
    input: resolve(import.meta.dirname, "../src/index.ts"),
    platform: "browser",
    output: { format: "esm" },
    write: false,
    logLevel: "warn",
  });
  code = output[0].code;
});

const isPlain = (text: string): boolean =>
  !/"type":"(?:flow|lambda|message|process|handles?|run|task|schedule)\./.test(text);

describe("the core of a page", () => {
  it("replays logs of plain calls with what it has at its start", async () => {
    const { replay: replayed } = await freshCore();
    const plain = goldens.map(textOf).filter(isPlain);
    expect(plain.length).toBeGreaterThan(3);
    for (const text of plain) expect(replayed([text]).fault).toBeUndefined();
  });

  it("answers no event whose code it does not have, and does as every core once it has it", async () => {
    const page = await freshCore();
    const others = goldens.map(textOf).filter((text) => !isPlain(text));
    expect(others.length).toBeGreaterThan(3);
    for (const name of goldens)
      if (!isPlain(textOf(name))) expect(() => page.replay([textOf(name)]), name).toThrow("is not loaded");
    page.fillAll();
    for (const text of others) {
      const here = replay([text]);
      const there = page.replay([text]);
      expect(there.fault).toEqual(here.fault);
      expect(there.events).toBe(here.events);
    }
  });
});
