/** What a page of its own downloads and waits for: its start, the engine, and the time to its first reply. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { type OutputChunk, build } from "rolldown";
import { hasChromium, openChromium } from "../../test/runtime/chromium.ts";
import type { Figure, Measurement } from "./figure.ts";

const driver = resolve(import.meta.dirname, "../../packages/driver-browser");

/** A page with a tool of its own that makes one call when it is loaded. */
const page = `
import { openTab } from "@pawl/driver-browser";
import { defineTool } from "@pawl/runtime";
const execute = (_, ctx) => ctx.run("step", () => 1);
const tab = openTab({ name: "size", tools: [defineTool({ name: "t", durable: true, execute })] });
const first = async () => {
  const session = await (await (await tab).runtime()).session("first");
  const [reply] = await session.request("r", [{ label: "c", tool: "t", args: {} }]);
  return { outcome: reply.output.outcome, ms: performance.now() };
};
globalThis.pawl = { defineTool, tab, first: first() };
`;

export interface PageFiles {
  /** The files that the page loads at once; the first is its own. */
  readonly start: ReadonlyMap<string, string>;
  /** The files that `import()` of the start loads: the engine. */
  readonly later: ReadonlyMap<string, string>;
  /** The files that `import()` of the engine loads, for what few pages do. */
  readonly rare: ReadonlyMap<string, string>;
}

/** Returns a file with those that are loaded along with it. */
const along = (name: string, chunks: ReadonlyMap<string, OutputChunk>, found = new Set<string>()): Set<string> => {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of chunks.get(name)?.imports ?? []) along(other, chunks, found);
  return found;
};

/**
 * The files of the page by their names, minified by rolldown. Hashes in names would be noise: with one or another in an
 * import, the same code takes up to 0.1 KB more or less when it is compressed.
 */
export const pageFiles = async (): Promise<PageFiles> => {
  const folder = mkdtempSync(join(driver, "dist-size-"));
  try {
    const input = join(folder, "page.js");
    writeFileSync(input, page.replace("@pawl/driver-browser", "../src/index.ts"));
    const { output } = await build({
      input,
      platform: "browser",
      output: { format: "esm", minify: true, comments: false, chunkFileNames: "[name].js" },
      write: false,
      logLevel: "warn",
    });
    const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
    const first = along(output[0].fileName, chunks);
    const asked = [...first].flatMap((name) => chunks.get(name)?.dynamicImports ?? []);
    const engine = asked.reduce((found, name) => along(name, chunks, found), new Set(first));
    const codes = [...chunks].map(([name, { code }]) => [name, code] as const);
    return {
      start: new Map(codes.filter(([name]) => first.has(name))),
      later: new Map(codes.filter(([name]) => engine.has(name) && !first.has(name))),
      rare: new Map(codes.filter(([name]) => !engine.has(name))),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Each file compressed by brotli, in units of 1,024 bytes. */
export const kbOf = (codes: ReadonlyMap<string, string>): number =>
  [...codes.values()].reduce((sum, code) => sum + brotliCompressSync(code).length / 1024, 0);

const html = (script: string): string => `<!doctype html><script type="module" src="/${script}"></script>`;

/** As many bytes as the files have, in one module that only says when it ran. */
const emptyModule = ({ start, later }: PageFiles): string => {
  const said = "globalThis.pawl = { first: { ms: performance.now() } };\n";
  const bytes = [...start.values(), ...later.values()].reduce((sum, code) => sum + Buffer.byteLength(code), 0);
  return `${said}//${"x".repeat(bytes - said.length - 2)}`;
};

const serve = async (files: PageFiles): Promise<Server> => {
  const [own] = files.start.keys();
  const scripts = new Map([...files.start, ...files.later, ...files.rare, ["empty.js", emptyModule(files)] as const]);
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    const script = scripts.get(name);
    const type = script === undefined ? "text/html" : "text/javascript";
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    response.end(script ?? html(name === "empty" ? "empty.js" : (own ?? "")));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return server;
};

/** Loads pages in a browser that has nothing of them yet. */
class FirstCalls {
  #opened: Promise<readonly [Browser, Server]> | undefined;

  async #msOf(path: string): Promise<number> {
    this.#opened ??= pageFiles().then(async (files) => Promise.all([openChromium(), serve(files)]));
    const [browser, server] = await this.#opened;
    const context = await browser.newContext();
    try {
      const opened = await context.newPage();
      await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
      return await opened.evaluate<number>("pawl.first.then ? pawl.first.then(({ ms }) => ms) : pawl.first.ms");
    } finally {
      await context.close();
    }
  }

  async round(): Promise<Measurement> {
    return { floor: await this.#msOf("empty"), value: await this.#msOf("page") };
  }

  close(): void {
    void this.#opened?.then(([browser, server]) => {
      server.close();
      return browser.close();
    });
    this.#opened = undefined; // A figure that is measured again opens another browser.
  }
}

const firstCalls = new FirstCalls();

const firstCall: Figure = {
  name: "browser.first_call_ms",
  what: "from the navigation to the reply of a call of one step, nothing cached, beside an empty module of the same bytes",
  unit: "ms",
  bound: 5.1, // 1.2 × 4.23, measured on 2026-11-20 on an idle machine of two cores; the aim is 2.0.
  round: () => firstCalls.round(),
  close: () => firstCalls.close(),
};

export const browserFigures: readonly Figure[] = [
  {
    name: "browser.start_kb",
    what: "what a page with a tool starts with, minified by rolldown, compressed by brotli",
    unit: "KB",
    bound: 20,
    rounds: 1,
    round: async () => ({ value: kbOf((await pageFiles()).start), floor: 1 }),
  },
  {
    name: "browser.engine_kb",
    what: "what it loads when it opens a tab: core, runtime and the driver's engine",
    unit: "KB",
    bound: 176,
    rounds: 1,
    round: async () => ({ value: kbOf((await pageFiles()).later), floor: 1 }),
  },
  ...(hasChromium ? [firstCall] : []),
];
