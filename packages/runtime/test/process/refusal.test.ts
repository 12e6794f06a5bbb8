/** Tests what a body asks for and the core refuses: the body is told, on record, and hears the same when it runs again. */
import { describe, expect, it } from "vitest";
import { EffectError } from "../../src/index.ts";
import { deaths, eventType, live, program, toolCall } from "./world.ts";

const codeOf = (thrown: unknown): string => (thrown instanceof EffectError ? thrown.code : String(thrown));
const success = (payload: unknown) => ({ status: "success", payload });

describe("a request that can not be carried out", () => {
  it("is answered with a typed error, and with the same one in a re-run", async () => {
    const twins = [1, 2].map(() => ({ label: "twin", tool: "work", args: {} }));
    for (const death of [undefined, ...deaths(12)]) {
      const steps: string[] = [];
      const body = program("body", async ({ callAll, run, race }) => {
        const before = await run("before", () => (steps.push("before"), 1));
        const refused = callAll(twins);
        const raced = await race([refused]).catch(codeOf);
        const code = await refused.catch(codeOf);
        const nothing = await race([]).catch(codeOf);
        const after = await run("after", () => (steps.push("after"), 2));
        return [before, raced, code, nothing, after];
      });
      const { output } = await live([body, program("work", async () => "worked")], death);
      const at = `died ${death?.when} append ${death?.append}`;
      expect(output, at).toEqual(success([1, "call_id_conflict", "call_id_conflict", "effect_unknown", 2]));
      if (death === undefined) expect(steps).toEqual(["before", "after"]);
    }
  });
});

describe("a request for which a link has no room yet", () => {
  it("is waited for by what the body asks for behind it, so that a re-run follows the log", async () => {
    for (const death of [undefined, ...deaths(16)]) {
      const body = program("body", async ({ processes, run, all }) => {
        await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
        const said = ["a", "b", "c"].map((id) => processes.signal("p", "go", id, id));
        const step = run("step", () => "stepped");
        await Promise.all(said);
        await all([step]);
        return [await step, await processes.await("p")];
      });
      const work = program("work", async ({ processEvents }) => {
        for (let i = 0; i < 3; i++) await processEvents.awaitSignal("go");
        return "heard";
      });
      const { output } = await live([body, work], death, {}, { maxUnanswered: 1 });
      const at = `died ${death?.when} append ${death?.append}`;
      expect(output, at).toEqual(success(["stepped", { type: "success", value: "heard" }]));
    }
  });
});
