/** Bodies under unit test, by scripted answers. */
import { type ToolContext, ToolFailed, isError } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { Continued, testContext } from "../src/index.ts";

const refund = async (cents: number, ctx: ToolContext): Promise<string> => {
  const order = await ctx.run("look", async () => ({ at: new Date(0), cents }), { input: { cents } });
  const { approved, reason } = await ctx.approve({ title: "Refund?", args: { cents } });
  if (!approved) return reason;
  const paid = await ctx.waitFor("paid");
  const { id } = (await ctx.call("pay", { cents })) as { readonly id: string };
  await ctx.sleep(60_000);
  return `${order.at.getTime()} ${String(paid)} ${id} ${ctx.now()}`;
};

const mails = (ctx: ToolContext) => ctx.run("mail", ({ key, attempt }) => `${key} ${attempt}`);

describe("a body with scripted answers", () => {
  it("is given them, and what it asked is listed", async () => {
    const { ctx, asked } = testContext({
      approve: { "Refund?": true },
      waitFor: { paid: "yes" },
      call: { pay: (args: unknown) => ({ id: `p${(args as { readonly cents: number }).cents}` }) },
      now: 1000,
    });
    expect(await refund(5, ctx)).toBe("0 yes p5 61000");
    expect(asked).toEqual([
      { method: "run", name: "look", value: { cents: 5 } },
      { method: "approve", name: "Refund?", value: { cents: 5 } },
      { method: "waitFor", name: "paid" },
      { method: "call", name: "pay", value: { cents: 5 } },
      { method: "sleep", name: "", value: 60_000 },
    ]);
  });

  it("is refused by a person, and by a tool", async () => {
    expect(await refund(5, testContext({ approve: { "Refund?": "too much" } }).ctx)).toBe("too much");
    const script = { approve: { "Refund?": true }, waitFor: { paid: 1 }, call: { pay: new Error("no money") } };
    await expect(refund(5, testContext(script).ctx)).rejects.toBeInstanceOf(ToolFailed);
  });

  it("runs its steps, unless the script answers for them", async () => {
    expect(await mails(testContext().ctx)).toBe("test:mail 1");
    expect(await mails(testContext({ run: { mail: "sent" } }).ctx)).toBe("sent");
    class Bounced extends Error {}
    const thrown: unknown = await mails(testContext({ run: { mail: new Bounced("no") } }).ctx).catch(
      (one: unknown) => one,
    );
    expect(isError(thrown, "Bounced")).toBe(true);
  });

  it("is told what is wrong with it, and with the script", async () => {
    const output = { type: "string" } as const;
    const misfit = testContext({ run: { a: 12 } }).ctx.run("a", () => "text", { output });
    await expect(misfit).rejects.toMatchObject({ code: "invalid_step_output" });
    await expect(testContext().ctx.run("a", () => ({ send: () => 1 }))).rejects.toThrow("`.send` is a function");
    const { ctx } = testContext({ waitFor: { paid: 1 } });
    await expect(ctx.waitFor("sent")).rejects.toThrow("nothing is scripted for `sent`; the script answers `paid`");
    expect(() => ctx.processes).toThrow("testContext({ more: { processes");
    await ctx.run("a", () => 1);
    await expect(ctx.run("a", () => 1)).rejects.toMatchObject({ code: "durable_effect_duplicate_step_id" });
  });

  it("is cancelled, and begins another life", async () => {
    const { ctx, cancel, asked } = testContext();
    ctx.onCancel(() => ctx.run("undo", () => "undone"));
    const stopped = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    await cancel();
    await stopped;
    expect(asked).toEqual([{ method: "run", name: "undo" }]);
    await expect(ctx.continueAs({ round: 2 })).rejects.toMatchObject(new Continued({ round: 2 }));
  });
});
