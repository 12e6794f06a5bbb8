/** Lives that began under protocol 1, in a scope that is upgraded: they keep what their record hangs on, and the next is new. */
import { type Json, done, failureOutput, safeRetryFailure, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolDefinition, defineTool } from "../src/index.ts";
import { payloads } from "./words.ts";
import { World } from "./world.ts";

const calls = [{ label: "c", tool: "body", args: {} }];
const ok = (payload: Json) => ({ status: "ok", payload }) as const;

/** Runs a tool under protocol 1 until all is quiet, and kills its process; then opens the scope with the newest protocol. */
const upgraded = async (
  tool: ToolDefinition,
  host: HostPort = {},
  before: (world: World) => void = () => undefined,
) => {
  const world = new World();
  const one = world.start([tool], { upgrade: "never", host });
  const session = await one.runtime.session("s");
  void session.request("r", calls).catch(() => undefined);
  await world.quiet();
  before(world);
  await world.quiet();
  for (const { call, hash } of await session.approvals()) await session.approve(call, { hash, by: "ann" });
  await world.quiet();
  one.kill();
  const after = await world.start([tool], { host }).runtime.session("s");
  await world.quiet();
  expect(after.state.scope.protocol).toBe(2);
  return { world, session: after, replies: after.request("r", calls) };
};

describe("a life that began under protocol 1", () => {
  it("keeps its keys and its tokens, which its record holds, and the next life has its own", async () => {
    const [tokens, keys]: [string[], string[]] = [[], []];
    const tool = defineTool<{ readonly life?: number }>({
      name: "body",
      durable: true,
      onDivergence: "fail",
      execute: async ({ life = 1 }, ctx) => {
        const token = ctx.token("paid");
        tokens[life - 1] = token;
        await ctx.run("mail", ({ key }) => void keys.push(key), { input: { token, id: ctx.uuid("mail") } });
        const paid = await ctx.waitFor("paid");
        return life < 2 ? ctx.continueAs({ life: 2 }) : paid;
      },
    });
    const { world, session, replies } = await upgraded(tool);
    expect(tokens[0]).toMatch(/^v1\./);
    expect(await session.resolve(tokens[0] ?? "", ok(1))).toEqual({ status: "accepted" });
    await world.quiet();
    expect(tokens[1]).toMatch(/^v3\./);
    expect(await session.resolve(tokens[1] ?? "", ok(2))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([2]);
    expect(keys).toEqual(["session:s/r:tool:c:durable-step:mail", "life:2:session:s/r:tool:c:durable-step:mail"]);
  });

  it("keeps its clock in the attempt that the upgrade found, and what that was told in the next ones", async () => {
    const mails: unknown[] = [];
    const busy = done(failureOutput(safeRetryFailure("external", "busy", "busy")));
    const tool = defineTool({
      name: "body",
      durable: true,
      onDivergence: "fail",
      retry: { attempts: 4, firstDelayMs: 1000, maxDelayMs: 1000 },
      execute: async (_, ctx) => {
        await ctx.run("quote", () => 7);
        if (ctx.attempt === 1) return busy;
        await ((input) => ctx.run("mail", () => (mails.push(input), "sent"), { input }))({ sent_at: ctx.now() });
        if (ctx.attempt === 2) await ctx.waitFor("go");
        return ctx.attempt < 4 ? busy : "sent once";
      },
    });
    const { world, session, replies } = await upgraded(tool, {}, (began) => began.platform.advance(1000));
    const [wait] = session.state.waits.rows();
    await session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: ok(1) });
    for (let i = 0; i < 4; i++) {
      await world.quiet();
      world.platform.advance(1000);
    }
    expect(payloads(await replies)).toEqual(["sent once"]);
    expect(mails).toHaveLength(1);
  });
});

describe("a call that continued under protocol 1", () => {
  it("is decided on by the arguments that it has now", async () => {
    const tool = defineTool<{ readonly life?: number }>({
      name: "body",
      needsApproval: true,
      execute: async ({ life }, ctx) =>
        life === undefined ? ctx.continueAs({ life: 2 }) : new Promise(() => undefined),
    });
    const host: HostPort = { resolveOutcome: async () => ({ type: "run_again" }) };
    const { session, replies } = await upgraded(tool, host);
    void replies.catch(() => undefined);
    const [parked] = await session.approvals();
    expect([parked?.args, parked?.hash]).toEqual([{ life: 2 }, stableHash({ life: 2 })]);
    const first = { hash: stableHash({}), by: "ann" };
    await expect(session.approve("r:c", first)).rejects.toMatchObject({ code: "stale_decision" });
    await session.approve("r:c", { hash: parked?.hash ?? "", by: "ann" });
  });
});
