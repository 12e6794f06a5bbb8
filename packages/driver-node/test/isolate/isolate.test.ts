/** Bodies in worker threads: what they come to, and what they cannot do to their host. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Isolated, type OpenRuntime, inWorker, openRuntime } from "../../src/index.ts";
import { until } from "../until.ts";

const module = import.meta.resolve("./bodies.ts");
const isolated = (body: string, more: Partial<Isolated> = {}): ToolDefinition =>
  defineTool({ name: body, execute: inWorker({ module, body, timeMs: 20_000, memoryMb: 64, ...more }) });

const bodies = ["doubled", "result", "refuses", "throwsForModels", "throws", "dies", "waits", "isNoBody", "none"];
const bombs = [isolated("loops", { timeMs: 1500 }), isolated("grows"), isolated("buffers")];

const errors: unknown[] = [];
let open: OpenRuntime;
beforeAll(() => {
  open = openRuntime({
    file: ":memory:",
    tools: [...bodies.map((body) => isolated(body)), ...bombs, defineTool({ name: "echo", execute: (args) => args })],
    host: { internalError: (_, thrown) => void errors.push(thrown) },
  });
});
afterAll(() => open.close());

let requests = 0;
const outcomeOf = async (tool: string, args: object = {}, name = "s"): Promise<unknown> => {
  const session = await open.runtime.session(name);
  const [reply] = await session.request(`r${(requests += 1)}`, [{ label: "c", tool, args: args as never }]);
  return reply?.output.outcome;
};

const failure = (code: string) => ({ status: "failure", payload: { class: "resource_limit", code } });

describe("a body in a worker thread", () => {
  it("gets its arguments and the facts of its call, and returns a value", async () => {
    expect(await outcomeOf("doubled", { n: 21 })).toEqual({
      status: "success",
      payload: { doubled: 42, session: "s" },
    });
    expect(await outcomeOf("result")).toEqual({ status: "success", payload: "a result" });
  });

  it("shows a model what is meant for it, and hides other errors", async () => {
    expect(JSON.stringify(await outcomeOf("refuses"))).toContain("not today");
    expect(JSON.stringify(await outcomeOf("throwsForModels"))).toContain("the file is empty");
    expect(JSON.stringify(await outcomeOf("throws"))).not.toContain("a secret of the tool");
    expect(String(errors.at(-1))).toContain("a secret of the tool");
  });

  it("may be no function, or end its thread: the call fails, and the host is told", async () => {
    for (const [tool, why] of [
      ["isNoBody", "exports no function `isNoBody`"],
      ["none", "exports no function `none`"],
      ["dies", "ended by itself, with code 7"],
    ] as const) {
      expect(await outcomeOf(tool)).toMatchObject({ status: "failure", payload: { code: "tool_internal_error" } });
      expect(String(errors.at(-1))).toContain(why);
    }
  });

  it("hears that its call is cancelled", async () => {
    const session = await open.runtime.session("s");
    const asked = session.request("cancelled", [{ label: "c", tool: "waits", args: {} }]);
    await until(() => session.state.calls.at("cancelled:c")?.phase === "running");
    await session.cancel({ call: "cancelled:c" });
    const [reply] = await asked;
    expect(["success", "cancelled"]).toContain(reply?.output.outcome.status);
  });
});

describe("a body that would stop its host", () => {
  it("is ended at its bound of time or memory, and others are served meanwhile", async () => {
    const over = new AbortController();
    let longest = 0;
    let served = 0;
    const serving = (async () => {
      while (!over.signal.aborted) {
        const { user, system } = process.threadCpuUsage();
        await outcomeOf("echo", { n: 1 }, "other");
        const after = process.threadCpuUsage();
        longest = Math.max(longest, (after.user + after.system - user - system) / 1000);
        served += 1;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    const [loops, grows, buffers] = await Promise.all(["loops", "grows", "buffers"].map((tool) => outcomeOf(tool)));
    over.abort();
    await serving;
    expect(loops).toMatchObject(failure("worker_time_limit"));
    expect(grows).toMatchObject(failure("worker_memory_limit"));
    expect(buffers).toMatchObject(failure("worker_memory_limit"));
    expect(served).toBeGreaterThan(20);
    expect(longest).toBeLessThan(250);
  });

  it("leaves no thread behind that keeps others from their turn", async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => outcomeOf("doubled", { n })));
    expect(outcomes).toEqual(
      Array.from({ length: 8 }, (_, n) => ({ status: "success", payload: { doubled: 2 * n, session: "s" } })),
    );
  });
});

describe("options of a worker's body", () => {
  it.each([
    [{ module: "./bodies.ts" }, "expected the module as a URL"],
    [{ body: "" }, "expected the name of the body's export"],
    [{ timeMs: 0 }, "expected `timeMs` from 1"],
    [{ timeMs: Number.NaN }, "expected `timeMs` from 1"],
    [{ memoryMb: 1 }, "expected `memoryMb` from 16"],
    [{ memory: 64 }, "`memory`"],
  ])("are refused as %j", (more, why) => {
    const options = { module, body: "doubled", timeMs: 1000, memoryMb: 64, ...more } as Isolated;
    expect(() => inWorker(options)).toThrow(
      expect.objectContaining({ code: "invalid_tool", message: expect.stringContaining(why) }),
    );
  });
});
