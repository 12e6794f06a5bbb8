/**
 * A process that serves subscriptions of three months, until it is killed or all are over. Each month is a life: it charges
 * under the key of its step, and tells a process of its session that it did, with an equal signal each time.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { Refused, defineTool } from "@pawl/runtime";

const [file = "", ledger = "", count = "1"] = process.argv.slice(2);

/** A service that honours idempotency keys: what it has done is a file for each. */
const charge = (session: string, key: string): void => {
  const name = `${session}-${createHash("sha256").update(key).digest("hex")}`;
  try {
    writeFileSync(join(ledger, name), key, { flag: "wx" });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
};

interface Month {
  readonly month?: number;
}

const counts = defineTool<Month>({
  name: "counts",
  durable: true,
  execute: async ({ month = 1 }, ctx) => {
    await ctx.processEvents.awaitSignal("charged");
    await ctx.emitProcessEvent("month", { of: "the same" });
    return month < 3 ? ctx.continueAs({ month: month + 1 }) : month;
  },
});

const subscription = defineTool<Month>({
  name: "subscription",
  durable: true,
  execute: async ({ month = 1 }, ctx) => {
    const id = `counter of ${ctx.session}`;
    if (month === 1) {
      const call = { call_id: "c", tool_id: "tool:counts", tool_name: "counts", args: {}, prepared_payload: null };
      const event_types = ["month", "signal.charged"].map((name) => ({
        name,
        payload_schema: { schema: {} },
        semantics: {},
      }));
      await ctx.processes.start({ id, input: { type: "tool_call", call }, eventTypes: event_types });
    }
    await ctx.run("charge", ({ key }) => charge(ctx.session, key));
    await ctx.processes.signal(id, "charged", "the same");
    await ctx.sleep(40);
    if (month < 3) return ctx.continueAs({ month: month + 1 });
    const end = await ctx.processes.await(id);
    return end.type === "success" ? (end.value ?? null) : end.type;
  },
});

const { runtime, close } = openRuntime({
  file,
  tools: [counts, subscription],
  options: { crashPausesMs: [0], maxCrashes: 100_000 },
});
await runtime.recover();
const served = Array.from({ length: Number(count) }, async (_, i) => {
  const session = await runtime.session(`s${i}`);
  await session.request("r", [{ label: "c", tool: "subscription", args: {} }]).catch((thrown: unknown) => {
    if (!(thrown instanceof Refused) || thrown.code !== "request_ended") throw thrown; // It was over in an earlier process.
  });
});
console.log("ready");
await Promise.all(served);
await close();
