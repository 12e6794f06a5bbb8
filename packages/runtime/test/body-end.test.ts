/** A body ends when what it began outside has ended. Under protocol 1 it leaves that behind. */
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, ToolError, defineTool } from "../src/index.ts";
import { type Process, type Start, World } from "./world.ts";

const calls = [{ label: "c1", tool: "tool", args: {} }];
const busy = done(failureOutput(safeRetryFailure("external", "busy", "busy")));

type Execute = (args: unknown, ctx: ToolContext) => unknown;

const toolOf = (execute: Execute, attempts = 1) =>
  defineTool({
    name: "tool",
    durable: true,
    retry: { attempts: attempts, firstDelayMs: 0, maxDelayMs: 0 },
    execute: async (args, ctx) => execute(args, ctx),
  });

/** Returns what a process wrote to its log since it began. */
const logOf = async (process: Process): Promise<readonly string[]> => {
  const session = await process.runtime.session("s");
  const types: string[] = [];
  const { seq } = session.state;
  for await (const { event } of session.follow(0, new AbortController().signal)) {
    const of = event as { readonly key?: string; readonly left?: readonly string[] };
    types.push([event.type, of.key?.replace("durable-step:", ""), of.left?.join()].filter(Boolean).join(" "));
    if (types.length === seq) return types;
  }
  return types;
};
const ofBody = (log: readonly string[]): readonly string[] =>
  log.filter((line) => /^(?:step|call|effect|host)\./.test(line));

const begin = async (
  execute: Execute,
  { protocol = 2, attempts = 1, ...how }: Start & { protocol?: number; attempts?: number } = {},
) => {
  const world = new World(protocol);
  const tool = toolOf(execute, attempts);
  const process = world.start([tool], how);
  const session = await process.runtime.session("s");
  const told: { outcome?: unknown } = {};
  void session.request("r", calls).then(
    ([reply]) => (told.outcome = reply?.output.outcome),
    () => undefined,
  );
  await world.quiet();
  return { world, tool, process, session, told, log: async () => ofBody(await logOf(process)) };
};

/** Work that ends with its signal. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Work that ends when it is told to. */
const gate = () => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, open: () => resolve("done"), fail: (why: string) => reject(new Error(why)) };
};

const forgets: Execute = (_, ctx) => {
  void ctx.run("mail", () => "sent");
  return "returned";
};

const chain = async (ctx: ToolContext): Promise<void> => {
  const first = await ctx.run("first", () => 1);
  await ctx.run("second", () => 2, { input: { first } });
};

describe("a step that nobody awaits", () => {
  it("is asked for and never runs under protocol 1, and nothing says so", async () => {
    let runs = 0;
    const { told, log } = await begin(
      (_, ctx) => {
        void ctx.run("mail", () => (runs += 1));
        return "returned";
      },
      { protocol: 1 },
    );
    expect([runs, told.outcome]).toEqual([0, { status: "success", payload: "returned" }]);
    expect(await log()).toEqual(["effect.requested mail", "call.settled"]);
  });

  it("runs to its end on record, and then the call ends", async () => {
    const { told, log } = await begin(forgets);
    expect(told.outcome).toEqual({ status: "success", payload: "returned" });
    expect(await log()).toEqual(["effect.requested mail", "step.settled mail", "call.settled"]);
  });

  it("is waited for, also where the body throws", async () => {
    const { work, open } = gate();
    const { world, told, log } = await begin((_, ctx) => {
      void ctx.run("mail", work);
      throw new ToolError("no");
    });
    expect(told.outcome).toBeUndefined();
    open();
    await world.quiet();
    expect(told.outcome).toMatchObject({ status: "failure", payload: { message: "no" } });
    expect(await log()).toEqual(["effect.requested mail", "step.settled mail", "call.settled"]);
  });

  it("may ask for more: what follows from its answer is waited for as well", async () => {
    const { log } = await begin((_, ctx) => (void chain(ctx), "returned"));
    const steps = ["effect.requested first", "step.settled first", "effect.requested second", "step.settled second"];
    expect(await log()).toEqual([...steps, "call.settled"]);
  });

  it("is waited for by the next life: `continueAs` begins it afterwards", async () => {
    const { work, open } = gate();
    const { world, log, told } = await begin((args, ctx) => {
      if ((args as { readonly round?: number }).round === 2) return "second";
      void ctx.run("mail", work);
      return ctx.continueAs({ round: 2 });
    });
    expect(await log()).toEqual(["effect.requested mail"]);
    open();
    await world.quiet();
    expect(told.outcome).toEqual({ status: "success", payload: "second" });
    const ends = ["step.settled mail", "call.continued", "call.resumed", "call.settled"];
    expect(await log()).toEqual(["effect.requested mail", ...ends]);
  });

  it("runs again with its body after a crash, though the body had returned", async () => {
    const { work } = gate();
    let runs = 0;
    const { world, process, tool } = await begin((_, ctx) => {
      void ctx.run("mail", () => ((runs += 1) === 1 ? work() : "sent"));
      return "returned";
    });
    process.kill();
    const other = world.start([tool]);
    const session = await other.runtime.session("s");
    const [reply] = await session.request("r", calls);
    expect(reply?.output.outcome).toEqual({ status: "success", payload: "returned" });
    expect(ofBody(await logOf(other))).toEqual([
      "effect.requested mail",
      "call.resumed",
      "step.settled mail",
      "call.settled",
    ]);
  });
});

