/** The numbered behaviours of the specification: tested by the reference (1 to 8), stated by it (9 to 18), and more. */
import { type FlowNode, FlowNodeCodec, placeholder } from "@pawl/sansio-core/driver";
import { array, describe as say, read } from "@pawl/tool-value";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { Registry } from "../src/index.ts";
import { type Case, type Seen, runFlow } from "./cases/scope.ts";

const tool = (
  tool_name: string,
  argument = "",
  named: readonly (readonly [string, string, string])[] = [],
): FlowNode => ({
  node_type: "use_tool",
  tool_name,
  argument,
  named_args: named.map(([name, value, value_kind]) => ({ name, value, value_kind })),
});
const lambda = (lambda_data_name: string, target: string, output_type = ""): FlowNode => ({
  node_type: "lambda_data_apply",
  lambda_data_name,
  target,
  output_type,
});
const run = (nodes: readonly FlowNode[], bindings: Case["bindings"] = {}, more: Partial<Case> = {}): Promise<Seen> =>
  runFlow({ nodes, bindings, ...more });

const steps = ({ events }: Seen): readonly object[] => events.filter(({ kind }) => kind.startsWith("step_"));
const starts = (seen: Seen): readonly object[] => seen.events.filter(({ kind }) => kind === "step_start");
const outputs = ({ events }: Seen): readonly string[] =>
  events.flatMap((event) => (event.kind === "step_complete" ? [event.full_output] : []));
const error = ({ end }: Seen): string =>
  end.ending.type === "failed" ? end.ending.error.type : `no error: ${end.ending.type}`;

const stub = (name: string, parameters: readonly (readonly [string, string])[] = []): Registry =>
  new Registry([{ name, provider: "stub", parameters }]);
const broken = (): never => {
  throw new Error("boom");
};
const cancel = { type: "request.cancelled", request: "r" } as const;
const gone = { type: "flow.consumer_gone", request: "r" } as const;

describe("placeholders", () => {
  it("1: a lambda `inc` with the unbound target `5` is lambda:inc(5)", () => {
    expect(placeholder("lambda", "inc", "5", new Map())).toBe("lambda:inc(5)");
  });
  it("2: a bound target is looked up", () => {
    expect(placeholder("lambda", "square", "x", new Map([["x", "42"]]))).toBe("lambda:square(42)");
  });
  it("3: an unregistered calculator calculates nothing", () => {
    expect(placeholder("tool", "calculator", "2+2", new Map())).toBe("tool:calculator(2+2)");
  });
  it("4: a tool's argument is looked up as a whole", () => {
    const bindings = new Map([["query", "weather today"]]);
    expect(placeholder("tool", "web_search", "query", bindings)).toBe("tool:web_search(weather today)");
  });
});

describe("the two steps", () => {
  it("5: a lambda binds its output under its type, and begins with a step_start of its type", async () => {
    const seen = await run([lambda("transform", "input_data", "transformed")], { input_data: "raw" });
    expect(seen.end).toMatchObject({
      ending: { type: "completed", output: "lambda:transform(raw)" },
      bindings: { transformed: "lambda:transform(raw)" },
    });
    expect(steps(seen)).toMatchObject([
      { kind: "step_start", step_type: "lambda_data_apply", step_name: "transform", step_index: 0 },
      { kind: "step_complete", tokens_input: 0, tokens_output: 0, success: true },
    ]);
  });
  it("6: without an output type a lambda binds under its target's name", async () => {
    const { end } = await run([lambda("norm", "doc")]);
    expect(end.bindings).toEqual({ doc_lambda_applied: "lambda:norm(doc)" });
  });
  it("7: a tool binds its output under its own name", async () => {
    const seen = await run([tool("calculator", "input")], { input: "5+3" });
    expect(seen.end.ending).toEqual({ type: "completed", output: "tool:calculator(5+3)" });
    expect(seen.end.bindings["calculator_result"]).toBe("tool:calculator(5+3)");
    expect(steps(seen)[0]).toMatchObject({ kind: "step_start", step_type: "use_tool", step_name: "calculator" });
  });
  it("8: a flow that was cancelled before leaves no event, no binding, and the counter as it was", async () => {
    for (const node of [lambda("x", "y", "z"), tool("x", "y")]) {
      const seen = await run(
        [lambda("gate", ""), node],
        {},
        { lambdas: ["gate"], during: { what: "lambda", event: cancel } },
      );
      expect(error(seen)).toBe("UpstreamCancelled");
      expect(steps(seen)).toHaveLength(1);
      expect(seen.end).toMatchObject({ bindings: {}, step_counter: 1 });
    }
  });
});

