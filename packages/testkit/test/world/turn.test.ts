/** Turns at every moment of a crash, against a model outside that counts what is paid. */
import type { ModelAnswer, ModelPort } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { type Outside, type Scenario, describeCrashes, exploreCrashes, scriptedModel } from "../../src/index.ts";

const main = { routes: [{ provider: "p", model: "m" }] };

const words = (...said: readonly string[]): ModelAnswer => ({
  pieces: said.map((text, i) => (i === 0 ? { b: 0, type: "text", text } : { b: 0, text })),
  finish: { reason: "stop" },
  usage: { input_tokens: 1, output_tokens: 1 },
});

const asking = (model: (outside: Outside) => ModelPort): Scenario => ({
  tools: () => [],
  models: (outside) => {
    const port = model(outside);
    return () => port;
  },
  runtime: { host: { agents: (name) => (name === "main" ? main : undefined) } },
  host: (host) =>
    host.within(async (session) => {
      const end = await session.turn("t1", "hi");
      return end.status === "finished" ? end.text : end;
    }),
});

/** A provider that is paid for each question. */
const keyless = ({ effect }: Outside): ModelPort => ({
  ask: async () => {
    await effect("answer", { ms: 4000 });
    return words("Yes.");
  },
});

describe("a turn whose process dies at any moment", () => {
  it("is paid once, and ends the same, where the provider knows a key again", async () => {
    const scenario = asking((outside) =>
      scriptedModel(outside, () => words("Once ", "upon ", "a time."), { pieceMs: 4000 }),
    );
    const report = await exploreCrashes(scenario, { pairs: 10 });
    expect(describeCrashes(report)).toContain("safe: nothing is lost");
    expect(report.effects).toMatchObject([{ effect: "answer", undisturbed: 1, least: 1, most: 1, tools: [] }]);
    expect(report.points).toBeGreaterThan(10);
  });

  it("is reported as paid twice where the provider takes no keys", async () => {
    const report = await exploreCrashes(asking(keyless), { pairs: 0 });
    expect(report.isSafe).toBe(false);
    expect(report.violations[0]).toMatchObject({ harm: "doubled", of: "answer" });
    expect(describeCrashes(report)).toContain("`answer` happened 2 times, undisturbed 1");
  });

  it("may end with an unknown outcome, where the host bears no crash of a model call", async () => {
    const scenario = asking((outside) => scriptedModel(outside, () => words("Yes."), { pieceMs: 1000 }));
    const runtime = { ...scenario.runtime, options: { modelPausesMs: [] } };
    const { isSafe, unknown, effects } = await exploreCrashes({ ...scenario, runtime }, { pairs: 0 });
    expect([isSafe, unknown.length > 0]).toEqual([true, true]);
    expect(effects).toMatchObject([{ effect: "answer", most: 1 }]);
  });
});
