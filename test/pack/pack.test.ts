/** Tests what is published: packed, looked at, installed in an empty folder, compiled and run. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, blocks } from "./block.ts";
import { hasChromium, openChromium, withoutChromium } from "../runtime/chromium.ts";
import { type PageLife, liveInPage } from "./page.ts";
import {
  type Packed,
  compile,
  install,
  installedFor,
  live,
  pack,
  registered,
  test,
  timesLonger,
  use,
} from "./folder.ts";
import { root } from "../project.ts";

const uses = join(import.meta.dirname, "use");
const node22 = join(import.meta.dirname, "node_modules/node-22/bin/node");

const said = {
  agent: "Hello there. function",
  "ai-sdk": "function function function function",
  "claude-agent": "function",
  cli: "0 ls",
  codemod: "defineTool({ inputSchema: p });",
  compat: "true t:tool:c:durable-step:book",
  "create-pawl": "tool agent page mcp",
  "driver-browser": "function function true",
  "driver-cloudflare": "invalid_option session:ann",
  "driver-node": "function ran 1 same reply",
  egress: "true true",
  http: "401 unauthorized 3.1.0",
  "eslint-plugin-pawl": "6 pawl/recommended",
  inspector: "3 at 1",
  "journal-postgres": "unavailable",
  flow: '{"success":true,"output":"7"} true function function',
  mcp: "function function function function function",
  "openai-agents": "function function function function",
  runtime: "hello, Lviv",
  "sansio-core": "1 0",
  studio: "200 text/html; charset=utf-8 200",
  testkit: "true",
  "tool-value": '{"a":1,"b":9007199254740993} 64',
  tools: "18 function function",
  wire: "function 1 4001",
};

/** What the blocks for pages come to. */
const inPages: { readonly [name: string]: Pick<PageLife, "said" | "status"> } = {
  "architecture-1": { said: [], status: undefined },
  "browser-1": {
    said: [...["train", "hotel", "museum"].map((what) => expect.stringContaining(`booking the ${what}`)), "success"],
    status: undefined,
  },
  "browser-2": { said: [expect.stringContaining("success")], status: undefined },
  "browser-3": { said: [], status: undefined },
  "browser-4": { said: [], status: undefined },
  "browser-5": { said: [], status: undefined },
  "browser-7": { said: [], status: undefined },
  "browser-8": { said: [], status: undefined },
  "host-protocol-2": { said: [], status: undefined },
  "readme-driver-browser-1": { said: [expect.stringContaining("success")], status: undefined },
  "readme-inspector-1": { said: [], status: "18 events" },
  "readme-inspector-2": { said: [], status: expect.stringMatching(/^\d+ events$/) }, // It follows, and may be seen before it has begun.
};

const wordsOf = ({ kind, resolutionKind = "" }: { readonly kind: string; readonly resolutionKind?: string }): string =>
  `${kind} ${resolutionKind}`.trim();

const thatRun = (way: Block["runs"]): readonly string[] =>
  blocks.filter(({ runs }) => runs === way).map(({ name }) => name);
const installed = (...path: readonly string[]): string => readFileSync(join(home, "node_modules", ...path), "utf8");
const stepsIn = (out: string): readonly string[] =>
  [...out.matchAll(/^booking the (\w+)/gm)].map(([, step]) => step ?? "");

let packed: Packed;
let home: string;

beforeAll(async () => {
  packed = await pack();
  home = await install(packed, uses);
}, 600_000);
/** `browser` maps modules of fp-ts, which no `exports` of ours can do. */
const mapsOfOthers = "USE_EXPORTS_OR_IMPORTS_BROWSER";

afterAll(() => rmSync(packed.folder, { recursive: true, force: true }), 120_000);

