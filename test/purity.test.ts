/** The three walls around the pure packages: a bare context, the reduced tsconfig, the lints. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Context, createContext, runInContext } from "node:vm";
import { build } from "rolldown";
import { afterAll, describe, expect, it } from "vitest";
import { files, pathOf, purePackages } from "./project.ts";

const scratch = mkdtempSync(join(tmpdir(), "pawl-purity-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const write = (file: string, text: string): string => {
  const path = join(scratch, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** Returns what a command says, whether it succeeds or not. */
const saidBy = (command: string, ...args: readonly string[]): string => {
  try {
    return execFileSync(pathOf(`node_modules/.bin/${command}`), args, { cwd: scratch, encoding: "utf8" });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
};

/** What the language has that neither time, chance, nor the outside can be reached through. */
const pureGlobals = new Set([
  ..."globalThis undefined NaN Infinity isFinite isNaN parseFloat parseInt Math JSON Reflect Proxy".split(" "),
  ..."Object Function Array Boolean Number BigInt String Symbol RegExp Map Set WeakMap WeakSet".split(" "),
  ..."Error EvalError RangeError ReferenceError SyntaxError TypeError URIError ArrayBuffer DataView".split(" "),
  ..."Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array".split(" "),
  ..."Float32Array Float64Array BigInt64Array BigUint64Array".split(" "),
]);
const platformGlobals = [
  ..."console setTimeout setInterval setImmediate queueMicrotask process Buffer require fetch URL".split(" "),
  ..."TextEncoder crypto performance structuredClone navigator WebAssembly Intl Date Promise".split(" "),
  ..."WeakRef FinalizationRegistry SharedArrayBuffer Atomics eval escape".split(" "),
];

const bareContext = (): Context => {
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  const names = runInContext("Object.getOwnPropertyNames(globalThis)", context) as readonly string[];
  for (const name of names) if (!pureGlobals.has(name)) runInContext(`delete globalThis.${name}`, context);
  return context;
};

const nameOf = (file: string, i: number): string => /(?<=src\/)index(?=\.ts$)|purity/.exec(file)?.[0] ?? `file${i}`;
const probeOf = (name: string): string => `packages/${name}/test/purity.ts`;

/** The package's API, its probe where it has one, and all its files, in one text that leaves `pawl` behind. */
const bundle = async (name: string): Promise<string> => {
  const all = files.filter((file) => file.startsWith(`packages/${name}/src/`) || file === probeOf(name));
  // Each file is exported, since a bundler drops what nobody uses.
  const lines = all.map((file, i) => `export * as ${nameOf(file, i)} from ${JSON.stringify(pathOf(file))};`);
  const { output } = await build({
    input: write(`${name}.ts`, lines.join("\n")),
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
    output: { format: "iife", name: "pawl" },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

const outside = async (file: string): Promise<object> => (await import(pathToFileURL(pathOf(file)).href)) as object;

describe("the bare context", () => {
  it("has nothing of a platform, and no way to make code from text", () => {
    const context = bareContext();
    const found = platformGlobals.filter((name) => runInContext(`typeof ${name}`, context) !== "undefined");
    expect(found).toEqual([]);
    expect(() => runInContext("Date.now()", context)).toThrow("Date is not defined");
    expect(() => runInContext("Function('return 1')", context)).toThrow("Code generation from strings disallowed");
  });

  for (const name of purePackages) {
    it(`is enough for ${name}, which answers there as it does here`, async () => {
      const context = bareContext();
      runInContext("delete Math.random", context);
      runInContext(await bundle(name), context);
      const index = await outside(`packages/${name}/src/index.ts`);
      const names = runInContext("Object.keys(pawl.index).join()", context) as string;
      expect(names.split(",").toSorted()).toEqual(Object.keys(index).toSorted());
      if (!files.includes(probeOf(name))) return;
      const { probe } = (await outside(probeOf(name))) as { readonly probe: () => string };
      expect(runInContext("pawl.purity.probe()", context)).toBe(probe());
    });
  }
});

describe("the reduced tsconfig", () => {
  it("knows the language, and no platform", () => {
    write("types/package.json", '{ "type": "module" }');
    write("types/tsconfig.json", JSON.stringify({ extends: pathOf("tsconfig.pure.json"), files: ["wrong.ts"] }));
    const names = ["Promise", "setTimeout", "document", "process", "console", "fetch", "TextEncoder", "crypto"];
    const right = "export const right = [new Map([[2n, 1]])].toSorted();";
    write("types/wrong.ts", [right, ...names.map((name) => `void ${name};`)].join("\n"));
    const said = saidBy("tsc", "--project", join(scratch, "types"));
    const lines = [...said.matchAll(/wrong\.ts\((?<line>\d+)/g)].map((match) => Number(match.groups?.["line"]));
    expect(lines).toEqual(names.map((_, i) => i + 2));
  });
});

describe("the lints", () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['import { readFileSync } from "node:fs";', "no-restricted-imports"],
    ["export const now = (): number => Date.now();", "no-restricted-globals"],
    ["export const chance = (): number => Math.random();", "no-restricted-properties"],
    ["export const later = async (): Promise<string> => readFileSync(await 0);", "no-async-await"],
    ["export const soon = (): void => void setTimeout(now, 1);", "no-restricted-globals"],
    ["export default now;", "no-default-export"],
  ];

  for (const name of purePackages) {
    it(`refuse in ${name} what would make it impure`, () => {
      copyFileSync(pathOf(".oxlintrc.json"), write(".oxlintrc.json", ""));
      const file = `packages/${name}/src/wrong.ts`;
      write(file, wrong.map(([line]) => line).join("\n"));
      const said = saidBy("oxlint", "--format=unix", file);
      for (const [i, [, rule]] of wrong.entries()) {
        expect(said).toMatch(new RegExp(`wrong\\.ts:${i + 1}:.*\\(${rule}\\)`));
      }
    });
  }
});
