/** An empty folder into which every package is installed from its tarball, as a stranger would. */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../project.ts";
import { blocks } from "./block.ts";

const run = promisify(execFile);
export interface Packed {
  readonly folder: string;
  /** Of each package, by its name without the organisation. */
  readonly tarballs: ReadonlyMap<string, string>;
}

/** Returns the name that a package has in the registry. */
export const registered = (name: string): string => (name.includes("pawl") ? name : `@pawl/${name}`);

/** Builds all packages and packs them. */
export const pack = async (): Promise<Packed> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-pack-"));
  await run(process.execPath, [join(root, "scripts/tarballs.ts"), folder]);
  const tarballs = readdirSync(folder).map((file) => {
    const name = /^(?:pawl-)?(?<name>.+)-\d+\.\d+\.\d+\.tgz$/.exec(file)?.groups?.["name"];
    return [name ?? file, join(folder, file)] as const;
  });
  return { folder, tarballs: new Map(tarballs) };
};

const compilerOptions = {
  target: "ES2023",
  lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
};
const ways = {
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext", rootDir: "use", outDir: "out" },
  bundler: { module: "ESNext", moduleResolution: "Bundler", noEmit: true },
};

/** What a stranger's project may have besides. */
const tools = { "@types/node": "^24.0.0", "fp-ts": "^2.16.11", vite: "^8.0.0", vitest: "^5.1.0" };

/** Programs of some 300 MB that an SDK brings: no use starts them. */
const programsOfOthers = ["@anthropic-ai/claude-agent-sdk-*"];

/** Installs the tarballs, and whatever they depend on, beside what uses them. */
export const install = async ({ folder, tarballs }: Packed, uses: string): Promise<string> => {
  const home = join(folder, "home");
  mkdirSync(home);
  cpSync(uses, join(home, "use"), { recursive: true });
  for (const { name, text } of blocks) writeFileSync(join(home, "use", `${name}.ts`), text);
  const packed = Object.fromEntries([...tarballs].map(([name, file]) => [registered(name), `file:${file}`]));
  const write = (file: string, content: unknown): void => writeFileSync(join(home, file), JSON.stringify(content));
  write("package.json", { type: "module", dependencies: { ...packed, ...tools } });
  write("pnpm-workspace.yaml", { overrides: packed, ignoredOptionalDependencies: programsOfOthers });
  for (const [way, options] of Object.entries(ways)) {
    write(`tsconfig.${way}.json`, { compilerOptions: { ...compilerOptions, ...options }, include: ["use"] });
  }
  await run("npx", ["-y", "pnpm@12", "install", "--prefer-offline"], { cwd: home });
  return home;
};

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );

/** Installs one package for production, without what it can do without, and returns what that brings. */
export const installedFor = async (
  { folder, tarballs }: Packed,
  name: string,
): Promise<{ readonly names: readonly string[]; readonly bytes: number }> => {
  const home = join(folder, `production-${name}`);
  mkdirSync(home);
  const packed = Object.fromEntries([...tarballs].map(([own, file]) => [registered(own), `file:${file}`]));
  const own = registered(name);
  writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module", dependencies: { [own]: packed[own] } }));
  writeFileSync(join(home, "pnpm-workspace.yaml"), JSON.stringify({ overrides: packed, nodeLinker: "hoisted" }));
  await run("npx", ["-y", "pnpm@12", "install", "--prod", "--prefer-offline"], { cwd: home });
  const manifests = filesBelow(join(home, "node_modules")).filter((file) =>
    /node_modules\/(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(file),
  );
  const names = manifests.map((file) => (JSON.parse(readFileSync(file, "utf8")) as { readonly name: string }).name);
  const bytes = filesBelow(join(home, "node_modules")).reduce((sum, file) => sum + statSync(file).size, 0);
  return { names: names.toSorted(), bytes };
};

const secondsOf = async (args: readonly string[]): Promise<number> => {
  const start = performance.now();
  await run(process.execPath, [...args]);
  return (performance.now() - start) / 1000;
};

/** Returns how many times longer Node takes with some arguments than with others, in turns: the shortest of several times each. */
export const timesLonger = async (args: readonly string[], than: readonly string[], times: number): Promise<number> => {
  let [shortest, shortestOfOther] = [Infinity, Infinity];
  for (let i = 0; i < times; i++) {
    shortestOfOther = Math.min(shortestOfOther, await secondsOf(than));
    shortest = Math.min(shortest, await secondsOf(args));
  }
  return shortest / shortestOfOther;
};

/** SDKs whose own types do not hold under `exactOptionalPropertyTypes`. What is said of theirs is not of ours. */
const ofOthers = /^node_modules\/\.pnpm\/(?:ai|@ai-sdk\+[\w-]+|@openai\+agents[\w-]*|@anthropic-ai\+[\w-]+)@/;

/** Leaves out what is said of the types of others: each error is a line, and lines below it that are indented. */
const withoutOthers = (said: string): string =>
  said
    .split(/^(?=\S)/m)
    .filter((error) => !ofOthers.test(error))
    .join("");

/** Returns what the compiler says of the uses. */
export const compile = async (home: string, way: keyof typeof ways): Promise<string> => {
  const tsc = join(root, "node_modules/.bin/tsc");
  return run(tsc, ["-p", `tsconfig.${way}.json`], { cwd: home }).then(
    () => "",
    (error: { readonly stdout: string }) => withoutOthers(error.stdout),
  );
};

/** Returns what a use says, when it ends by itself. */
export const use = async (node: string, home: string, name: string): Promise<string> =>
  (await run(node, [join(home, "out", `${name}.js`)], { cwd: home, timeout: 60_000 })).stdout.trim();

/** A module of tests, under Vitest. */
export const test = async (home: string, name: string): Promise<string> =>
  (await run(join(home, "node_modules/.bin/vitest"), ["run", "--dir", "out", name], { cwd: home })).stdout;

/** A process that is killed with SIGKILL as soon as it says the last word, or ends by itself. */
export const live = async (home: string, name: string, cwd: string, lastWord?: string): Promise<string> => {
  const life = spawn(process.execPath, [join(home, "out", `${name}.js`)], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  for await (const text of life.stdout.setEncoding("utf8")) {
    said += text as string;
    if (lastWord !== undefined && said.includes(lastWord)) life.kill("SIGKILL");
  }
  return said;
};