describe("a package that is published", { timeout: 600_000 }, () => {
  it("is used here, each one", () => {
    const names = readdirSync(uses).map((file) => file.replace(".ts", ""));
    expect([...packed.tarballs.keys()].toSorted()).toEqual(names.toSorted());
    expect(Object.keys(said).toSorted()).toEqual(names.toSorted());
  });

  it("is packed as registries and bundlers expect it", async () => {
    for (const [name, file] of packed.tarballs) {
      const { buffer } = Uint8Array.from(readFileSync(file));
      const { messages } = await publint({ pack: { tarball: buffer }, strict: true });
      const told = messages.filter(({ code }) => code !== mapsOfOthers);
      expect(told, name).toEqual([]);
    }
  });

  it("can be published, as `pnpm release` rehearses it", async () => {
    const release = join(root, "scripts/release.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [release, "--rehearse", packed.folder]);
    const published = stdout.split("\n").filter((line) => line !== "");
    const { version } = JSON.parse(readFileSync(join(root, "packages/runtime/package.json"), "utf8")) as {
      readonly version: string;
    };
    expect(published.toSorted()).toEqual(
      [...packed.tarballs.keys()].map((name) => `+ ${registered(name)}@${version}`).toSorted(),
    );
  });

  it("tells coding agents the rules, and where the docs are", () => {
    for (const name of packed.tarballs.keys())
      expect(installed(registered(name), "AGENTS.md")).toContain("@pawl/cli/docs");
    expect(installed("@pawl/runtime", "AGENTS.md")).toContain("asks for the same things in the same order");
    for (const page of ["tutorial", "tool-authoring", "errors"])
      expect(installed("@pawl/cli/docs", `${page}.md`)).toMatch(/^# /);
  });

  it("has types wherever it can be imported", async () => {
    const known = new Set(["NoResolution node10", "CJSResolvesToESM node16-cjs"]); // ESM alone, by way of `exports`.
    for (const [name, file] of packed.tarballs) {
      const checked = await checkPackage(createPackageFromTarballData(Uint8Array.from(readFileSync(file))));
      const problems = checked.types === false ? ["no types"] : checked.problems.map(wordsOf);
      expect(
        problems.filter((problem) => !known.has(problem)),
        name,
      ).toEqual([]);
    }
  });

  it.each(["nodenext", "bundler"] as const)("type-checks in an empty folder under %s", async (way) => {
    expect(await compile(home, way)).toBe("");
  });

  it.each([
    ["Node 24", process.execPath],
    ["Node 22", node22],
  ])(
    "runs in an empty folder under %s",
    async (_, node) => {
      for (const [name, out] of Object.entries(said)) expect(await use(node, home, name)).toBe(out);
    },
    600_000,
  );
});

describe("production", { timeout: 600_000 }, () => {
  it("installs at most 15 packages and 10 MB for a host: no flows, no MCP, no testkit, no command line", async () => {
    const { names, bytes } = await installedFor(packed, "driver-node");
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(15);
    expect(bytes, `${names.join(", ")}: ${bytes} bytes`).toBeLessThanOrEqual(10 * 1024 * 1024);
    const others = [
      "@pawl/cli",
      "@pawl/flow",
      "@pawl/testkit",
      "@modelcontextprotocol/server",
      "@pawl/journal-postgres",
    ];
    expect(names.filter((name) => others.includes(name))).toEqual([]);
  });

  it(
    "says the version of the command line in at most 2.5 times of what Node takes for nothing",
    { retry: 2 },
    async () => {
      const main = join(home, "node_modules/@pawl/cli/dist/main.js");
      expect(await timesLonger([main, "--version"], ["-e", "0"], 15)).toBeLessThanOrEqual(2.5);
    },
  );
});

describe("a new project", { timeout: 600_000 }, () => {
  it.each(["tool", "agent", "page", "mcp"])(
    "of the template %s passes its tests, which explore crashes",
    async (template) => {
      const main = join(home, "node_modules/create-pawl/dist/main.js");
      const folder = join(home, `made-${template}`);
      const node = promisify(execFile);
      const { stdout } = await node(process.execPath, [main, folder, "--template", template]);
      expect(stdout).toContain(`cd ${folder} && npm install && npm test && npm start`);
      expect(readFileSync(join(folder, "package.json"), "utf8")).not.toContain('"pawl"');
      const vitest = join(home, "node_modules/vitest/vitest.mjs");
      expect((await node(process.execPath, [vitest, "run"], { cwd: folder })).stdout).toContain("1 passed");
    },
  );

  it("of the template tool is served", async () => {
    const cli = join(home, "node_modules/@pawl/cli/dist/main.js");
    const host = spawn(process.execPath, [cli, "host", "--port", "0", "--json"], { cwd: join(home, "made-tool") });
    const [first]: readonly unknown[] = await once(host.stdout, "data");
    expect(JSON.parse(String(first).split("\n")[0] ?? "")).toMatchObject({ url: expect.stringMatching(/^ws:/) });
    host.kill("SIGTERM");
    expect(await once(host, "exit")).toEqual([0, null]);
  });
});

describe("the code of README and docs", { timeout: 600_000 }, () => {
  it.each(thatRun("node"))(
    "runs as it stands: %s",
    async (name) => {
      await use(process.execPath, home, name);
    },
    120_000,
  );

  it.each(thatRun("vitest"))(
    "passes under Vitest: %s",
    async (name) => {
      expect(await test(home, name)).toContain("passed");
    },
    120_000,
  );

  it.skipIf(!hasChromium)(
    hasChromium ? "runs as it stands in a page, if it is for one" : withoutChromium,
    async () => {
      const browser = await openChromium();
      try {
        expect(thatRun("browser").toSorted()).toEqual(Object.keys(inPages).toSorted());
        for (const [name, life] of Object.entries(inPages))
          expect([name, await liveInPage(browser, home, name, life.said.length)]).toEqual([
            name,
            { complaints: [], ...life },
          ]);
      } finally {
        await browser.close();
      }
    },
    300_000,
  );

  it("has the README's tool survive SIGKILL", async () => {
    const folder = mkdtempSync(join(home, "trip-"));
    const lives = [];
    for (const last of ["train", "hotel", undefined, undefined]) lives.push(await live(home, "readme-1", folder, last));
    expect(lives.map(stepsIn)).toEqual([["train"], ["train", "hotel"], ["hotel", "museum"], []]);
    expect(lives[3]).toContain("museum in Lviv");
  });
});
