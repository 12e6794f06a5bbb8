/**
 * Golden logs: what scopes lived through, as it was recorded, with the commands written out beside it. Those of a
 * released version are never edited, and replay for ever; until the first release `PAWL_REWRITE_GOLDEN=1` writes
 * them anew from the scenarios that made them.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { replay } from "../../src/log/replay.ts";
import { describeFault } from "../../src/log/compare.ts";
import { eventTypes } from "../arbitrary/wild.ts";
import { scenarios } from "../golden/scenarios.ts";

const folder = resolve(import.meta.dirname, "../golden");
const pathOf = (name: string, kind: string): string => resolve(folder, `${name}${kind}`);
const textOf = (name: string, kind: string): string => readFileSync(pathOf(name, kind), "utf8");

if (process.env["PAWL_REWRITE_GOLDEN"] === "1") {
  for (const [name, scenario] of Object.entries(scenarios)) {
    const { lines, commands } = scenario();
    writeFileSync(pathOf(name, ".jsonl"), lines.join(""));
    writeFileSync(pathOf(name, ".cmds.jsonl"), commands.join(""));
  }
}

const recorded = globSync("*.jsonl", { cwd: folder })
  .filter((file) => !file.endsWith(".cmds.jsonl"))
  .map((file) => basename(file, ".jsonl"))
  .toSorted();

describe("a golden log", () => {
  it("is there for every scenario", () => {
    expect(Object.keys(scenarios).filter((name) => !recorded.includes(name))).toEqual([]);
  });

  it("holds every type of event but those that came with protocol 2", () => {
    const texts = recorded.map((name) => textOf(name, ".jsonl")).join("");
    expect(eventTypes.filter((type) => !texts.includes(`"event":{"type":"${type}"`))).toEqual([
      "scope.upgraded",
      "host.waiting",
      "call.tool_missing",
      "step.failed",
    ]);
  });

  for (const name of recorded) {
    it(`replays to the digest, and to the commands that were written out: ${name}`, () => {
      const commands = textOf(name, ".cmds.jsonl");
      const { fault, torn, events } = replay([textOf(name, ".jsonl")], { commands: [commands] });
      expect(fault === undefined ? undefined : describeFault(fault)).toBeUndefined();
      expect(torn).toBeUndefined();
      expect(events).toBe(commands.split("\n").length - 1);
    });
  }

  for (const [name, scenario] of Object.entries(scenarios)) {
    it(`is what the words of its scenario say: ${name}`, () => {
      expect(scenario().commands.join("")).toBe(textOf(name, ".cmds.jsonl"));
    });
  }
});
