/** Steps that are tried again, and that have a time of their own. */
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import { type Start, World } from "./world.ts";

const calls = [{ label: "c1", tool: "tool", args: {} }];
type Run = ToolContext["run"];
type Options = NonNullable<Parameters<Run>[2]>;
type Info = Parameters<Parameters<Run>[1]>[0];

const never = (): Promise<never> => new Promise(() => undefined);
/** Work that ends with its signal. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const codeOf = ({ code, message }: { readonly code?: string; readonly message?: string }) => code ?? message;

/** A call of a tool that has one step with these options; the body says what it came to, or the code of its error. */
const begin = async (
  work: (info: Info) => unknown,
  options: Options,
  how: Start & { readonly protocol?: number } = {},
) => {
  const { protocol = 2, ...start } = how;
  const world = new World(protocol);
  const tool = defineTool({
    name: "tool",
    durable: true,
    execute: (_, ctx) => ctx.run("step", (info) => work(info), options).catch(codeOf),
  });
  const told: { payload?: unknown } = {};
  const call = async (): Promise<void> => {
    const session = await world.start([tool], start).runtime.session("s");
    void session.request("r", calls).then(
      ([reply]) => (told.payload = reply?.output.outcome.payload),
      () => undefined,
    );
    await world.quiet();
  };
  const pass = async (ms: number): Promise<void> => {
    world.platform.advance(ms);
    await world.quiet();
  };
  await call();
  return { world, told, pass, call };
};

const flaky = (failures: number) => {
  const tries: (readonly [number, string])[] = [];
  const work = ({ attempt: number, key }: Info): string => {
    tries.push([number, key]);
    if (tries.length <= failures) throw new Error("busy");
    return "done";
  };
  return { tries, work };
};