describe("a sibling of a step that failed", () => {
  const runs: number[] = [];
  const races =
    (work: () => Promise<string>): Execute =>
    async (_, ctx) => {
      const slow = ctx.run("slow", () => (runs.push(ctx.attempt), work()));
      const fails = ctx.run("fails", () => {
        throw new Error("no");
      });
      await Promise.all([slow, fails]).catch(() => undefined);
      return ctx.attempt === 1 ? busy : slow;
    };

  it("runs on beside its second run in the next attempt under protocol 1", async () => {
    runs.length = 0;
    const { work } = gate();
    await begin(races(work), { protocol: 1, attempts: 2 });
    expect(runs).toEqual([1, 2]);
  });

  it("ends first, and the next attempt reuses what it came to", async () => {
    runs.length = 0;
    const { work, open } = gate();
    const { world, told } = await begin(races(work), { attempts: 2 });
    expect(runs).toEqual([1]);
    open();
    await world.quiet();
    expect([runs, told.outcome]).toEqual([[1], { status: "success", payload: "done" }]);
  });
});

describe("the end of a body", () => {
  it("waits for the host's answer", async () => {
    const { work, open } = gate();
    const request: HostPort["request"] = work;
    const { world, log, told } = await begin((_, ctx) => (void ctx.host("note", {}), "returned"), {
      host: { request },
    });
    expect(told.outcome).toBeUndefined();
    open();
    await world.quiet();
    expect(told.outcome).toEqual({ status: "success", payload: "returned" });
    expect(await log()).toEqual(["effect.requested host:note", "host.answered host:note", "call.settled"]);
  });

  it("waits for a batch that is at work, and calls off one that waits for a person", async () => {
    const { work, open } = gate();
    const child = defineTool({ name: "child", execute: work });
    const asks = defineTool({ name: "asks", needsApproval: true, execute: () => "never" });
    const world = new World(2);
    const tool = toolOf((_, ctx) => {
      void ctx.callAll([
        { label: "x", tool: "child", args: {} },
        { label: "y", tool: "asks", args: {} },
      ]);
      return "returned";
    });
    const session = await world.start([tool, child, asks]).runtime.session("s");
    let outcome: unknown;
    void session.request("r", calls).then(([reply]) => (outcome = reply?.output.outcome));
    await world.quiet();
    expect([outcome, session.state.calls.size]).toEqual([undefined, 3]);
    open();
    await world.quiet();
    expect([outcome, session.state.calls.size]).toEqual([{ status: "success", payload: "returned" }, 0]);
  });

  it.each([
    ["a sleep", (ctx: ToolContext) => void ctx.sleep(60_000)],
    ["a wait", (ctx: ToolContext) => void ctx.waitFor("paid")],
    ["a clean-up", (ctx: ToolContext) => ctx.onCancel(() => undefined)],
    [
      "a loser of a race",
      (ctx: ToolContext) => {
        const never = ctx.run("never", () => new Promise(() => undefined));
        return ctx.race([never, ctx.run("first", () => 1)]);
      },
    ],
  ])("does not wait for %s", async (_what, ask) => {
    const { told } = await begin(async (_, ctx) => (await ask(ctx), "returned"));
    expect(told.outcome).toEqual({ status: "success", payload: "returned" });
  });

  it("waits for its grace only where the call is cancelled", async () => {
    const { work } = gate();
    const { world, session, told, log } = await begin((_, ctx) => (void ctx.run("mail", work), "returned"));
    await session.cancel({ request: "r" });
    await world.quiet();
    expect(told.outcome).toBeUndefined();
    world.platform.advance(50);
    await world.quiet();
    expect(told.outcome).toMatchObject({ status: "cancelled" });
    expect(await log()).toEqual(["effect.requested mail"]);
  });

  it("runs the clean-ups of a cancel that comes while it waits", async () => {
    const cleaned: string[] = [];
    const { world, session, told } = await begin((_, ctx) => {
      ctx.onCancel(() => ctx.run("undo", () => cleaned.push("undone")));
      void ctx.run("mail", ({ signal }) => untilAborted(signal));
      return "returned";
    });
    await session.cancel({ request: "r" });
    await world.quiet();
    expect([cleaned, told.outcome]).toEqual([["undone"], { status: "success", payload: "returned" }]);
  });

  it("gives its effects so long, then aborts their signals, and names what it leaves", async () => {
    const aborted: unknown[] = [];
    const hangs = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
      signal.addEventListener("abort", () => aborted.push(signal.reason));
      return new Promise<never>(() => undefined);
    };
    const entries: unknown[] = [];
    const { world, told, log } = await begin(
      (_, ctx) => {
        void ctx.run("mail", hangs);
        void ctx.run("note", () => "noted");
        return "returned";
      },
      { options: { effectsMs: 5000 }, log: (entry) => void (entry.level === "warn" && entries.push(entry)) },
    );
    world.platform.advance(4999);
    await world.quiet();
    expect([told.outcome, aborted]).toEqual([undefined, []]);
    world.platform.advance(1);
    await world.quiet();
    expect(told.outcome).toEqual({ status: "success", payload: "returned" });
    expect(aborted).toMatchObject([{ code: "call_ended" }]);
    expect((await log()).at(-1)).toBe("call.settled durable-step:mail");
    expect(entries).toMatchObject([
      { name: "call.effects_left", fields: { call: "r:c1", left: "durable-step:mail", scope: "session:s" } },
    ]);
  });

  it("is not suspended away from a body that has ended", async () => {
    const { work, open } = gate();
    const { world, told, log } = await begin((_, ctx) => (void ctx.run("mail", work), "returned"));
    world.platform.advance(10_000);
    await world.quiet();
    open();
    await world.quiet();
    expect(told.outcome).toEqual({ status: "success", payload: "returned" });
    expect(await log()).toEqual(["effect.requested mail", "step.settled mail", "call.settled"]);
  });
});

