/** Processes that die again and again: what their host says, when a call runs again, and who is counted. */
import { describe, expect, it } from "vitest";
import * as E from "fp-ts/lib/Either.js";
import { type Frame, type Observation, type RuntimeOptions, type ToolDefinition, defineTool } from "../src/index.ts";
import { FrameCodec, openState } from "../src/driver.ts";
import { type Process, type Start, World } from "./world.ts";

const never = new Promise<never>(() => undefined);

/** A tool of one step that takes until its process dies, and as long as `isOver` says. */
const stuck = (isOver: () => boolean = () => false, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  defineTool({
    name: "trip",
    durable: true,
    execute: (_, ctx) => ctx.run("hotel", () => (isOver() ? "booked" : never)),
    ...more,
  });

const causeOf = (observation: Observation): string | undefined =>
  "cause" in observation ? observation.cause : undefined;

class Loop {
  readonly world = new World();
  readonly entries: Parameters<NonNullable<RuntimeOptions["log"]>>[0][] = [];
  readonly #tools: readonly ToolDefinition[];
  how: Start;
  process: Process;

  constructor(tools: readonly ToolDefinition[], how: Start = {}) {
    this.#tools = tools;
    this.how = how;
    this.process = this.#start();
  }

  #start(): Process {
    return this.world.start(this.#tools, { log: (entry) => void this.entries.push(entry), ...this.how });
  }

  async call(request: string, tool = "trip", session = "s"): Promise<void> {
    const open = await this.process.runtime.session(session);
    void open.request(request, [{ label: "c", tool, args: {} }]).catch(() => undefined);
    await this.world.quiet();
  }

  /** The process dies, or is closed in order; another one takes up what it left. */
  async next(how: "killed" | "closed" = "killed"): Promise<void> {
    if (how === "killed") this.process.kill();
    else await this.process.runtime.close();
    this.process = this.#start();
    await this.process.runtime.recover();
    await this.world.quiet();
  }

  /** As it is on record. */
  async row(request: string, session = "s") {
    const { state } = await openState(this.world.journal, `session:${session}`, {}, () => undefined);
    return state.calls.at(`${request}:c`);
  }

  async count(request: string, session = "s"): Promise<number> {
    const row = await this.row(request, session);
    return row !== undefined && "body" in row ? (row.body?.resumes ?? -1) : -1;
  }

  /** Returns what the host's log says of crashes, since it was asked last. */
  get warnings(): readonly unknown[] {
    const warnings = this.entries.filter(({ name }) => name === "call.crashed");
    this.entries.length = 0;
    return warnings.map(({ level, fields: { message } }) => `${level}: ${String(message)}`);
  }
}

describe("a call whose process dies in its first step", () => {
  it("goes on each time, after a pause that the host's log says", async () => {
    let isOver = false;
    const loop = new Loop([stuck(() => isOver)]);
    await loop.call("r");
    await loop.next();
    expect(loop.warnings).toEqual([]); // The step was asked for since the body had started.
    const at = "last in step `hotel`";
    const said = [
      `resumes at once: 1 crash, ${at}`,
      `resumes at once: 2 crashes in a row, ${at}`,
      `resumes in 1 s: 3 crashes in a row, ${at}`,
      `resumes in 2 s: 4 crashes in a row, ${at}`,
      `resumes in 5 s: 5 crashes in a row, ${at}`,
      `resumes in 10 s: 6 crashes in a row, ${at}`,
      `resumes in 10 s: 7 crashes in a row, ${at}`,
    ];
    const pauses = [0, 0, 1000, 2000, 5000, 10_000, 10_000];
    for (const [n, ms] of pauses.entries()) {
      await loop.next();
      expect(loop.warnings).toEqual([`warn: ${said[n]}`]);
      if (ms > 0) {
        expect((await loop.row("r"))?.phase).toBe("resuming");
        loop.world.platform.advance(ms - 1);
        await loop.world.quiet();
        expect((await loop.row("r"))?.phase).toBe("resuming");
        if (n === pauses.length - 1) isOver = true;
        loop.world.platform.advance(1);
        await loop.world.quiet();
      }
      if (!isOver) expect((await loop.row("r"))?.phase).toBe("running");
    }
    const [reply] = await (await loop.process.runtime.session("s")).replies("r");
    expect(reply?.output.outcome).toMatchObject({ status: "success", payload: "booked" });
  });

  it("is counted by no close of its host, however often", async () => {
    const loop = new Loop([stuck()]);
    await loop.call("r");
    for (let n = 0; n < 12; n++) await loop.next("closed");
    expect([await loop.count("r"), (await loop.row("r"))?.phase, loop.warnings]).toEqual([0, "running", []]);
    await loop.next();
    expect(await loop.count("r")).toBe(1);
  });

  it("is counted where its host could not write its end", async () => {
    let isDown = false;
    const loop = new Loop([stuck()]);
    await loop.call("r");
    const { appendAll } = loop.world.journal;
    const failed = { type: "failed", message: "the disk is away" } as const;
    loop.how = { faulty: { appendAll: async (of) => (isDown ? of.map(() => failed) : appendAll(of)) } };
    await loop.next();
    isDown = true;
    const session = await loop.process.runtime.session("s");
    await expect(session.report({ type: "clock.ticked" })).rejects.toMatchObject({ code: "scope_lost" });
    isDown = false;
    await loop.next("closed");
    expect(await loop.count("r")).toBe(1);
  });

  it("is parked at its host's limit, and stays so: no later host runs it", async () => {
    let runs = 0;
    const tool = stuck(() => (runs += 1) < 0);
    const loop = new Loop([tool], { options: { maxCrashes: 3, crashPausesMs: [] } });
    await loop.call("r");
    for (let n = 0; n < 4; n++) await loop.next();
    expect(loop.warnings.at(-1)).toBe("warn: is parked: 3 crashes in a row, last in step `hotel`");
    expect(await loop.row("r")).toMatchObject({ phase: "unknown", cause: "crash_loop" });
    const before = runs;
    for (let n = 0; n < 3; n++) await loop.next();
    loop.world.platform.advance(1_000_000);
    await loop.world.quiet();
    expect([runs, (await loop.row("r"))?.phase]).toEqual([before, "unknown"]);
    const session = await loop.process.runtime.session("s");
    await session.report({ type: "outcome.resolved", call: "r:c", resolved: { type: "give_up" }, by: "ann" });
    const [reply] = await session.replies("r");
    expect(reply).toMatchObject({
      cause: "crash_loop",
      output: { outcome: { payload: { code: "tool_outcome_unknown" } } },
    });
  });

  it("fails at the limit where its tool says so", async () => {
    const loop = new Loop([stuck(undefined, { onCrashLoop: "fail" })], { options: { maxCrashes: 2 } });
    await loop.call("r");
    for (let n = 0; n < 3; n++) await loop.next();
    const session = await loop.process.runtime.session("s");
    const [reply] = await session.replies("r");
    expect(reply).toMatchObject({ cause: "crash_loop", output: { outcome: { status: "failure" } } });
    const done = loop.entries.find(({ name }) => name === "call.completed");
    expect(done?.fields).toMatchObject({ code: "tool_outcome_unknown", cause: "crash_loop" });
    const subscription = session.observe({ from: { scope: "session:s", seq: 0, index: 0 } });
    const seen: Frame[] = [];
    while (seen.length < 2) seen.push((await subscription.next()).value as Frame);
    const read = seen.map((frame) => FrameCodec.decode(FrameCodec.encode(frame)));
    expect(read).toEqual(seen.map((frame) => E.right(frame)));
    const causes = seen.map(
      (frame) => frame.type === "observed" && [frame.observation.type, causeOf(frame.observation)],
    );
    expect(causes).toEqual([
      ["call_started", undefined],
      ["call_completed", "crash_loop"],
    ]);
  });
});

describe("a resolver that says of every loss that the call is to run again", () => {
  it("is heeded after a pause that grows: there is no loop without one", async () => {
    let asked = 0;
    const loop = new Loop([stuck(undefined, { durable: false, recovery: "owner_bound", execute: () => never })], {
      host: {
        resolveOutcome: async () => {
          asked += 1;
          return { type: "run_again" };
        },
      },
    });
    await loop.call("r");
    for (let n = 0; n < 3; n++) await loop.next();
    expect(asked).toBe(3);
    expect(loop.warnings).toEqual([
      "warn: resumes at once: 1 crash",
      "warn: resumes at once: 2 crashes in a row",
      "warn: resumes in 1 s: 3 crashes in a row",
    ]);
  });
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("calls that crash again and again", () => {
  it("start one at a time from the third crash on: those that are not to blame are not counted with the one that is", async () => {
    const poison = stuck(undefined, {
      name: "poison",
      execute: (_, ctx) =>
        ctx.run("bomb", async () => {
          await turn();
          loop.process.kill();
          return never;
        }),
    });
    /** Takes longer for a record than the poison for its work. */
    const honest = stuck(undefined, {
      name: "honest",
      execute: (_, ctx) =>
        ctx.run("work", async () => {
          for (let n = 0; n < 20; n++) await turn();
          return "done";
        }),
    });
    const loop: Loop = new Loop([poison, honest], { options: { crashPausesMs: [0, 0, 10] } });
    const names = ["a", "b", "c", "d"];
    const begun = [...names.map((name) => [name, "honest"] as const), ["p", "poison"] as const];
    const sessions = await Promise.all(begun.map(([name]) => loop.process.runtime.session(name)));
    for (const [i, [, tool]] of begun.entries())
      void sessions[i]?.request("r", [{ label: "c", tool, args: {} }]).catch(() => undefined);
    await loop.world.quiet();
    const counts: number[][] = [];
    const isOver = async (): Promise<boolean> => {
      counts.push(await Promise.all(begun.map(([name]) => loop.count("r", name))));
      return (
        counts
          .at(-1)
          ?.slice(0, names.length)
          .every((count) => count === -1) === true
      );
    };
    for (let life = 0; life < 12 && !(await isOver()); life++) {
      await loop.next();
      for (let n = 0; n < 4; n++) {
        loop.world.platform.advance(5);
        await loop.world.quiet(150);
      }
    }
    expect(await isOver()).toBe(true);
    const most = Math.max(...counts.flatMap((count) => count.slice(0, names.length)));
    expect(most).toBeLessThanOrEqual(3);
    expect(await loop.count("r", "p")).toBeGreaterThanOrEqual(3);
  });

  it("start in their turn also where an answer came while they waited for it", async () => {
    const tokens: string[] = [];
    const asks = stuck(undefined, {
      name: "asks",
      execute: async (_, ctx) => {
        tokens.push(ctx.token("go"));
        return ctx.waitFor("go");
      },
    });
    const loop = new Loop([stuck(), asks], { options: { crashPausesMs: [0, 0, 0, 500] } });
    await loop.call("hangs");
    await loop.call("waits", "asks");
    for (let life = 0; life < 4; life++) await loop.next();
    expect([await loop.count("hangs"), await loop.count("waits")]).toEqual([3, 3]);
    const phases = async (): Promise<readonly unknown[]> => [
      (await loop.row("hangs"))?.phase,
      (await loop.row("waits"))?.phase,
    ];
    expect(await phases()).toEqual(["running", "resuming"]);
    const session = await loop.process.runtime.session("s");
    await session.resolve(tokens[0] ?? "", { status: "ok", payload: "went" });
    loop.world.platform.advance(500);
    await loop.world.quiet();
    expect((await loop.row("waits"))?.phase).toBeUndefined();
  });
});