describe("a step with `retry`", () => {
  const retry = { attempts: 3, firstDelayMs: 100, maxDelayMs: 150 };
  it("is tried again after its delays, under one key, until it succeeds", async () => {
    const { tries, work } = flaky(2);
    const { told, pass } = await begin(work, { retry });
    expect(tries).toHaveLength(1);
    await pass(99);
    expect(tries).toHaveLength(1);
    await pass(1);
    expect(tries).toHaveLength(2);
    await pass(149);
    expect(tries).toHaveLength(2);
    await pass(1);
    expect(tries.map(([number]) => number)).toEqual([1, 2, 3]);
    expect([new Set(tries.map(([, key]) => key)).size, told.payload]).toEqual([1, "done"]);
  });

  it("fails with the error of its last try", async () => {
    const { tries, work } = flaky(9);
    const { told, pass } = await begin(work, { retry });
    await pass(100);
    await pass(150);
    expect([tries.length, told.payload]).toEqual([3, "busy"]);
  });

  it("is tried at once where it has no delay, and doubles the first one otherwise", async () => {
    const { tries, work } = flaky(2);
    expect((await begin(work, { retry: { attempts: 3, firstDelayMs: 0 } })).told.payload).toBe("done");
    expect(tries).toHaveLength(3);
    const other = flaky(2);
    const { told, pass } = await begin(other.work, { retry: { attempts: 3 } });
    await pass(100);
    expect(other.tries).toHaveLength(2);
    await pass(199);
    expect(other.tries).toHaveLength(2);
    await pass(1);
    expect(told.payload).toBe("done");
  });

  it("waits for the rest of its delay after a crash, and repeats no try that failed", async () => {
    const { tries, work } = flaky(1);
    const { world, told, pass, call } = await begin(work, { retry: { attempts: 2, firstDelayMs: 1000 } });
    await pass(400);
    await call();
    await pass(599);
    expect(tries).toHaveLength(1);
    await pass(1);
    expect([tries.map(([number]) => number), told.payload, world.processes]).toEqual([[1, 2], "done", 2]);
  });

  it("repeats the try that a crash interrupted", async () => {
    const tries: number[] = [];
    const work = ({ attempt: number }: Info): unknown => {
      tries.push(number);
      if (number === 1) throw new Error("busy");
      return tries.length === 2 ? never() : "done";
    };
    const { told, call } = await begin(work, { retry: { attempts: 2, firstDelayMs: 0 } });
    expect(tries).toEqual([1, 2]);
    await call();
    expect([tries, told.payload]).toEqual([[1, 2, 2], "done"]);
  });

  it("lets its body leave memory while it waits, and wakes it", async () => {
    const { tries, work } = flaky(1);
    const { told, pass } = await begin(work, { retry: { attempts: 2, firstDelayMs: 60_000 } });
    await pass(10_000);
    await pass(49_999);
    expect(tries).toHaveLength(1);
    await pass(1);
    expect([tries.length, told.payload]).toEqual([2, "done"]);
  });

  it("is not tried again once its call is cancelled", async () => {
    const world = new World(2);
    let tries = 0;
    const tool = defineTool({
      name: "tool",
      durable: true,
      execute: (_, ctx) =>
        ctx.run("step", ({ signal }) => ((tries += 1), untilAborted(signal)), {
          retry: { attempts: 5, firstDelayMs: 0 },
        }),
    });
    const session = await world.start([tool]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    await session.cancel({ request: "r" });
    expect((await replies)[0]?.output.outcome).toMatchObject({ status: "cancelled" });
    expect(tries).toBe(1);
  });

  it("has a policy that may change while it waits: only its input is compared", async () => {
    const { work, tries } = flaky(1);
    const world = new World(2);
    const toolWith = (options: Options) =>
      defineTool({
        name: "tool",
        durable: true,
        onDivergence: "fail",
        execute: (_, ctx) => ctx.run("step", (info) => work(info), options),
      });
    const one = world.start([toolWith({ retry: { attempts: 2, firstDelayMs: 1000 } })]);
    void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    one.kill();
    const session = await world.start([toolWith({})]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    world.platform.advance(1000);
    expect((await replies)[0]?.output.outcome).toEqual({ status: "success", payload: "done" });
    expect(tries.map(([number]) => number)).toEqual([1, 2]);
  });
});

describe("a step with `timeoutMs`", () => {
  it("has failed when its time is over, and its signal is aborted", async () => {
    const reasons: unknown[] = [];
    const work = ({ signal }: Info): Promise<never> => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return never();
    };
    const { told, pass } = await begin(work, { timeoutMs: 1000 });
    await pass(999);
    expect([told.payload, reasons]).toEqual([undefined, []]);
    await pass(1);
    expect([told.payload, reasons]).toMatchObject(["step_timed_out", [{ code: "step_timed_out" }]]);
  });

  it("is tried again with all its time, where it has tries left", async () => {
    const tries: number[] = [];
    const work = ({ attempt: number }: Info): unknown => (tries.push(number), number === 1 ? never() : "done");
    const { told, pass } = await begin(work, { timeoutMs: 1000, retry: { attempts: 2, firstDelayMs: 0 } });
    await pass(1000);
    expect([tries, told.payload]).toEqual([[1, 2], "done"]);
  });

  it("is settled by the late success of a try whose time was over, and stops the try that runs by then", async () => {
    const first = Promise.withResolvers<string>();
    const stopped: unknown[] = [];
    const work = ({ attempt: number, signal }: Info): unknown => {
      if (number === 1) return first.promise;
      signal.addEventListener("abort", () => stopped.push(number));
      return never();
    };
    const { world, told, pass } = await begin(work, { timeoutMs: 1000, retry: { attempts: 2, firstDelayMs: 0 } });
    await pass(1000);
    first.resolve("late");
    await world.quiet();
    expect([told.payload, stopped]).toEqual(["late", [2]]);
  });

  it("drops the late failure of a try whose time was over", async () => {
    const first = Promise.withResolvers<string>();
    const second = Promise.withResolvers<string>();
    const work = ({ attempt: number }: Info): unknown => (number === 1 ? first.promise : second.promise);
    const { world, told, pass } = await begin(work, { timeoutMs: 1000, retry: { attempts: 2, firstDelayMs: 0 } });
    await pass(1000);
    first.reject(new Error("late"));
    await world.quiet();
    expect(told.payload).toBeUndefined();
    second.resolve("second");
    await world.quiet();
    expect(told.payload).toBe("second");
  });

  it("has an unknown outcome where it may run only once", async () => {
    const { told, pass } = await begin(never, { recovery: "once", timeoutMs: 1000 });
    await pass(1000);
    expect(told.payload).toBe("step_outcome_unknown");
  });

  it("leaves no clock behind when it ends in time", async () => {
    const { world, told } = await begin(async () => "done", { timeoutMs: 1000, retry: { attempts: 3 } });
    expect(told.payload).toBe("done");
    const timers = world.platform.timers;
    world.platform.advance(1000);
    expect(timers - world.platform.timers).toBeLessThanOrEqual(timers);
    expect(told.payload).toBe("done");
  });
});

describe("options of a step", () => {
  it.each<readonly [string, Options]>([
    ["`retry` with `once`", { recovery: "once", retry: { attempts: 1 } }],
    ["no attempt", { retry: { attempts: 0 } }],
    ["a part of an attempt", { retry: { attempts: 1.5 } }],
    ["a negative delay", { retry: { attempts: 2, firstDelayMs: -1 } }],
    ["an endless delay", { retry: { attempts: 2, maxDelayMs: Infinity } }],
    ["no time", { timeoutMs: 0 }],
  ])("are refused where they are %s, and the step does not run", async (_what, options) => {
    let runs = 0;
    const { told } = await begin(() => (runs += 1), options);
    expect([told.payload, runs]).toEqual(["durable_effect_step_options", 0]);
  });

  it.each<Options>([{ retry: { attempts: 2 } }, { timeoutMs: 5 }])(
    "are refused under protocol 1: %j",
    async (options) => {
      let runs = 0;
      const { told } = await begin(() => (runs += 1), options, { protocol: 1 });
      expect([told.payload, runs]).toEqual(["needs_protocol_2", 0]);
    },
  );
});
