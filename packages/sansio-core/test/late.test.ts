/** The core as pages load it: without the code that only some logs need, and with it. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as E from "fp-ts/lib/Either.js";
import { build } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Transition, replay } from "../src/index.ts";
import type * as core from "./page-core.ts";

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
    input: resolve(import.meta.dirname, "page-core.ts"),
    platform: "browser",
    output: { format: "esm" },
    write: false,
    logLevel: "warn",
  });
  code = output[0].code;
});

/** A log of calls that run as most do. */
const plain = ["parallel-and-serial.jsonl"];

/** One that does so far: its owner is lost, and the call goes on. */
const resumed = (): string => textOf("owner-lost.jsonl").split("\n").slice(0, 12).join("\n");

/** What a page that has not loaded the code makes of one more event. */
const without = (page: Core, step: () => ReturnType<Core["step"]>): ReturnType<Core["step"]> | "not loaded" => {
  page.late.with(undefined as never);
  try {
    return step();
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "NotLoaded") return "not loaded";
    throw thrown;
  } finally {
    page.late.with(page.lateCode);
  }
};

describe("the core of a page", () => {
  it("replays logs of plain calls with what it has at its start", async () => {
    const page = await freshCore();
    for (const name of plain) expect(page.replay([textOf(name)]).fault, name).toBeUndefined();
    expect(page.replay([`${resumed()}\n`])).toMatchObject({ events: 11, fault: undefined });
  });

  it("answers no log whose code it does not have, and does as every core once it has it", async () => {
    const page = await freshCore();
    const others = goldens.filter((name) => !plain.includes(name));
    expect(others.length).toBeGreaterThan(30);
    for (const name of others) expect(() => page.replay([textOf(name)]), name).toThrow("is not loaded");
    page.fillAll();
    for (const name of others) {
      const here = replay([textOf(name)]);
      const there = page.replay([textOf(name)]);
      expect(there.fault, name).toEqual(here.fault);
      expect(there.events, name).toBe(here.events);
    }
  });

  it("does the same with each event as a core that has all code, or nothing at all", async () => {
    const page = await freshCore();
    page.fillAll();
    const met = { same: 0, "not loaded": 0 };
    const lookAt = (name: string): void => {
      let state: core.State | undefined;
      const onStep = (recorded: core.Recorded, transition: Transition): void => {
        const before = state ?? page.initial(page.replay([textOf(name)]).header?.scope ?? "");
        state = transition.state;
        const found = without(page, () => page.step(before, recorded));
        if (found === "not loaded") return void (met[found] += 1);
        met.same += 1;
        const after = E.isRight(found) ? found.right : undefined;
        const of = `event ${recorded.seq} of ${name}`;
        expect(after && page.stateHash(after.state), of).toBe(page.stateHash(transition.state));
        expect(after && page.producedBy(after), of).toEqual(page.producedBy(transition));
      };
      page.replay([textOf(name)], { onStep });
    };
    for (const name of goldens) lookAt(name);
    expect(met.same).toBeGreaterThan(100);
    expect(met["not loaded"]).toBeGreaterThan(100);
  });
});