const warnings = async (execute: Execute): Promise<unknown> => {
  const entries: unknown[] = [];
  await begin(execute, { log: ({ name, fields }) => void (name === "effect.unheard" && entries.push(fields)) });
  return entries;
};

const fails = (ctx: ToolContext, id = "mail") =>
  ctx.run(id, () => {
    throw new Error("no post");
  });

describe("a failure that nobody heard", () => {
  it("is a warning with its name", async () => {
    expect(await warnings((_, ctx) => (void fails(ctx), "returned"))).toEqual([
      {
        scope: "session:s",
        call: "r:c1",
        tool: "tool",
        effect: "durable-step:mail",
        code: "durable_step_failed",
        message: "no post",
      },
    ]);
  });

  it("is one as well where it failed before the body ended, and where the step was refused", async () => {
    const found = await warnings(async (_, ctx) => {
      void fails(ctx);
      await ctx.run("other", () => 1);
      void ctx.run("other", () => 2);
      return "returned";
    });
    expect(found).toMatchObject([
      { effect: "durable-step:mail" },
      { effect: "durable-step:other", code: "durable_effect_duplicate_step_id" },
    ]);
  });

  it.each([
    ["awaited", (ctx: ToolContext) => fails(ctx).catch(() => undefined)],
    [
      "awaited in a `try`",
      async (ctx: ToolContext) => {
        try {
          await fails(ctx);
        } catch {
          return "caught";
        }
        return "not";
      },
    ],
    ["one of several", (ctx: ToolContext) => Promise.allSettled([fails(ctx), fails(ctx, "b")])],
    ["chosen from", (ctx: ToolContext) => ctx.any([fails(ctx), ctx.run("b", () => 1)])],
    ["handled while nobody waits", (ctx: ToolContext) => void fails(ctx).catch(() => undefined)],
  ])("is none where the step was %s", async (_how, ask) => {
    expect(await warnings(async (_, ctx) => (await ask(ctx), "returned"))).toEqual([]);
  });
});
