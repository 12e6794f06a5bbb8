/** Each rule by examples, in ESLint; and all of them in oxlint, over TypeScript. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Linter } from "eslint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import plugin from "../src/index.ts";

const linter = new Linter();
const config: Linter.Config = {
  ...plugin.configs.recommended,
  languageOptions: { ecmaVersion: 2024, sourceType: "module" },
};
const lint = (code: string): readonly Linter.LintMessage[] => linter.verify(code, [config]);

/** The rules that a file is to be looked at by. */
const names = Object.keys(plugin.rules);

/** Lints a body; returns the rules that found something, in order. */
const found = (body: string, before = ""): readonly string[] =>
  lint(
    `${before}\nexport const tool = defineTool({ name: "t", durable: true, execute: async (args, ctx) => {\n${body}\n} });`,
  ).map(({ ruleId, message }) => ruleId?.replace("pawl/", "") ?? message);

describe.each<readonly [rule: string, wrong: readonly string[], right: readonly string[]]>([
  [
    "no-unrecorded-value",
    [
      "const at = Date.now();",
      "const day = new Date().getDay();",
      "return Math.random() < 0.5;",
      "return crypto.randomUUID();",
      "return globalThis.crypto.randomUUID();",
      "const took = performance.now();",
      "return args.items.map(() => Math.random());",
    ],
    [
      "const at = ctx.now();",
      "return new Date(ctx.now()).toISOString();",
      "return new Date(args.day);",
      'return ctx.run("now", () => Date.now());',
      "const clock = { now: () => 1 }; return clock.now();",
      "const Date = { now: () => 1 }; return Date.now();",
    ],
  ],
  [
    "no-act-outside-step",
    ["fetch(args.url);", "setTimeout(() => undefined, 10);", "globalThis.fetch(args.url);", "new WebSocket(args.url);"],
    [
      'await ctx.run("get", () => fetch(args.url));',
      'const get = () => fetch(args.url); await ctx.run("get", get);',
      'await ctx.run("get", function () { return args.urls.map((url) => fetch(url)); });',
      "ctx.onCancel(() => fetch(args.url));",
      'await ctx.sleep("10 s");',
    ],
  ],
  [
    "no-foreign-await",
    ["await sdk.create(args);", "await Promise.resolve(1);", "for await (const one of sdk.list()) use(one);"],
    [
      'await ctx.run("create", () => sdk.create(args));',
      "await generate({ model: durable(ctx) });",
      "const model = durable(ctx); await generate({ model });",
      "const work = args.ids.map((id) => ctx.run(id, () => sdk.get(id))); await Promise.all(work);",
      "for (const call of [ctx.call(a, 1), ctx.call(b, 2)]) await call;",
      'const book = async (id) => ctx.run(id, () => sdk.book(id)); await book("a");',
      "await args.done;",
      'for await (const one of ctx.stream("words", say)) use(one);',
    ],
  ],
  [
    "stable-step-name",
    [
      "await ctx.run(`at ${runId}`, () => 1);",
      "const name = `n${runId}`; await ctx.run(name, () => 1);",
      "await ctx.waitFor(runId);",
    ],
    ['await ctx.run("pay", () => 1);', "for (const id of args.ids) await ctx.run(`pay ${id}`, () => 1);"],
  ],
  [
    "no-floating-effect",
    [
      "for (const id of args.ids) { ctx.run(id, () => 1); }",
      "for (const id of args.ids) { void ctx.run(id, () => 1); }",
      "while (args.more) { ctx.tasks.start(args.next); }",
      "args.ids.forEach(async (id) => { await ctx.run(id, () => 1); });",
    ],
    [
      "for (const id of args.ids) await ctx.run(id, () => 1);",
      "const all = []; for (const id of args.ids) all.push(ctx.run(id, () => 1)); await ctx.all(all);",
      'for (const id of args.ids) { ctx.progress({ type: "words", words: id }); }',
      "args.ids.forEach((id) => names.push(id));",
    ],
  ],
  [
    "no-empty-catch",
    [
      'try { await ctx.run("pay", () => 1); } catch {}',
      'try { await ctx.run("pay", () => 1); } catch (error) { /* never mind */ }',
    ],
    [
      'try { await ctx.run("pay", () => 1); } catch (error) { if (error.code !== "step_outcome_unknown") throw error; }',
      'await ctx.run("pay", () => { try { return sdk.pay(); } catch {} });',
      "try { parse(args); } catch {}",
    ],
  ],
])("%s", (rule, wrong, right) => {
  const before = "const runId = crypto.randomUUID();";
  it.each(wrong)("finds %s", (body) => expect(found(body, before)).toEqual([rule]));
  it.each(right)("takes %s", (body) => expect(found(body, before)).toEqual([]));
});

describe("a body", () => {
  const wrong = "execute: async (args, ctx) => Date.now()";

  it("is that of a durable tool alone", () => {
    expect(lint(`defineTool({ durable: true, ${wrong} })`)).toHaveLength(1);
    expect(lint(`defineTool({ ${wrong} })`)).toHaveLength(0);
    expect(lint(`other({ durable: true, ${wrong} })`)).toHaveLength(0);
    expect(lint("const at = Date.now(); fetch(at);")).toHaveLength(0);
  });

  it("knows what Node's modules do, by any name", () => {
    const before =
      'import { readFile as read } from "node:fs/promises"; import * as fs from "fs"; import { randomUUID } from "node:crypto"; import { setTimeout as pause } from "node:timers/promises";';
    expect(found("fs.writeFileSync(args.path, args.text);", before)).toEqual(["no-act-outside-step"]);
    expect(found("await read(args.path);", before)).toEqual(["no-foreign-await", "no-act-outside-step"]);
    expect(found("await pause(10);", before)).toEqual(["no-foreign-await", "no-act-outside-step"]);
    expect(found("return randomUUID();", before)).toEqual(["no-unrecorded-value"]);
  });
});

describe("in oxlint, over TypeScript", () => {
  const root = resolve(import.meta.dirname, "../../..");
  const folder = mkdtempSync(join(tmpdir(), "pawl-lint-"));
  const configured = join(folder, "oxlint.json");
  beforeAll(() => {
    const rules = Object.fromEntries(names.map((name) => [`pawl/${name}`, "error"]));
    const jsPlugins = [{ name: "pawl", specifier: resolve(import.meta.dirname, "../src/index.ts") }];
    writeFileSync(configured, JSON.stringify({ plugins: [], categories: { correctness: "off" }, jsPlugins, rules }));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const oxlint = (...paths: readonly string[]): readonly { readonly code: string; readonly filename: string }[] => {
    const run = spawnSync(
      process.execPath,
      [join(root, "node_modules/oxlint/bin/oxlint"), "-c", configured, "-f", "json", ...paths],
      {
        encoding: "utf8",
        cwd: root,
      },
    );
    if (!run.stdout.startsWith("{")) throw new Error(run.stdout + run.stderr);
    return (
      JSON.parse(run.stdout) as {
        readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
      }
    ).diagnostics;
  };

  it("finds nothing in our examples", () => expect(oxlint("examples")).toEqual([]));

  it("finds every mistake of a helper that is given a context", () => {
    const file = join(folder, "helper.ts");
    writeFileSync(file, readFileSync(join(import.meta.dirname, "mistakes.fixture"), "utf8"));
    const codes = oxlint(file).map(({ code }) => code.replace(/^pawl\((.*)\)$/, "$1"));
    expect(codes.toSorted()).toEqual(names.toSorted());
  });
});
