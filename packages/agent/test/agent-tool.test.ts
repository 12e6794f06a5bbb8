/** Agents as tools of others: typed, with budgets of their own, decided at the root, over restarts. */
import { type DefinedTool, type Session, defineTool } from "@pawl/runtime";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ModelCall, type ScriptedAnswer, agentTool, defineAgent, scriptedModel } from "../src/index.ts";
import { open } from "./world.ts";

const usage = { input_tokens: 10, output_tokens: 5 };
const say = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (...tools: readonly string[]): ScriptedAnswer => ({
  calls: tools.map((tool) => ({ tool, args: { task: `for ${tool}` } })),
  usage,
});

const pay = defineTool({ name: "pay", durable: true, needsApproval: true, execute: () => "paid" });

/** An agent that asks a helper twice, who asks a clerk, who pays, if a person agrees. */
const family = (asked: (call: ModelCall) => void = () => undefined) => {
  const model = (name: string, script: readonly ScriptedAnswer[]) => scriptedModel(script, { model: name, asked });
  const payer = defineAgent({ name: "clerk", model: model("clerk", [calls("pay"), say("I paid.")]), tools: [pay] });
  const helper = defineAgent({
    name: "helper",
    model: model("helper", [calls("clerk"), say("It is paid.")]),
    tools: [agentTool({ agent: payer, limits: { totalTokens: 15 } })],
  });
  return defineAgent({
    model: model("main", [calls("helper", "helper"), say("All is paid.")]),
    tools: [agentTool({ agent: helper })],
  });
};

/** The name of the i-th clerk. */
const clerk = (i: number): string => `s/t1/m1.${i}/turn/m1.0`;

/** Decides on all that waits for a person, the newest first, until a turn is over. */
const decideAll = async (session: Session, isOver: () => boolean, seen: string[]): Promise<void> => {
  for (; !isOver(); await new Promise((resolve) => setTimeout(resolve, 5)))
    for (const one of (await session.approvals({ deep: true })).toReversed()) {
      seen.push(`${one.kind} of ${one.subAgent}`);
      if (one.kind === "call") await one.approval.approve({ by: "ada" });
      if (one.kind === "budget")
        await one.extend({ turn: { total_tokens: 50 }, session: {} }, { by: "ada", id: "more" });
    }
};

describe("an agent as a tool", () => {
  it("has the arguments of its parameters, and the value of its agent", async () => {
    const model = scriptedModel(({ prompt }) => ({ text: JSON.stringify({ asked: prompt.at(-1)?.content }) }));
    const output = { schema: z.object({ asked: z.unknown() }) };
    const counter = defineAgent({ name: "counter", model, output });
    const count = agentTool({
      agent: counter,
      name: "count",
      parameters: z.object({ upTo: z.number() }),
      prompt: ({ upTo }) => `Count to ${upTo}.`,
    });
    expectTypeOf(count).toEqualTypeOf<DefinedTool<{ upTo: number }, { asked: unknown }>>();
    expectTypeOf(agentTool({ agent: "other" })).toExtend<DefinedTool<{ readonly task: string }, string>>();
    const { session, close } = await open([counter], { tools: [count] });
    const value = await session.call(count, { upTo: 3 }, { id: "r1" });
    expect(value).toEqual({ asked: [{ type: "text", text: "Count to 3." }] });
    expect(session.state.conversation.used).toMatchObject({ model_calls: 1 });
    await close();
  });

  it("is refused where its agent is not here", async () => {
    const main = defineAgent({ model: scriptedModel([]), tools: [agentTool({ agent: "gone" })] });
    await expect(open([main])).rejects.toThrow("agent `main`: it asks `gone`, which is not here");
  });

  it("two levels down waits for people, who decide at the root, in any order, after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pawl-agents-"));
    const file = join(folder, "journal.db");
    const first = await open([family()], { file });
    void family()
      .turn(first.session, "Pay both.", { id: "t1" })
      .end.catch(() => undefined); // Its process ends first.
    await expect.poll(async () => (await first.session.approvals({ deep: true })).length, { timeout: 20_000 }).toBe(2);
    await first.close();

    const keys = new Set<string>();
    const main = family(({ key }) => keys.add(key));
    const { session, close } = await open([main], { file });
    const turn = main.turn(session, "Pay both.", { id: "t1" });
    const seen: string[] = [];
    let isOver = false;
    const deciding = decideAll(session, () => isOver, seen);
    expect(await turn.text()).toBe("All is paid.");
    isOver = true;
    await deciding;
    for (const i of [0, 1]) for (const kind of ["call", "budget"]) expect(seen).toContain(`${kind} of ${clerk(i)}`);
    const { used, grants } = session.state.conversation;
    expect(grants).toEqual([]);
    expect(used).toMatchObject({ model_calls: 10, total_tokens: 150 });
    expect([...keys].filter((key) => key.includes("model:1.0"))).toEqual([]);
    await close();
    rmSync(folder, { recursive: true });
  });

  it("ends with the call that asked it", async () => {
    const slow = defineAgent({
      name: "slow",
      model: scriptedModel(["one two three four"], { wordMs: 1000, model: "slow" }),
    });
    const main = defineAgent({ model: scriptedModel([calls("slow")]), tools: [agentTool({ agent: slow })] });
    const { session, close } = await open([main]);
    const turn = main.turn(session, "Go.", { id: "t1" });
    await expect.poll(() => session.state.conversation.grants.length, { timeout: 20_000 }).toBe(1);
    await turn.stop();
    expect(await turn.end).toMatchObject({ status: "stopped", because: "cancelled" });
    const child = await session.subAgent("s/t1/m1.0");
    expect(child.state.process?.status.state).toBe("cancelled");
    expect(session.state.conversation.grants).toEqual([]);
    await close();
  });
});
