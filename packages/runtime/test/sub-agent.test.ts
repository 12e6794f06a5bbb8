/** Sub-agents over a runtime: a tool whose body starts an agent of its own, and awaits it. */
import { type AnswerPart, type TurnEnd, outputOfAwait } from "@pawl/sansio-core/driver";
import { done } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type Session, defineTool } from "../src/index.ts";
import { type AgentDefinition, type ModelAnswer, type ModelCall, type ModelPort } from "../src/driver.ts";
import { type Death, type Process, World } from "./world.ts";

const text = (said: string): AnswerPart => ({ type: "text", text: said });
const call = (tool: string, id: string): AnswerPart => ({ type: "tool-call", id, tool, args: {} });
const answer = (...parts: readonly AnswerPart[]): ModelAnswer => ({
  pieces: parts.map((part, b) => ({ b, part })),
  finish: { reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop" },
  usage: { input_tokens: 10, output_tokens: 5 },
});

/** Asks a helper, awaits it, and ends it when it is cancelled itself. */
const helper = defineTool({
  name: "helper",
  durable: true,
  readOnly: true,
  execute: async (_, ctx) => {
    const id = ctx.subAgentId;
    ctx.onCancel(async () => {
      await ctx.processes.cancel(id);
      await ctx.processes.await(id);
    });
    await ctx.processes.start({
      id,
      input: {
        type: "session_turn",
        create_request: { agent: "helper" },
        turn_input: { messages: [{ role: "user", content: "find it" }] },
        output_contract: null,
      },
    });
    return done(outputOfAwait(await ctx.processes.await(id)));
  },
});
const look = defineTool({ name: "look", durable: true, execute: async () => "a wheel" });
const pay = defineTool({ name: "pay", durable: true, needsApproval: true, execute: async () => "paid" });

const agents: { readonly [name: string]: AgentDefinition } = {
  main: { system: "Delegate.", routes: [{ provider: "p", model: "main" }], tools: ["helper"] },
  helper: { system: "Help.", routes: [{ provider: "p", model: "helper" }], tools: ["look", "pay"] },
};

type Script = (call: ModelCall) => ModelAnswer | Promise<ModelAnswer>;

const seen = ({ prompt }: ModelCall): number => prompt.filter(({ role }) => role === "tool").length;
const asksHelpers =
  (count: number): Script =>
  (asked) =>
    seen(asked) > 0 ? answer(text("Done.")) : answer(...[...Array(count).keys()].map((i) => call("helper", `c${i}`)));
const looks: Script = (asked) => (seen(asked) > 0 ? answer(text("It is a wheel.")) : answer(call("look", "l")));

/** Two models, and the keys under which they were asked: a key is paid once. */
class Models {
  readonly paid = new Map<string, ModelAnswer>();
  readonly asked: ModelCall[] = [];
  readonly #scripts: { readonly [model: string]: Script };

  constructor(main: Script, sub: Script) {
    this.#scripts = { main, helper: sub };
  }

  port(model: string): ModelPort {
    return {
      ask: async (asked) => {
        this.asked.push(asked);
        const known = this.paid.get(asked.key);
        if (known !== undefined) return known;
        const made = (await this.#scripts[model]?.(asked)) ?? answer();
        this.paid.set(asked.key, made);
        return made;
      },
    };
  }
}

const start = (models: Models, world = new World(), death?: Death): Process =>
  world.start([helper, look, pay], {
    ...(death === undefined ? {} : { death }),
    host: { models: ({ model }) => models.port(model), agents: (name) => agents[name] },
  });

const child = (i: number): string => `s/t1/m1.${i}`;
const never = new Promise<never>(() => undefined);
const textOf = (end: TurnEnd): string | undefined => ("text" in end ? end.text : undefined);

describe("a sub-agent", () => {
  it("works beside its parent with its own tools and history, and its answer is the result of the call", async () => {
    const models = new Models(asksHelpers(1), looks);
    const { runtime } = start(models);
    const session = await runtime.session("s");
    const end = await session.turn("t1", "What is it?");
    expect(textOf(end)).toBe("Done.");
    expect(models.asked.map(({ key }) => key)).toEqual([
      "session:s/t1:model:1.0",
      "process:s/t1/m1.0/turn:model:1.0",
      "process:s/t1/m1.0/turn:model:2.0",
      "session:s/t1:model:2.0",
    ]);
    expect(models.asked[1]?.tools.map(({ name }) => name)).toEqual(["look", "pay"]);
    expect(models.asked[1]?.prompt.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(models.asked[3]?.prompt.at(-1)).toMatchObject({ content: [{ output: { text: "It is a wheel." } }] });
    expect(end.used).toMatchObject({ model_calls: 4, total_tokens: 60 });
    await runtime.close();
  });

  it("is asked to end when its parent's turn is cancelled, and its end is waited for", async () => {
    const models = new Models(asksHelpers(1), ({ signal }) =>
      Promise.race([
        never,
        new Promise<ModelAnswer>((_, no) => signal.addEventListener("abort", () => no(signal.reason))),
      ]),
    );
    const world = new World();
    const { runtime } = start(models, world);
    const session = await runtime.session("s");
    const turn = session.turn("t1", "What is it?");
    await expect.poll(() => models.asked.length).toBe(2);
    await session.cancel({ request: "t1" });
    expect(await turn).toMatchObject({ status: "stopped", because: "cancelled" });
    const process = await runtime.processes.scope(child(0));
    expect(process.state.process?.status).toMatchObject({ state: "cancelled" });
    expect(session.state.conversation.grants).toEqual([]);
    await runtime.close();
  });

  it("shows its approvals at the root, where they are decided", async () => {
    const models = new Models(asksHelpers(2), (asked) =>
      seen(asked) > 0 ? answer(text("Paid.")) : answer(call("pay", "p")),
    );
    const { runtime } = start(models);
    const session = await runtime.session("s");
    const turn = session.turn("t1", "Pay twice.");
    const pending = () => session.approvals({ deep: true });
    await expect.poll(async () => (await pending()).length).toBe(2);
    expect((await pending()).map(({ kind, subAgent }) => [kind, subAgent])).toEqual([
      ["call", child(0)],
      ["call", child(1)],
    ]);
    for (const one of await pending()) if (one.kind === "call") await one.approval.approve({ by: "ada" });
    expect(textOf(await turn)).toBe("Done.");
    expect(await session.approvals({ deep: true })).toEqual([]);
    await runtime.close();
  });

  it("shows that its budget is used up at the root; what a person adds is added to every level", async () => {
    const models = new Models(asksHelpers(1), looks);
    const { runtime } = start(models);
    const session = await runtime.session("s");
    await session.report({ type: "limits.set", limits: { session: { total_tokens: { limit: 29 } } } });
    const turn = session.turn("t1", "What is it?");
    await expect.poll(async () => (await session.approvals({ deep: true })).length).toBe(1);
    const [asked] = await session.approvals({ deep: true });
    if (asked?.kind !== "budget") throw new Error(`expected a question about a budget, found ${asked?.kind}`);
    expect(asked.reached).toEqual([{ of: "session", what: "total_tokens", limit: 14, used: 15 }]);
    await asked.extend({ session: { total_tokens: 100 } }, { by: "ada" });
    expect(textOf(await turn)).toBe("Done.");
    expect(session.state.conversation.limits.session).toEqual({ total_tokens: { limit: 129 } });
    expect(session.state.conversation.used.total_tokens).toBe(60);
    await runtime.close();
  });

  it("is found by its session alone", async () => {
    const { runtime } = start(new Models(asksHelpers(1), looks));
    const session = await runtime.session("s");
    await session.turn("t1", "What is it?");
    await expect(session.subAgent("other/t1/m1.0")).rejects.toMatchObject({ code: "scope_unknown" });
    await expect(session.subAgent("s/t1/m9.9")).rejects.toMatchObject({ code: "scope_unknown" });
    expect((await session.subAgent(child(0))).state.process?.status.state).toBe("completed");
    await runtime.close();
  });
});

/** The ledger of a session, without time and without what is 0. */
const usedBy = ({ state }: Session) => {
  const { wall_ms: _, ...used } = state.conversation.used;
  return used;
};

/** Begins a process, and in it a turn that nobody may see the end of. */
const begin = async (world: World, models: Models, death?: Death) => {
  const process = start(models, world, death);
  const session = process.runtime.session("s").then(async (one) => {
    await one.report({ type: "limits.set", limits: { session: { total_tokens: { limit: 1000 } } } });
    return one;
  });
  session.then((one) => one.turn("t1", "What is it?")).catch(() => undefined); // It dies on the way.
  return process;
};

const models = (): Models => new Models(asksHelpers(2), looks);

describe("a process that dies in a turn with sub-agents", () => {
  it("leaves the same end and an exact ledger, wherever it died, and pays each answer once", async () => {
    const whole = models();
    const first = await (await begin(new World(), whole)).runtime.session("s");
    const wanted = textOf(await first.turn("t1", "What is it?"));
    expect(wanted).toBe("Done.");
    const used = usedBy(first);
    expect(used).toEqual({ model_calls: 6, input_tokens: 60, output_tokens: 30, total_tokens: 90, unpriced: 6 });
    let lived = 0;
    for (const when of ["before", "after"] as const) {
      for (let append = 2; ; append++) {
        const world = new World();
        const asked = models();
        const dying = await begin(world, asked, { append, when });
        for (let i = 0; i < 200 && !dying.isDead; i++) await new Promise((resolve) => setImmediate(resolve));
        const isWhole = !dying.isDead;
        dying.kill();
        const next = start(asked, world);
        const session = await next.runtime.session("s");
        await session.report({ type: "limits.set", limits: { session: { total_tokens: { limit: 1000 } } } });
        const turn = session.turn("t1", "What is it?");
        for (let i = 0; i < 10; i++) {
          await world.quiet(10);
          world.platform.advance(2000);
        }
        const where = `${when} append ${append}`;
        expect(textOf(await turn), where).toBe(wanted);
        expect([...asked.paid.keys()].toSorted(), where).toEqual([...whole.paid.keys()].toSorted());
        expect(session.state.conversation.grants, where).toEqual([]);
        expect(usedBy(session), where).toEqual(used);
        await next.runtime.close();
        lived = append;
        if (isWhole) break;
      }
    }
    expect(lived).toBeGreaterThan(12);
  });
});