describe("registered tools", () => {
  it("9: run, and their output is bound and shown", async () => {
    const seen = await run([tool("S", "hi")], {}, { registry: stub("S") });
    expect(outputs(seen)).toEqual(["[stub] S(hi)"]);
    expect(seen.end.bindings).toEqual({ S_result: "[stub] S(hi)" });
  });
  it("10: get keyword arguments as one JSON object, typed by their parameters", async () => {
    const registry = stub("S", [
      ["n", "Int"],
      ["ok", "Bool"],
      ["f", "Float"],
      ["l", "List<Int>"],
    ]);
    const args = [
      ["n", "5", ""],
      ["ok", "true", ""],
      ["f", "5", ""],
      ["l", "[1, 2]", ""],
      ["x", "7", ""],
    ] as const;
    const seen = await run([tool("S", "", args)], {}, { registry });
    expect(outputs(seen)).toEqual(['[stub] S({"f":5.0,"l":[1,2],"n":5,"ok":true,"x":"7"})']);
  });
  it("11: get a single argument with its bindings filled in", async () => {
    const seen = await run([tool("S", "é ${q}!")], { q: "ü" }, { registry: stub("S") });
    expect(outputs(seen)).toEqual(["[stub] S(é ü!)"]);
  });
  it("12: stay placeholders without a registry, a name, or a known provider", async () => {
    for (const registry of [undefined, new Registry(), new Registry([{ name: "W", provider: "brave" }])]) {
      expect(outputs(await run([tool("W", "q")], { q: "x" }, { registry }))).toEqual(["tool:W(x)"]);
    }
    const strict = await run([tool("W", "q")], {}, { unresolved: "fail" });
    expect(strict.end.ending).toEqual({ type: "failed", error: { type: "MissingDependency", name: "tool 'W'" } });
    const failed = await run([lambda("l", "q")], {}, { unresolved: "fail" });
    expect(failed.end.ending).toEqual({ type: "failed", error: { type: "MissingDependency", name: "lambda 'l'" } });
  });
  it("13: that fail complete their step without success, and bind their text", async () => {
    const seen = await run(
      [tool("Calculator", "1/0"), tool("after", "Calculator_result")],
      {},
      { registry: new Registry() },
    );
    expect(steps(seen)[1]).toMatchObject({ success: false, full_output: "Calculator error: Division by zero" });
    expect(outputs(seen)[1]).toBe("tool:after(Calculator error: Division by zero)");
    expect(seen.events.at(-1)).toMatchObject({ kind: "flow_complete", success: true, steps_executed: 2 });
  });
  it("14: that end after a cancel complete nothing and bind nothing", async () => {
    const seen = await run([tool("S", "y")], {}, { registry: stub("S"), during: { what: "call", event: cancel } });
    expect(error(seen)).toBe("UpstreamCancelled");
    expect(seen.events.map(({ kind }) => kind)).toEqual(["flow_start", "step_start"]);
    expect(seen.end).toMatchObject({ bindings: {}, step_counter: 1 });
  });
  it("15: that throw are a failed result, with the cause", async () => {
    const seen = await run([tool("S", "y")], {}, { registry: stub("S"), providers: { stub: () => broken } });
    expect(seen.end.bindings).toEqual({ S_result: "tool 'S' dispatch task failed: boom" });
    expect(steps(seen)[1]).toMatchObject({ success: false });
  });
  it("16: are those of one request: another one without the tool gets the placeholder", async () => {
    const node = tool("S", "y");
    expect(outputs(await run([node], {}, { registry: stub("S") }))).toEqual(["[stub] S(y)"]);
    expect(outputs(await run([node]))).toEqual(["tool:S(y)"]);
  });
  it("17: end with ChannelClosed after the reader has left", async () => {
    const seen = await run(
      [tool("S", "y"), tool("T")],
      {},
      { registry: stub("S"), during: { what: "call", event: gone } },
    );
    expect(error(seen)).toBe("ChannelClosed");
    expect(seen.events.map(({ kind }) => kind)).toEqual(["flow_start", "step_start"]);
    expect(seen.end).toMatchObject({ bindings: { S_result: "[stub] S(y)" }, step_counter: 1 });
  });
  it("18: without names are called UseTool and LambdaApply, and bind nothing", async () => {
    const seen = await run([lambda("", ""), tool("", "x")]);
    expect(starts(seen)).toMatchObject([{ step_name: "LambdaApply" }, { step_name: "UseTool" }]);
    expect(outputs(seen)).toEqual(["lambda:()", "tool:(x)"]);
    expect(seen.end.bindings).toEqual({});
  });
});

