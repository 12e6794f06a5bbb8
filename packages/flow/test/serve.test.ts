/** Flows over HTTP: the bindings of a request, the frames of a stream, and a reader that leaves. */
import { type ToolContext, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { World } from "../../runtime/test/world.ts";
import * as f from "../src/index.ts";

const weather = f.flow("Weather", [
  f.use("ask", "${city} ${day} ${units}"),
  f.apply("label", "ask_result", "out"),
  f.back("$out"),
]);

type Executed = (text: string, context: ToolContext) => unknown;
const shouted: Executed = (text) => text.toUpperCase();

const open = (execute: Executed = shouted, more: Partial<f.FlowServerOptions> = {}) => {
  const world = new World();
  const served = { program: weather, parameters: ["city", "day", "units"], path: "{city}/on/{day}" };
  const host = { flow: { observe: (...event: Parameters<f.FlowServer["observe"]>) => server.observe(...event) } };
  const { runtime } = world.start([defineTool({ name: "ask", execute: execute as never })], { host });
  const server: f.FlowServer = new f.FlowServer({
    flows: { weather: served, plain: { program: f.flow("Plain", [f.bind("a", "b")]) } },
    session: () => runtime.session("s"),
    newId: () => "r1",
    maxBodyBytes: 50,
    ...more,
  });
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    server.handle(new Request(`http://host${path}`, init));
  return { world, runtime, ask };
};

/** Returns the names of a stream's frames, and the data of the last. */
const read = async (response: Response): Promise<{ readonly names: readonly string[]; readonly last: object }> => {
  const text = await response.text();
  expect(text.startsWith("retry: 5000\n\n")).toBe(true);
  const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name as string);
  return { names, last: JSON.parse([...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? "{}") as object };
};

describe("a flow over HTTP", () => {
  it("takes its bindings from path, query and body, and streams its events as they are", async () => {
    const { ask, runtime } = open();
    const response = await ask("/flows/weather/K%C3%B6ln/on/monday?units=%C2%B0C&day=never", {
      method: "POST",
      body: '{"city":"never"}',
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const { names, last } = await read(response);
    expect(names).toEqual([
      "flow_start",
      "step_start",
      "step_complete",
      "step_start",
      "step_complete",
      "flow_complete",
    ]);
    expect(last).toMatchObject({ kind: "flow_complete", flow_name: "Weather", steps_executed: 3 });
    const again = await (await runtime.session("s")).replies("r1");
    expect(again).toEqual([]);
  });

  it("streams the named events on request, numbered from 1", async () => {
    const { ask } = open();
    const text = await (await ask("/flows/plain?wire=named")).text();
    expect(text).toMatch(/^retry: 5000\n\nevent: axon\.complete\nid: 1\ndata: \{"trace_id":"r1","flow":"Plain",/);
  });

  it("adds the flow's result to the stream on request, also for a reader that comes late", async () => {
    const { ask } = open();
    const init = { headers: { "idempotency-key": "whole" } };
    const end = { kind: "flow_end", flow_name: "Weather", ending: { type: "returned", value: "lambda:label(A B M)" } };
    const text = await (await ask("/flows/weather/a/on/b?wire=whole&units=m", init)).text();
    const frames = [...text.matchAll(/^event: (.*)\nid: (.*)\ndata: (.*)$/gm)];
    expect(frames.slice(-2).map(([, event, id]) => [event, id])).toEqual([
      ["flow_complete", "6"],
      ["flow_end", "7"],
    ]);
    expect(JSON.parse(frames.at(-1)?.[3] ?? "")).toMatchObject({ ...end, steps_executed: 3 });
    const again = await read(await ask("/flows/weather/a/on/b?wire=whole&units=m", init));
    expect([again.names, again.last]).toEqual([["flow_complete", "flow_end"], JSON.parse(frames.at(-1)?.[3] ?? "")]);
    const other = await read(await ask("/flows/weather/other/on/b?wire=whole", init));
    expect(other.names).toEqual(["flow_error"]); // The id belongs to another flow: the request was refused.
  });

  it("tells a cancelled flow in the result, if the result is asked for", async () => {
    const { ask, runtime, world } = open(
      (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("left"))),
    );
    const reading = ask("/flows/weather/a/on/b?wire=whole").then(read);
    await world.quiet();
    await (await runtime.session("s")).cancel({ request: "r1" });
    const { names, last } = await reading;
    expect(names.slice(-2)).toEqual(["flow_error", "flow_end"]);
    expect(last).toMatchObject({ ending: { type: "failed", error: { type: "UpstreamCancelled" } } });
  });

  it("answers a repeated request with the flow's result, without running it again", async () => {
    let runs = 0;
    const { ask } = open(() => `${(runs += 1)}`);
    const init = { headers: { "idempotency-key": "once" } };
    await read(await ask("/flows/weather/a/on/b", init));
    const { names } = await read(await ask("/flows/weather/a/on/b", init));
    expect([runs, names]).toEqual([1, ["flow_complete"]]);
    const other = await read(await ask("/flows/weather/other/on/b", init));
    expect(other.last).toMatchObject({ kind: "flow_error", error: expect.stringContaining("request_conflict") });
  });

  it("refuses unknown flows, methods and projections, and bodies that it cannot read", async () => {
    const { ask } = open();
    const refusalOf = async (path: string, init?: RequestInit): Promise<unknown> => {
      const response = await ask(path, init);
      return [response.status, ((await response.json()) as { readonly error: string }).error];
    };
    expect(await refusalOf("/flows/none")).toEqual([404, "flow 'none' not deployed"]);
    expect(await refusalOf("/flows/toString")).toEqual([404, "flow 'toString' not deployed"]);
    expect(await refusalOf("/flows/weather/x")).toEqual([404, "flow 'weather': expected the path `{city}/on/{day}`"]);
    expect(await refusalOf("/flows/plain", { method: "DELETE" })).toEqual([405, "expected GET or POST"]);
    expect(await refusalOf("/flows/plain", { method: "POST", body: "{" })).toEqual([
      400,
      expect.stringContaining("not JSON"),
    ]);
    expect(await refusalOf("/flows/plain", { method: "POST", body: "x".repeat(51) })).toEqual([
      413,
      "the body must have at most 50 bytes",
    ]);
    expect(await refusalOf("/flows/plain?wire=other")).toEqual([400, "wire: expected raw, named, whole, found other"]);
  });

  for (const endsWithReader of [false, true]) {
    it(`whose reader leaves ${endsWithReader ? "ends with its next event, if the host wants that" : "goes on without a reader"}`, async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const { world, ask, runtime } = open(() => promise, { endsWithReader });
      const response = await ask("/flows/weather/a/on/b");
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      await world.quiet();
      await reader.cancel();
      resolve("late");
      const session = await runtime.session("s");
      await world.quiet();
      const bindings = { city: "a", day: "b" };
      const { ending } = await session.flow({ request: "r1", flow: weather, bindings });
      expect(ending.type === "failed" ? ending.error.type : ending.type).toBe(
        endsWithReader ? "ChannelClosed" : "returned",
      );
    });
  }
});
