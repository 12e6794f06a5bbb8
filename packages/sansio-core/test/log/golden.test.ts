/**
 * Golden logs: what scopes lived through, as it was recorded, with the commands written out beside it. Those of protocol 1
 * lie in the folder, those of a later one in a folder of its number. A frozen protocol's are never edited, and replay for
 * ever; `PAWL_REWRITE_GOLDEN=1` writes those of an open protocol anew from the scenarios that made them.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { concerns } from "../../src/concerns.ts";
import { newestProtocol } from "../../src/kernel/protocol.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { replay } from "../../src/log/replay.ts";
import { describeFault } from "../../src/log/compare.ts";
import { eventTypes } from "../arbitrary/wild.ts";
import { scenariosOf } from "../golden/scenarios.ts";
import { protocols } from "../rig.ts";

const root = resolve(import.meta.dirname, "../../../..");
const folderOf = (protocol: number): string =>
  resolve(import.meta.dirname, "../golden", protocol === 1 ? "" : `${protocol}`);
const isFrozen = (protocol: number): boolean => existsSync(resolve(root, `test/freeze/protocol-${protocol}.json`));

const textOfFrozen = readFileSync(resolve(root, "test/freeze/protocol-1.json"), "utf8");
const { events: eventsOf1 } = JSON.parse(textOfFrozen) as { readonly events: { readonly [type: string]: string } };
const isIn = (protocol: number, type: string): boolean =>
  protocol > 1 || (type !== "scope.upgraded" && Object.hasOwn(eventsOf1, type));

const rewrite = (protocol: number): void => {
  mkdirSync(folderOf(protocol), { recursive: true });
  for (const [name, scenario] of Object.entries(scenariosOf(protocol))) {
    const { lines, commands } = scenario();
    writeFileSync(resolve(folderOf(protocol), `${name}.jsonl`), lines.join(""));
    writeFileSync(resolve(folderOf(protocol), `${name}.cmds.jsonl`), commands.join(""));
  }
};
if (process.env["PAWL_REWRITE_GOLDEN"] === "1")
  for (const protocol of protocols) if (!isFrozen(protocol)) rewrite(protocol);

/** Every field that an event has since a later protocol than the first. */
const laterFields = concerns.flatMap(({ events }) =>
  Object.entries<{ readonly fieldsSince?: object }>(events).flatMap(([type, { fieldsSince = {} }]) =>
    Object.keys(fieldsSince).map((field) => `${type} ${field}`),
  ),
);

it("the golden logs of the newest protocol hold every field that is younger than its event", () => {
  const folder = folderOf(newestProtocol);
  const held = new Set<string>();
  for (const file of globSync("*.jsonl", { cwd: folder })) {
    if (file.endsWith(".cmds.jsonl")) continue;
    for (const line of readFileSync(resolve(folder, file), "utf8").split("\n").slice(1, -1)) {
      const { event } = JSON.parse(line) as { readonly event: Event };
      for (const field of Object.keys(event)) held.add(`${event.type} ${field}`);
    }
  }
  expect(laterFields.length).toBeGreaterThan(10);
  expect(laterFields.filter((field) => !held.has(field))).toEqual([]);
});

it("a frozen protocol is known as such, and its golden logs are not written anew", () => {
  expect(isFrozen(1)).toBe(true);
});

describe.each(protocols)("a golden log of protocol %i", (protocol) => {
  const folder = folderOf(protocol);
  const scenarios = scenariosOf(protocol);
  const textOf = (name: string, kind: string): string => readFileSync(resolve(folder, `${name}${kind}`), "utf8");
  const recorded = globSync("*.jsonl", { cwd: folder })
    .filter((file) => !file.endsWith(".cmds.jsonl"))
    .map((file) => basename(file, ".jsonl"))
    .toSorted();

  it("is there for every scenario, and for none that is gone", () => {
    expect(recorded).toEqual(Object.keys(scenarios).toSorted());
  });

  it("holds every type of event that its protocol has; only protocol 1 has no upgrade", () => {
    const texts = recorded.map((name) => textOf(name, ".jsonl")).join("");
    const missing = eventTypes.filter((type) => !texts.includes(`"event":{"type":"${type}"`));
    expect(missing).toEqual(eventTypes.filter((type) => !isIn(protocol, type)));
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
