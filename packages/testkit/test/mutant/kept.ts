/** Proofs of what is kept: the place of an unknown step, runs whose process died, what a task showed last, what was triggered. */
import { type HostPort, type ToolContext, defineTool } from "@pawl/runtime";
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { World } from "../../../runtime/test/world.ts";
import { differing } from "./releases.ts";

const never = Promise.withResolvers<never>().promise;
const large = "x".repeat(100_000);

const pay = (ctx: ToolContext): Promise<unknown> =>
  ctx.run("pay", () => never, { recovery: "once" }).catch(({ code }: { readonly code: string }) => code);

/** The second attempt asks for something large, and then for the step that the first one left open. */
const careful = defineTool({
  name: "careful",
  durable: true,
  onDivergence: "fail",
  retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
  execute: async (_, ctx) => {
    if (ctx.attempt === 1) {
      void pay(ctx);
      await ctx.run("note", () => 1);
      return done(failureOutput(safeRetryFailure("external", "busy", "busy")));
    }
    const noted = ctx.run("large", () => "noted", { input: { large } });
    return [await pay(ctx), await noted];
  },
});

/** A process dies while the input of an earlier request is being stored. */
const inPlace = async (): Promise<string | undefined> => {
  const world = new World();
  const { blobs } = world.journal;
  if (blobs === undefined) throw new Error("the journal in memory stores blobs");
  const one = world.start([careful], { faulty: { blobs: { ...blobs, put: () => never } } });
  const calls = [{ label: "c", tool: "careful", args: {} }];
  void (await one.runtime.session("s")).request("r", calls).catch(() => undefined); // Dies with its process.
  await world.quiet();
  world.platform.advance(60_000);
  await world.quiet();
  one.kill();
  const [reply] = await (await world.start([careful]).runtime.session("s")).request("r", calls);
  return differing(reply?.output.outcome, { status: "success", payload: ["step_outcome_unknown", "noted"] });
};

const job = defineTool({
  name: "job",
  durable: true,
  execute: () => "run me in the background",
  background: async (_, ctx, sink) => {
    await sink.status("half way");
    await ctx.sleep(20_000);
    return { summary: "rested", result: 1 };
  },
});
const spawns = defineTool({
  name: "spawns",
  durable: true,
  execute: async (_, ctx) => (await ctx.background.spawn({ tool: "job", args: {} })).status,
});

/** The process of a background run dies: the run goes on, and its task keeps what it showed last. */
const goesOn = async (): Promise<string | undefined> => {
  const world = new World();
  const host: HostPort = { artifacts: async () => undefined, tell: async () => undefined };
  const how = { host, options: { maxRunAttempts: 1 } } as const; // Of protocol 1: a crash counts otherwise now.
  const one = world.start([job, spawns], how);
  await (await one.runtime.session("s")).request("r", [{ label: "c", tool: "spawns", args: {} }]);
  await world.quiet();
  one.kill();
  const { runtime } = world.start([job, spawns], how);
  await runtime.recover();
  for (let n = 0; n < 6; n++) {
    await world.quiet();
    world.platform.advance(5000);
  }
  await world.quiet();
  const { state } = await runtime.session("s");
  const tasks = state.background.tasks.values().map(({ task }) => [task.state, task.state_detail]);
  return differing(tasks, [["succeeded", "half way"]]);
};

const emits = defineTool({
  name: "emits",
  durable: true,
  execute: (_, ctx) => ctx.triggers.emit({ sourceType: "t", sourceKey: "k", payload: {}, idempotencyKey: "inner" }),
});
const nests = defineTool({
  name: "nests",
  durable: true,
  execute: (_, ctx) => ctx.callAll([{ label: "x", tool: "emits", args: {} }]).then(() => "nested"),
});

const occurs: HostPort["request"] = async () => ({ occurrence_id: "of inner", started_process_ids: [] });

/** Expects what a call below has triggered at the caller of the request. */
const triggered = async (): Promise<string | undefined> => {
  const { runtime } = new World().start([emits, nests], { host: { request: occurs } });
  const replies = await (await runtime.session("s")).request("r", [{ label: "c", tool: "nests", args: {} }]);
  const ids = (replies.triggers ?? []).map((one) => (one as { readonly occurrence_id: string }).occurrence_id);
  return differing(ids, ["of inner"]);
};

export const kept = { inPlace, goesOn, triggered };
