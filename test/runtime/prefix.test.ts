/** The same logs give the same states in every runtime: golden logs and some of the core simulation, after each event. */
import { beforeAll, describe, expect, it } from "vitest";
import { differenceOf, differences, foldIn } from "./compare.ts";
import { goldenLogs, mixedLogs } from "./log.ts";
import { type Prefixes, allPrefixesOf } from "./prefix.ts";
import { missingFor, runtimes } from "./runtimes.ts";

const golden = goldenLogs();
const logs = [...golden, ...mixedLogs(10)];
let expected: readonly Prefixes[];

beforeAll(() => {
  expected = allPrefixesOf(logs.map(({ text }) => text));
});

describe("logs that runtimes are held to", () => {
  it("are golden ones of both protocols, and replay event by event", () => {
    expect(golden.filter(({ name }) => name.startsWith("golden/")).length).toBeGreaterThan(30);
    expect(golden.filter(({ name }) => name.startsWith("2/")).length).toBeGreaterThan(30);
    for (const [i, { name }] of logs.entries()) {
      const { steps, fault } = expected[i] as Prefixes;
      expect([name, fault, steps.length > 0]).toEqual([name, undefined, true]);
    }
  });
});

const run = (...steps: readonly string[]): Prefixes => ({ steps, fault: undefined });

describe("two runs of a log", () => {
  it("differ at the first event whose state or commands are others, or at their end", () => {
    expect(differenceOf(run("a", "b", "c"), run("a", "x", "y"))).toEqual({ event: 2, expected: "b", found: "x" });
    expect(differenceOf(run("a", "b"), run("a"))).toEqual({
      event: 0,
      expected: "2 events, no fault",
      found: "1 events, no fault",
    });
    expect(differenceOf(run("a"), { steps: ["a"], fault: "torn" })?.found).toBe("1 events, torn");
    expect(differenceOf(run("a", "b"), run("a", "b"))).toBeUndefined();
  });
});

describe.each(runtimes)("$name", (runtime) => {
  const missing = missingFor(runtime).map(({ name }) => name);
  const title =
    missing.length === 0 ? "comes to the same states and commands" : `is left out without ${missing.join()}`;
  it.skipIf(missing.length > 0)(title, async () => {
    const found = await foldIn(runtime, logs);
    expect(differences(runtime.name, logs, expected, found)).toEqual([]);
  });
});
