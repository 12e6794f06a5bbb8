import { describe, expect, it } from "vitest";
import { step } from "../../src/rename/step.ts";
import { notesOf, rewritten } from "./frame.ts";

const cases: readonly (readonly [string, string, string])[] = [
  ["a step without an input", 'ctx.runJson("a", {}, () => 1)', 'ctx.run("a", () => 1)'],
  ["an input", 'ctx.runJson("a", { to }, () => 1)', 'ctx.run("a", () => 1, { input: { to } })'],
  ["an input that is null", 'ctx.runJson("a", null, () => 1)', 'ctx.run("a", () => 1, { input: null })'],
  [
    "options",
    'ctx.runJson("a", { to }, () => 1, { recovery: "once" })',
    'ctx.run("a", () => 1, { input: { to }, recovery: "once" })',
  ],
  [
    "options of another place",
    'ctx.runJson("a", x, () => 1, options)',
    'ctx.run("a", () => 1, { input: x, ...options })',
  ],
  ["options without an input", 'ctx.runJson("a", {}, () => 1, options)', 'ctx.run("a", () => 1, options)'],
  [
    "a function that takes the key",
    'ctx.runJson("a", {}, async (_, { key }) => pay(key))',
    'ctx.run("a", async ({ key }) => pay(key))',
  ],
  [
    "a function of many lines",
    'ctx.runJson("a", {}, function (_input, { key }) { return key; })',
    'ctx.run("a", function ({ key }) { return key; })',
  ],
  ["a parameter that is not used", 'ctx.runJson("a", { to }, (_) => 1)', 'ctx.run("a", () => 1, { input: { to } })'],
  ["one without parentheses", 'ctx.runJson("a", { to }, _ => 1)', 'ctx.run("a", () => 1, { input: { to } })'],
  [
    "a parameter of the input's own name",
    'ctx.runJson("a", input, (input) => input.to)',
    'ctx.run("a", () => input.to, { input })',
  ],
  [
    "an input that the function takes",
    'ctx.runJson("a", { to }, (said, { key }) => pay(said.to, key))',
    '((said) => ctx.run("a", ({ key }) => pay(said.to, key), { input: said }))({ to })',
  ],
  [
    "the number of a try",
    'ctx.runJson("a", {}, (_, { try: n, key }) => n)',
    'ctx.run("a", ({ attempt: n, key }) => n)',
  ],
  ["it by its field", 'ctx.runJson("a", {}, (_, info) => info.try)', 'ctx.run("a", (info) => info.attempt)'],
  [
    "the attempt of the call",
    'ctx.runJson("a", {}, (_, { attempt }) => f(attempt))',
    'ctx.run("a", () => f(ctx.attempt))',
  ],
  ["it by its field", 'ctx.runJson("a", {}, (_, info) => info.attempt)', 'ctx.run("a", (info) => ctx.attempt)'],
  [
    "a function that takes nothing",
    'const work = () => 1;\nctx.runJson("a", {}, work)',
    'const work = () => 1;\nctx.run("a", work)',
  ],
  [
    "a function of another place",
    'ctx.runJson("a", { to }, book)',
    'ctx.run("a", (step) => book({ to }, step), { input: { to } })',
  ],
  [
    "a step in a step's place",
    'ctx.runJson("a", await ctx.runJson("b", {}, () => 1), () => 2)',
    'ctx.run("a", () => 2, { input: await ctx.run("b", () => 1) })',
  ],
  [
    "a context that is taken apart",
    'async (_, { runJson, race }) => runJson("a", {}, () => 1)',
    'async (_, { run, race }) => run("a", () => 1)',
  ],
  [
    "types",
    'type Run = ToolContext["runJson"]; type R = Pick<ToolContext, "runJson">;',
    'type Run = ToolContext["run"]; type R = Pick<ToolContext, "run">;',
  ],
];

describe("`runJson` becomes `run`", () => {
  it.each(cases)("%s", (_title, before, after) => {
    expect(rewritten(step, before).replaceAll(/\s+/g, " ")).toBe(after.replaceAll(/\s+/g, " "));
  });

  it("names a function that takes another attempt than it did", () => {
    expect(notesOf(step, 'ctx.runJson("a", {}, (_, info) => work(info))')).toEqual([
      "1: `attempt` of a step counts the attempts at the step; `ctx.attempt` those of the call",
    ]);
  });

  it("leaves a function of the program that has the name", () => {
    const own = "const runJson = (row) => row;\nrunJson(a, b, c);";
    expect(rewritten(step, own)).toBe(own);
  });
});
