/** Tests what a body makes in one life of its call, and what it makes in the next: under protocol 2, and as protocol 1 had it. */
import { type Json, type Resolution, done, failureOutput, safeRetryFailure, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, defineTool } from "../src/index.ts";
import { readToken, tokenOf } from "../src/driver.ts";
import { eventType, program, toolCall } from "./process/world.ts";
import { payloads } from "./words.ts";
import { World, roots } from "./world.ts";

const protocols = [1, 2];
const calls = [{ label: "c", tool: "body", args: {} }];
const ok = (payload: Json): Resolution => ({ status: "ok", payload });
const cancelled = { status: "already_resolved", terminal: { status: "cancelled" } };

type Lives = (ctx: ToolContext, life: number) => Promise<unknown>;

/** A tool that continues as long as its program returns `again`. */
const again = Symbol("again");
const living = (lives: Lives, name = "body") =>
  defineTool<{ readonly life?: number }>({
    name,
    durable: true,
    execute: async ({ life = 1 }, ctx) => {
      const end = await lives(ctx, life);
      return end === again ? ctx.continueAs({ life: life + 1 }) : end;
    },
  });

/** Runs a tool to its end. */
const told = async (protocol: number, lives: Lives, host: HostPort = {}): Promise<unknown> => {
  const world = new World(protocol);
  const replies = (await world.start([living(lives)], { host }).runtime.session("s")).request("r", calls);
  for (let i = 0; i < 4; i++) {
    await world.quiet();
    world.platform.advance(1);
  }
  return payloads(await replies)[0];
};

/** Calls another tool in each life. */
const calling: Lives = async (ctx, life) => {
  const replies = await ctx.callAll([{ label: "k", tool: "kid", args: {} }]);
  return life < 3 ? again : replies.length;
};

/** A service that honours idempotency keys. */
const service = () => {
  const charges = new Map<string, number>();
  const charge = (key: string): number => charges.get(key) ?? (charges.set(key, charges.size + 1), charges.size);
  return { charges, charge };
};