describe("further behaviours", () => {
  it("19: lambdas and tools count their steps, in order", async () => {
    const seen = await run([lambda("a", "1"), tool("b", "2")]);
    expect(starts(seen)).toMatchObject([{ step_index: 0 }, { step_index: 1 }]);
    expect(seen.end.step_counter).toBe(2);
  });
  it("20: after a loop the result of the last iteration stays bound", async () => {
    const body = [tool("web_search", "q")];
    const seen = await run([{ node_type: "for_in", variable: "q", iterable: "rust,python,go", body }]);
    expect(seen.end.bindings).toEqual({ q: "go", web_search_result: "tool:web_search(go)" });
  });
  it("21: a tool takes the output of a lambda", async () => {
    const seen = await run([lambda("process", "input", "processed"), tool("validate", "processed")], { input: "raw" });
    expect(outputs(seen)[1]).toBe("tool:validate(lambda:process(raw))");
  });
  it("22: `remember` decodes, and is refused with its name and path", async () => {
    const nodes = read(array(FlowNodeCodec), [
      { node_type: "for_in", variable: "v", body: [{ node_type: "remember" }] },
    ]);
    if (E.isLeft(nodes)) throw new Error(say(nodes.left));
    await expect(run(nodes.right)).rejects.toThrow("nodes[0].body[0]: the node `remember` is not built");
    expect(read(array(FlowNodeCodec), [{ node_type: "retry" }])).toMatchObject({
      left: { path: [0, "node_type"], message: expect.stringContaining("unknown variant `retry`") },
    });
  });
  it("23: the builtin calculator of a fresh registry calculates", async () => {
    expect(outputs(await run([tool("Calculator", "2 + 3")], {}, { registry: new Registry() }))).toEqual(["5"]);
  });
  it("24: a stub shows its argument with bindings filled in", async () => {
    const seen = await run([tool("Calc", "${expr}")], { expr: "2+2" }, { registry: stub("Calc") });
    expect(outputs(seen)).toEqual(["[stub] Calc(2+2)"]);
  });
  it("25: keyword arguments are filled in and typed", async () => {
    const args = [
      ["q", "${topic}", "literal"],
      ["n", "5", "literal"],
    ] as const;
    const seen = await run([tool("S", "", args)], { topic: "quanta" }, { registry: stub("S", [["n", "Int"]]) });
    expect(outputs(seen)).toEqual(['[stub] S({"n":5,"q":"quanta"})']);
  });
  it("26: a bare name stays as it is in the argument of a real tool; so does an unbound reference", async () => {
    const registry = stub("S");
    const nodes = ["query", "$query", "${query}", "${tpyo}"].map((argument) => tool("S", argument));
    const seen = await run(nodes, { query: "w" }, { registry });
    expect(outputs(seen)).toEqual(["[stub] S(query)", "[stub] S(w)", "[stub] S(w)", "[stub] S(${tpyo})"]);
  });
  it("27: with any names and arguments, a flow completes or is cancelled", async () => {
    const text = fc.string({ unit: "binary-ascii", maxLength: 12 });
    const property = fc.asyncProperty(
      text,
      text,
      fc.boolean(),
      fc.boolean(),
      async (name, argument, isTool, isCancelled) => {
        const node = isTool ? tool(name, argument) : lambda(name, argument);
        const nodes = isCancelled ? [lambda("gate", ""), node] : [node];
        const lambdas = isCancelled ? ["gate"] : [];
        const { end } = await run(nodes, {}, { lambdas, during: { what: "lambda", event: cancel } });
        const isEnded = isCancelled ? end.ending.type === "failed" : end.ending.type === "completed";
        if (!isEnded) throw new Error(JSON.stringify(end));
      },
    );
    await fc.assert(property, { numRuns: 800 });
  });
});

describe("a lambda that is applied", () => {
  it("binds the driver's answer; its failure is a BackendError that ends the flow", async () => {
    const nodes = [lambda("l", "x", "out"), tool("t", "out")];
    const more = { lambdas: ["l"], lambda: { status: "ok", output: "seen" } } as const;
    expect(outputs(await run(nodes, { x: "1" }, more))).toEqual(["seen", "tool:t(seen)"]);
    const failed = await run(nodes, {}, { lambdas: ["l"], lambda: { status: "err", message: 'no "l"' } });
    expect(failed.events.at(-1)).toMatchObject({
      kind: "flow_error",
      error: 'flow \'TestFlow\' failed at node #1: BackendError { name: "l", message: "no \\"l\\"" }',
    });
    expect(failed.end).toMatchObject({ bindings: {}, steps_executed: 0 });
  });
});
