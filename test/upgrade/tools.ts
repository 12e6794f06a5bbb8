/**
 * The tools of the corpus. The bodies of its logs run again with them, under later code as well: names, keys, inputs and the
 * order of what a body asks for never change here. Every effect goes to the ledger.
 */
import { EffectError, type ToolDefinition, connectionRequired } from "@pawl/runtime";
import { done, failureOutput, pending, safeRetryFailure } from "@pawl/tool-value";
import { longToolsOf } from "./long-tools.ts";
import { type Args, type Outside, isUnknown, stepsIn, tool } from "./tool-parts.ts";

const retries = { attempts: 4, firstDelayMs: 400, maxDelayMs: 5000 } as const;
export const toolsOf = (outside: Outside): readonly ToolDefinition[] => {
  const step = stepsIn(outside);
  const plain = [
    tool("steps", async ({ as, n = 2 }, ctx) => {
      const results: unknown[] = [];
      for (let i = 0; i < n; i++) {
        results.push(await ctx.all([step(ctx, as, `left-${i}`), step(ctx, as, `right-${i}`, "idempotent")]));
        await ctx.sleep(30);
      }
      return results;
    }),
    tool("once", async ({ as, n = 2 }, ctx) => {
      let unknown = 0;
      for (let i = 0; i < n; i++) {
        try {
          await step(ctx, as, `once-${i}`, "once");
        } catch (thrown) {
          if (!isUnknown(thrown)) throw thrown;
          unknown += 1;
        }
        await step(ctx, as, `after-${i}`);
      }
      return unknown <= n;
    }),
    tool("waits", async ({ as, ms }, ctx) => {
      await step(ctx, as, "before");
      outside.hand(as, ctx.token(as), ctx);
      const heard = await ctx.waitFor(as, ms === undefined ? {} : { timeoutMs: ms });
      return [heard, await step(ctx, as, "after")];
    }),
    tool("sleeps", async ({ as, n = 2, ms = 5000 }, ctx) => {
      for (let i = 0; i < n; i++) {
        await ctx.sleep(ms);
        await step(ctx, as, `woken-${i}`);
      }
      return ctx.random() < 1 && ctx.uuid("u").length;
    }),
    tool("selects", async ({ as }, ctx) => {
      outside.hand(as, ctx.token(as), ctx);
      const answer = ctx.waitFor(as);
      const first = await ctx.race([answer, ctx.sleep(600_000)]);
      const failing = ctx.run("fails", () => Promise.reject(new EffectError("refused", "as it should")));
      const any = await ctx.any([failing, step(ctx, as, "any")]);
      const all = await ctx.allSettled([step(ctx, as, "all"), failing]);
      return [first ?? null, any, all.map(({ status }) => status)];
    }),
    tool("nests", async ({ as, calls = [] }, ctx) => {
      await step(ctx, as, "first");
      const replies = await ctx.callAll(calls.map(({ id, toolId, args }) => ({ label: id, tool: toolId, args })));
      await step(ctx, as, "last");
      return replies.map(({ output }) => output.outcome.status);
    }),
    tool(
      "flaky",
      async ({ as, n = 2 }, ctx) => {
        await step(ctx, as, "shared");
        if (ctx.attempt > n) return step(ctx, as, "at last");
        await step(ctx, as, `try-${ctx.attempt}`);
        return done(failureOutput(safeRetryFailure("external", "busy", "not yet")));
      },
      { retry: retries },
    ),
    tool("months", async ({ as, n = 3 }, ctx) => {
      await step(ctx, as, `month-${n}`);
      await ctx.sleep(2000);
      return n <= 1 ? "all months" : ctx.continueAs({ as, n: n - 1 });
    }),
    tool("subscribes", async ({ as, n = 3 }, ctx) => {
      const month = `${as}-${n}`;
      outside.hand(month, ctx.token(month), ctx);
      const paid = await ctx.waitFor(month);
      await step(ctx, as, `charge-${n} ${String(paid)}`, "idempotent");
      const calls = [{ label: "d", tool: "again", args: { as: `${month}-d` } }];
      const [sent] = await ctx.all([ctx.callAll(calls), ctx.host("quote", { as: month, i: 0 })]);
      const isSent = sent.every(({ output }) => output.outcome.status === "success");
      return n > 1 && isSent ? ctx.continueAs({ as, n: n - 1 }) : isSent;
    }),
    tool("dated", async ({ as, n = 2 }, ctx) => {
      const begun = ctx.now();
      for (let i = 0; i < n; i++) {
        await ctx.run(
          `dated-${i}`,
          async ({ key }) => {
            await outside.effect(`${as}/dated-${i}`, { key, claim: "once" });
            return ctx.uuid(`id-${i}`).length;
          },
          { input: { begun, at: ctx.now(), lot: ctx.random() } },
        );
        await ctx.all([ctx.sleep(700), step(ctx, as, `beside-${i}`), ctx.sleep(1400)]);
      }
      return ctx.now() > begun;
    }),
    tool("unheard", async ({ as }, ctx) => {
      void step(ctx, as, "unheard", "again", "any");
      await step(ctx, as, "heard");
      void ctx.host("quote", { as: `${as}-unheard`, i: 0 });
      await ctx.sleep(40);
      return "ended";
    }),
    tool("guards", async ({ as }, ctx) => {
      outside.hand(as, ctx.token(as), ctx);
      const answer = ctx.waitFor(as);
      const once = step(ctx, as, "guarded", "once").then(
        () => "done",
        (thrown: unknown) => (isUnknown(thrown) ? "done" : Promise.reject(thrown as Error)),
      );
      return [await answer, await once, await step(ctx, as, "passed")];
    }),
    tool("agent", async ({ as, n = 3 }, ctx) => {
      const said: string[] = [];
      for (let i = 0; i < n; i++) {
        await step(ctx, as, `model-${i}`);
        const calls = [
          { label: `${i}a`, tool: "pays", args: { as: `${as}-${i}a` } },
          { label: `${i}b`, tool: "steps", args: { as: `${as}-${i}b`, n: 2 } },
        ];
        for (const { label, output } of await ctx.callAll(calls)) said.push(`${label} ${output.outcome.status}`);
      }
      return said;
    }),
    tool("consults", async ({ as }, ctx) => [await ctx.host("person", { as, i: 0 }), await step(ctx, as, "consulted")]),
    tool("cleans", async ({ as }, ctx) => {
      ctx.onCancel(() => step(ctx, as, "cleaned", "again", "any"));
      await step(ctx, as, "begun", "again", "any");
      await ctx.sleep(3_600_000);
    }),
    tool("large", async ({ as, n = 2 }, ctx) => {
      let length = 0;
      for (let i = 0; i < n; i++) {
        const text = await ctx.run(
          `large-${i}`,
          async ({ key }) => {
            await outside.effect(`${as}/large-${i}`, { key, claim: "once" });
            return `${as} ${i} `.repeat(400);
          },
          { input: { as } },
        );
        length += text.length;
      }
      return length > 0;
    }),
  ];

  const guarded = [
    tool("pays", ({ as }, ctx) => step(ctx, as, "paid", "idempotent"), { needsApproval: true }),
    tool("prepared", ({ as }, ctx) => step(ctx, as, `prepared ${JSON.stringify(ctx.payload)}`), {
      inputSchema: { type: "object", properties: { as: { type: "string" } }, required: ["as"] },
      prepare: (args) => ({ for: (args as Args).as.length > 0 }),
      concurrency: "serial",
    }),
    tool("connects", ({ as }, ctx) =>
      outside.isConnected(as) ? step(ctx, as, "listed") : connectionRequired("github"),
    ),
    tool("outside", async ({ as, ms }, ctx) => {
      await step(ctx, as, "ordered");
      outside.hand(as, ctx.completionKey(), ctx);
      return pending({ on_cancel: "ignore", ...(ms === undefined ? {} : { deadline_ms: ms }) });
    }),
    tool(
      "bound",
      async ({ as }) => {
        await outside.effect(`${as}/bound`, { claim: "at_most_once" });
        return "bound";
      },
      { durable: false },
    ),
    tool(
      "again",
      async ({ as }, ctx) => {
        await outside.effect(`${as}/again`, { key: ctx.replayKey, claim: "once" });
        return "again";
      },
      { durable: false, idempotent: true },
    ),
    tool("client", () => "an executor runs it", { clientSide: true, idempotent: true }),
    tool("asks", async ({ as, n = 2 }, ctx) => {
      const said: unknown[] = [];
      for (let i = 0; i < n; i++) said.push(await ctx.host("quote", { as, i }));
      const { occurrenceId: occurrence_id } = await ctx.triggers.emit({
        sourceType: "test",
        sourceKey: as,
        payload: null,
        idempotencyKey: "one",
      });
      return [said, occurrence_id, await step(ctx, as, "asked")];
    }),
  ];

  return [...plain, ...guarded, ...longToolsOf(outside)];
};
