/** Flows in the runtime: run, joined, cancelled, and killed at every write. */
import type { FlowEnd, FlowExecutionEvent } from "@pawl/sansio-core/driver";
import { contractOf, defineTool } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type Process, World } from "../../runtime/test/world.ts";
import * as f from "../src/index.ts";

const registry = new f.Registry([
  { name: "Stub", provider: "stub", effect_row: ["read"], parameters: [["n", "Int"]] },
  { name: "W", provider: "brave" },
]);
const { definitions, tools } = f.programTools({ registry, providers: f.plainProviders, now: () => 1_700_000_000_000 });
const sensor: f.Declaration = {
  name: "Sensor",
  ontology: "temperature",
  certainty: 0.9,
  temporal_frame_start: "",
  temporal_frame_end: "",
  provenance: "A",
  derivation: "raw",
};
const lambdas = f.psiLambdas([sensor, { ...sensor, name: "Sure", certainty: 1, derivation: "derived" }]);

const program = f.flow("Sums", [
  f.each("n", "1,2,3", [f.use("Calculator", "$n * 2"), f.when(f.is("n", "==", "2"), [f.stop])]),
  f.par([f.use("Stub", { n: f.ref("Calculator_result") })], [f.apply("Sensor", "n", "label"), f.use("Stub", "$label")]),
  f.use("W", "n"),
  f.bind("last", f.ref("W_result")),
  f.back("${last} at $base"),
]);
const submission = { request: "f", flow: program, bindings: { base: "é" }, tools };
const end: FlowEnd = {
  ending: { type: "returned", value: "tool:W(2) at é" },
  bindings: { Calculator_result: "4", W_result: "tool:W(2)", base: "é", last: "tool:W(2)", n: "2" },
  steps_executed: 5,
  step_counter: 6,
};

const seen = (): { readonly kinds: string[]; readonly host: { readonly flow: object } } => {
  const kinds: string[] = [];
  const observe = (_: string, __: string, event: FlowExecutionEvent): void => void kinds.push(event.kind);
  return { kinds, host: { flow: { lambdas, observe } } };
};

const run = async (process: Process): Promise<FlowEnd> => (await process.runtime.session("s")).flow(submission);

/** Runs the flow to its end, in one process after another. */
const survive = async (death: { readonly append: number; readonly when: "before" | "after" }): Promise<FlowEnd> => {
  const world = new World();
  const { host } = seen();
  const first = world.start(definitions, { host, death });
  const outcome = await Promise.race([run(first), world.quiet(200).then(() => undefined)]);
  if (outcome !== undefined) return outcome;
  const second = run(world.start(definitions, { host }));
  const rest = await Promise.race([second, world.quiet(400).then(() => undefined)]);
  if (rest === undefined) throw new Error(`stuck after a death ${death.when} append ${death.append}`);
  return rest;
};

describe("the tools of a program", () => {
  it("show models what they do, and the schemas of their parameters", () => {
    const entry = { name: "Trip", provider: "stub", effect_row: ["read"], output_schema: "number" };
    const parameters = [
      ["to", "String"],
      ["days", "List<Int>"],
      ["any", "Money"],
    ] as const;
    const { definitions: made } = f.programTools({
      registry: new f.Registry([{ ...entry, parameters }]),
      providers: f.plainProviders,
    });
    const trip = made.find(({ name }) => name === "flow.Trip");
    if (trip === undefined) throw new Error("expected the tool of the program");
    expect(trip.description).toBe("Trip, a tool of a flow (stub), which may read. Its result is number.");
    expect(contractOf(trip).input_schema).toEqual({
      type: "object",
      properties: { to: { type: "string" }, days: { type: "array", items: { type: "integer" } }, any: {} },
      required: ["to", "days", "any"],
    });
  });
});