describe.each(protocols)("what a life makes, under protocol %i", (protocol) => {
  const [once, each] = [1, protocol < 2 ? 1 : 3];

  it("is charged once for each month by a service that honours the keys of steps", async () => {
    const { charges, charge } = service();
    const payload = await told(protocol, async (ctx, month) => {
      const number = await ctx.run("charge", ({ key }) => charge(key));
      await ctx.sleep(1);
      return month < 3 ? again : number;
    });
    expect([charges.size, payload]).toEqual([each, each]);
  });

  it("has keys, names and chances of its own; in the first life they are those of protocol 1, at the host with the scope", async () => {
    const made: Json[][] = [];
    const requests: string[] = [];
    const request = async (name: string, _input: Json, key: string) => (requests.push(`${name} ${key}`), null);
    await told(
      protocol,
      async (ctx, life) => {
        await ctx.host("ask", {});
        made.push([ctx.replayKey, ctx.uuid("a"), ctx.random()]);
        return life < 3 ? again : null;
      },
      { request },
    );
    for (const names of [0, 1, 2].map((i) => new Set(made.map((of) => of[i])))) expect(names.size).toBe(each);
    expect(new Set(requests).size).toBe(each);
    const place = protocol < 2 ? "r:c" : "session:s/r:c";
    expect([made[0]?.[0], requests[0]]).toEqual(["lash-tool:session:s/r:c:body", `ask ${place}:host:ask`]);
    const second = protocol < 2 ? "" : "life:2:";
    expect([made[1]?.[0], requests[1]]).toEqual([
      `${second}lash-tool:session:s/r:c:body`,
      `ask ${place}:${second}host:ask`,
    ]);
  });

  it("asks for a completion of its own, though the request is the same", async () => {
    const keys: Json[] = [];
    const said = {
      model: "m",
      messages: [],
      attachments: [],
      tools: [],
      tool_choice: null,
      model_variant: null,
      generation: null,
      session_id: null,
      output_spec: null,
    };
    const request = async (_name: string, input: Json) => (
      keys.push((input as { replay_key: Json }).replay_key),
      "text"
    );
    const lives: Lives = async (ctx, life) => {
      await ctx.directCompletions.complete(said, "u");
      return life < 3 ? again : null;
    };
    await told(protocol, lives, { request });
    expect(new Set(keys).size).toBe(each);
  });

  it("calls tools anew, under names that are not those of an earlier life", async () => {
    const seen: string[] = [];
    const kid = defineTool({
      name: "kid",
      durable: true,
      execute: (_, ctx) => (seen.push(ctx.replayKey), ctx.uuid("k")),
    });
    const world = new World(protocol);
    const session = await world.start([living(calling), kid]).runtime.session("s");
    await session.request("r", calls);
    expect(new Set(seen).size).toBe(each);
    expect(seen[1]).toMatch(
      protocol < 2 ? /^lash-tool:session:s\/r:c\/tool-batch:\w+\/k:kid$/ : /:c\/life:2:tool-batch:/,
    );
  });

  it("starts calls as processes of its own", async () => {
    const kid = defineTool({ name: "kid", durable: true, execute: () => "done" });
    const world = new World(protocol);
    const handles: unknown[] = [];
    const lives: Lives = async (ctx, life) => {
      const { output } = await ctx.handleTools.startToolCall("k", "kid", {});
      handles.push(JSON.stringify(output.outcome));
      return life < 3 ? again : null;
    };
    await (await world.start([living(lives), kid]).runtime.session("s")).request("r", calls);
    expect(new Set(handles).size).toBe(each);
  });

  it("starts background work of its own", async () => {
    const ids: string[] = [];
    const payload = await told(protocol, async (ctx, life) => {
      const { id } = await ctx.tasks.create({ kind: "k", display_name: "a task", spec: null });
      ids.push(id);
      return life < 3 ? again : (await ctx.tasks.list()).length;
    });
    expect([new Set(ids).size, payload]).toEqual(protocol < 2 ? [once, once] : [3, 3]);
  });

  it("emits events of its own, each under its key", async () => {
    const work = living(async (ctx, life) => {
      const { sequence } = await ctx.emitProcessEvent("note", { life });
      return life < 3 ? again : sequence;
    }, "work");
    const body = program("body", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("note")] });
      return processes.await("p");
    });
    const session = await new World(protocol).start([body, work]).runtime.session("s");
    const [end] = payloads(await session.request("r", calls));
    if (protocol < 2) expect(JSON.stringify(end)).toContain("tool_internal_error");
    else expect(end).toMatchObject({ value: 3 });
  });

  it("sends signals that count, though they are equal", async () => {
    const work = program("work", async ({ processEvents }) => {
      for (let n = 0; n < 3; n++) await processEvents.awaitSignal("go");
      return "all three";
    });
    const body = living(async (ctx, life) => {
      if (life === 1)
        await ctx.processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
      await ctx.processes.signal("p", "go", "the same");
      return life < 3 ? again : ctx.race([ctx.processes.await("p"), ctx.sleep(1000)]);
    });
    const world = new World(protocol);
    const replies = (await world.start([body, work]).runtime.session("s")).request("r", calls);
    await world.quiet(300);
    world.platform.advance(1000);
    expect(payloads(await replies)).toMatchObject([protocol < 2 ? null : { value: "all three" }]);
  });

  it("hears each signal once, also where an earlier life waited in vain, or tried twice", async () => {
    const heard: Json[] = [];
    const work = defineTool<{ readonly life?: number }>({
      name: "work",
      durable: true,
      retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
      execute: async ({ life = 1 }, { processEvents: { awaitSignal }, ...ctx }) => {
        if (life === 2 && ctx.attempt === 2) return ctx.continueAs({ life: 3 }); // Attempt 1 was handed one.
        const signal = awaitSignal("go");
        heard.push(await signal);
        if (life === 2) return done(failureOutput(safeRetryFailure("external", "busy", "busy")));
        if (life === 4) return "over";
        void awaitSignal("go"); // Nobody sends it before this life is over.
        return ctx.continueAs({ life: life + 1 });
      },
    });
    const body = program("body", async ({ processes, sleep }) => {
      await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
      for (let n = 1; n <= 4; n++) {
        await sleep(1000);
        await processes.signal("p", "go", n, `signal ${n}`);
      }
      return processes.await("p");
    });
    const world = new World(protocol);
    const replies = (await world.start([body, work]).runtime.session("s")).request("r", calls);
    for (let i = 0; i < 6; i++) {
      await world.quiet(100);
      world.platform.advance(1000);
    }
    await replies;
    expect(heard).toEqual(protocol < 2 ? [1, 1, 1, 1] : [1, 2, 3, 4]);
  });
});

