/** Where in the log a `once` step of unknown outcome is answered, while an earlier request waits for its input to be stored. */
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import type { BlobStore } from "../src/driver.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "tries", args: {} }];
const large = "x".repeat(100_000);
const busy = done(failureOutput(safeRetryFailure("external", "busy", "busy")));
const put: BlobStore["put"] = () => new Promise(() => undefined);
const pay = (ctx: ToolContext): Promise<unknown> =>
  ctx
    .run("pay", () => new Promise(() => undefined), { recovery: "once" })
    .catch(({ code }: { readonly code: string }) => code);

/** The second attempt asks for something large, and then for the step that the first one left open. */
const tries = defineTool({
  name: "tries",
  durable: true,
  onDivergence: "fail",
  retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
  execute: async (_, ctx) => {
    if (ctx.attempt === 1) {
      void pay(ctx);
      await ctx.run("note", () => 1);
      return busy;
    }
    const noted = ctx.run("large", () => "noted", { input: { large } });
    return [await pay(ctx), await noted];
  },
});

it.each([
  [1, { status: "failure", payload: { code: "replay_diverged" } }],
  [2, { status: "success", payload: ["step_outcome_unknown", "noted"] }],
])("a crash before that input is stored, under protocol %i: %j", async (protocol, outcome) => {
  const world = new World(protocol);
  const blobs = world.journal.blobs as BlobStore;
  const one = world.start([tries], { faulty: { blobs: { ...blobs, put } } });
  void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
  await world.quiet();
  world.platform.advance(60_000); // Under protocol 2 the first attempt leaves its step only now.
  await world.quiet();
  one.kill();
  const session = await world.start([tries]).runtime.session("s");
  const [reply] = await session.request("r", calls);
  expect(reply?.output.outcome).toMatchObject(outcome);
});