describe("a flow in the runtime", () => {
  it("runs tools and lambdas, shows its steps, and ends with its bindings", async () => {
    const { kinds, host } = seen();
    const session = await new World().start(definitions, { host }).runtime.session("s");
    expect(await session.flow(submission)).toEqual(end);
    expect(kinds.filter((kind) => kind === "step_start")).toHaveLength(7);
    expect([kinds[0], kinds.at(-1)]).toEqual(["flow_start", "flow_complete"]);
    expect(await session.flow(submission)).toEqual(end);
    await expect(session.flow({ ...submission, bindings: {} })).rejects.toThrow("was submitted with another body");
  });

  it("that is killed before or after any append ends the same", async () => {
    for (let append = 1; append <= 24; append++) {
      expect(await survive({ append, when: "before" })).toEqual(end);
      expect(await survive({ append, when: "after" })).toEqual(end);
    }
  });

  it("ends when a claim about a value is impossible", async () => {
    const { host } = seen();
    const session = await new World().start([], { host }).runtime.session("s");
    const { ending } = await session.flow({ request: "f", flow: f.flow("F", [f.apply("Sure", "x")]) });
    expect(ending).toEqual({
      type: "failed",
      error: { type: "BackendError", name: "Sure", message: expect.stringContaining("Theorem 5.1 violation") },
    });
  });

  it("calls the tools of its session by their names, if it is given none", async () => {
    const shout = defineTool<string>({ name: "shout", execute: (text) => text.toUpperCase() });
    const session = await new World().start([shout]).runtime.session("s");
    const { bindings } = await session.flow({ request: "f", flow: f.flow("F", [f.use("shout", "é")]) });
    expect(bindings).toEqual({ shout_result: "É" });
  });

  it("converts texts to the types that the schemas of the session's tools ask for", async () => {
    const types = { n: "integer", x: "number", is: "boolean", all: "array", text: "string", any: ["string", "null"] };
    const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
    const all = { type: "array", items: { type: "integer" } };
    const typed = defineTool({
      name: "typed",
      inputSchema: { type: "object", properties: { ...properties, all }, required: Object.keys(types) },
      execute: (args) => args as Json,
    });
    const session = await new World().start([typed]).runtime.session("s");
    const given = { n: "$five", x: "5.5", is: "true", all: "[1, 2]", text: "5", any: "5" };
    const asked = { request: "f", flow: f.flow("F", [f.use("typed", given)]), bindings: { five: "5" } };
    const { bindings } = await session.flow(asked);
    expect(JSON.parse(bindings["typed_result"] ?? "")).toEqual(
      { n: 5, x: 5.5, is: true, all: [1, 2], text: "5", any: "5" }, // A text, since the schema names no single type.
    );
    const mismatch = { request: "g", flow: f.flow("F", [f.use("typed", { ...given, n: "five" })]), bindings: {} };
    expect((await session.flow(mismatch)).bindings["typed_result"]).toContain("arguments.n");
  });

  it("is refused with the reason if it does not fit, and nothing is recorded", async () => {
    const session = await new World().start(definitions).runtime.session("s");
    const { seq } = session.state;
    for (const wrong of [{ unresolved: "perhaps" }, { bindings: { a: 5 } }, { executionScope: 5 }, { tools: [{}] }]) {
      const refused = session.flow({ ...submission, ...wrong } as never);
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument" });
    }
    const twice = [
      ["q", "Int"],
      ["q", "String"],
    ];
    await expect(
      session.flow({ ...submission, tools: [{ name: "t", id: "tool:t", parameters: twice }] } as never),
    ).rejects.toMatchObject({
      code: "invalid_argument",
      message: "tools: $[0].parameters: `t` declares `q` twice",
    });
    const strange = { name: "S", backend: "b", nodes: [{ node_type: "nope" }] };
    const unknown = session.flow({ ...submission, flow: strange as never });
    await expect(unknown).rejects.toThrow(/nope.* at \$\.nodes\[0\]/);
    expect(session.state.seq).toBe(seq);
  });

  it("is cancelled with its call, whose signal is aborted, and emits no more events", async () => {
    const { kinds, host } = seen();
    let aborted = false;
    const wait = defineTool({
      name: "wait",
      execute: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve("late");
          });
        }),
    });
    const world = new World();
    const session = await world.start([wait], { host }).runtime.session("s");
    const running = session.flow({ request: "f", flow: f.flow("F", [f.use("wait"), f.use("never")]) });
    await world.quiet();
    await session.report({ type: "request.cancelled", request: "f" });
    expect((await running).ending).toEqual({ type: "failed", error: { type: "UpstreamCancelled" } });
    expect([aborted, kinds]).toEqual([true, ["flow_start", "step_start"]]);
  });
});

const flowOf = (json: object): unknown => f.readFlow(JSON.stringify(json));

describe("a flow's text", () => {
  it("is read with errors that name the node and its path", () => {
    expect(
      flowOf({ name: "F", nodes: [{ node_type: "for_in", variable: "v", body: [{ node_type: "remember" }] }] }),
    ).toMatchObject({
      left: { path: "$.nodes[0].body[0]", message: "the node `remember` is not built: leave it out of the flow" },
    });
    expect(flowOf({ name: "F", nodes: [{ node_type: "let_binding" }] })).toMatchObject({
      left: { path: "$.nodes[0]", message: "missing field `target`" },
    });
    expect(flowOf({ name: "F", nodes: [{ node_type: "use_tool", named_args: [{ value: "x" }] }] })).toMatchObject({
      left: { path: "$.nodes[0].named_args[0]", message: "missing field `name`" },
    });
    expect(f.readFlow("{")).toMatchObject({ left: { path: "$" } });
  });
  it("survives a round trip", () => {
    expect(f.readFlow(JSON.stringify(program))).toEqual({ _tag: "Right", right: program });
  });
});

describe("the first bindings", () => {
  it("come from the path, the query and the body, in this order, for declared names only", () => {
    const request = {
      path: { a: "p" },
      query: { a: "q", b: "q" },
      body: { a: 1, b: 2, c: null, d: { x: [1] }, e: "t", __proto__: 1 },
    };
    expect(f.firstBindings(["a", "b", "c", "d", "e", "f", "toString"], request)).toEqual({
      a: "p",
      b: "q",
      c: "",
      d: '{"x":[1]}',
      e: "t",
    });
    expect(f.firstBindings(["a"], { body: [1] })).toEqual({});
  });
});