/** A tool whose lives wait for a word under one name, and the tokens that they gave away. */
const asking = (protocol: number, options?: Parameters<ToolContext["token"]>[1]) => {
  const tokens: string[] = [];
  const lives: Lives = async (ctx, life) => {
    tokens[life - 1] = ctx.token("approved", options);
    const answer = await ctx.waitFor("approved", options);
    return life < 2 ? again : answer;
  };
  const world = new World(protocol);
  const tools = [living(lives)];
  const begin = async () => await world.start(tools).runtime.session("s");
  return { tokens, world, tools, begin };
};

const keyOf = (token = ""): string => token.split(".")[2] ?? "";

describe("an approval that one life waited for", () => {
  it("answers the next one as well, under protocol 1", async () => {
    const { tokens, begin } = asking(1);
    const session = await begin();
    const replies = session.request("r", calls);
    while (tokens.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await session.resolve(tokens[0] ?? "", ok("the first"))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual(["the first"]);
    expect(tokens[1]).toBe(tokens[0]);
  });

  it("answers that one alone, under protocol 2; its token resolves nothing later, and what is left is dropped", async () => {
    const { tokens, world, begin } = asking(2);
    const session = await begin();
    const replies = session.request("r", calls);
    await world.quiet();
    await session.resolve(tokens[0] ?? "", ok("the first"), "ann", "id1");
    await world.quiet();
    const [first = "", second = ""] = tokens;
    expect(keyOf(second)).not.toBe(keyOf(first));
    expect(await session.resolve(first, ok("late"))).toEqual({ status: "already_resolved", terminal: ok("the first") });
    expect(await session.resolve(first, ok("the first"), "ann", "id1")).toEqual({ status: "accepted" });
    expect(await session.resolve(second, ok("the second"))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual(["the second"]);
    await world.quiet();
    expect(await session.resolve(second, ok("late"))).toEqual({
      status: "already_resolved",
      terminal: ok("the second"),
    });
    expect(session.state.waits.size).toBe(0);
  });

  it("is told that its life is over, awaited or not, where it comes after it", async () => {
    const tokens: string[] = [];
    const lives: Lives = async (ctx, life) => {
      tokens.push(ctx.token("unasked"), ctx.token("shared"));
      if (life < 3) return again;
      return ctx.waitFor("shared", { for: "request" });
    };
    const world = new World(2);
    const session = await world.start([living(lives)]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    const { seq } = session.state;
    for (const token of tokens.slice(0, 4)) expect(await session.resolve(token, ok(1))).toEqual(cancelled);
    expect([session.state.unclaimed, session.state.seq]).toEqual([0, seq]);
    expect(await session.resolve(tokens[4] ?? "", ok(1))).toEqual({ status: "accepted" });
    expect(session.state.unclaimed).toBe(1);
    await session.cancel({ request: "r" });
    await world.quiet();
    world.platform.advance(1000); // The grace of a cancel.
    await replies;
    await world.quiet();
    expect(session.state.unclaimed).toBe(0);
    for (const token of tokens)
      expect(await session.resolve(token, ok(1))).toMatchObject({ status: "already_resolved" });
  });

  it("is for all lives of the call, or for the request, where it says so", async () => {
    for (const whose of ["call", "request"] as const)
      for (const protocol of protocols) {
        const { tokens, world, begin } = asking(protocol, { for: whose });
        const session = await begin();
        const replies = session.request("r", calls);
        await world.quiet();
        await session.resolve(tokens[0] ?? "", ok("for all"));
        expect(payloads(await replies)).toEqual(["for all"]);
        expect(tokens[1]).toBe(tokens[0]);
      }
  });

  it("is under the key of protocol 1 in the first life, and for a request in all of them", async () => {
    const keys = await Promise.all(
      protocols.map(async (protocol) => {
        const { tokens, world, begin } = asking(protocol);
        void (await begin()).request("r", calls).catch(() => undefined);
        const shared = asking(protocol, { for: "request" });
        void (await shared.begin()).request("r", calls).catch(() => undefined);
        await world.quiet();
        return [keyOf(tokens[0]), keyOf(shared.tokens[0])];
      }),
    );
    expect(new Set(keys.flat()).size).toBe(1);
  });
});

describe("a token of protocol 2", () => {
  const own = { call: "r:c/x.y", life: 2 };

  it("names the call and the life of its key, under its signature", () => {
    const token = tokenOf(roots, "session:s", "key", own);
    expect(readToken(roots, "session:s", token)).toEqual({ key: "key", ...own });
    expect(readToken(roots, "session:s", tokenOf(roots, "session:s", "key", { call: "r:c" }))).toEqual({
      key: "key",
      call: "r:c",
    });
    expect(tokenOf(roots, "session:s", "key")).toMatch(/^v1\.k1\.key\.[0-9a-f]{64}$/);
  });

  it("is nobody's where any part of it was changed, or it is of another scope", () => {
    const parts = tokenOf(roots, "session:s", "key", own).split(".");
    const forged = [
      ...parts.map((part, i) => parts.with(i, i === 4 ? "3" : `${part}0`)),
      parts.toSpliced(3, 2),
      parts.toSpliced(4, 1, ""),
      ["v1", ...parts.slice(1)],
      ["v1", parts[1], parts.slice(2, 5).join("."), parts[5]],
      ["v2", ...tokenOf(roots, "session:s", "key").split(".").slice(1)],
    ];
    for (const token of forged) expect(readToken(roots, "session:s", token.join("."))).toBeUndefined();
    expect(readToken(roots, "session:other", parts.join("."))).toBeUndefined();
  });
});

describe("a call that is parked for a person again after it continued", () => {
  it.each(protocols)("shows the hash of the arguments that it has now, from protocol 2 on: %i", async (protocol) => {
    const world = new World(protocol);
    const risky = defineTool<{ readonly life?: number }>({
      name: "body",
      needsApproval: true,
      execute: async ({ life }, ctx) =>
        life === undefined ? ctx.continueAs({ life: 2 }) : new Promise(() => undefined),
    });
    const host: HostPort = { resolveOutcome: async () => ({ type: "run_again" }) };
    const one = world.start([risky], { host });
    const session = await one.runtime.session("s");
    void session.request("r", calls).catch(() => undefined);
    await world.quiet();
    const [first] = await session.approvals();
    await session.approve("r:c", { hash: first?.hash ?? "", by: "ann" });
    await world.quiet();
    one.kill();
    const after = await world.start([risky], { host }).runtime.session("s");
    await world.quiet();
    const [parked] = await after.approvals();
    expect(parked?.args).toEqual({ life: 2 });
    expect(parked?.hash).toBe(stableHash(protocol < 2 ? {} : { life: 2 }));
  });
});
