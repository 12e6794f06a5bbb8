/** An empty folder into which every package is installed from its tarball, as a stranger would. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../project.ts";

const run = promisify(execFile);
const pnpm = (cwd: string, ...args: readonly string[]) => run("npx", ["-y", "pnpm@12", ...args], { cwd });

export interface Packed {
  readonly folder: string;
  /** Of each package, by its name without the organisation. */
  readonly tarballs: ReadonlyMap<string, string>;
}

/** Builds all packages and packs them. */
export const pack = async (): Promise<Packed> => {
  await pnpm(root, "build");
  const folder = mkdtempSync(join(tmpdir(), "pawl-pack-"));
  await pnpm(root, "--recursive", "--filter", "./packages/*", "pack", "--pack-destination", folder);
  const tarballs = readdirSync(folder).map((file) => {
    const name = /^pawl-(?<name>.+)-\d+\.\d+\.\d+\.tgz$/.exec(file)?.groups?.["name"];
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

/** Installs the tarballs, and whatever they depend on, beside what uses them. */
export const install = async ({ folder, tarballs }: Packed, uses: string): Promise<string> => {
  const home = join(folder, "home");
  mkdirSync(home);
  cpSync(uses, join(home, "use"), { recursive: true });
  const packed = Object.fromEntries([...tarballs].map(([name, file]) => [`@pawl/${name}`, `file:${file}`]));
  const write = (file: string, content: unknown): void => writeFileSync(join(home, file), JSON.stringify(content));
  write("package.json", { type: "module", dependencies: { ...packed, "@types/node": "^24.0.0", "fp-ts": "^2.16.11" } });
  write("pnpm-workspace.yaml", { overrides: packed });
  for (const [way, options] of Object.entries(ways)) {
    write(`tsconfig.${way}.json`, { compilerOptions: { ...compilerOptions, ...options }, include: ["use"] });
  }
  await pnpm(home, "install", "--prefer-offline");
  return home;
};

/** What the compiler says of the uses. */
export const compile = async (home: string, way: keyof typeof ways): Promise<string> => {
  const tsc = join(root, "node_modules/.bin/tsc");
  return run(tsc, ["-p", `tsconfig.${way}.json`], { cwd: home }).then(
    () => "",
    (error: { readonly stdout: string }) => error.stdout,
  );
};

/** What a use says, when it ends by itself. */
export const use = async (node: string, home: string, name: string): Promise<string> =>
  (await run(node, [join(home, "out", `${name}.js`)], { cwd: home, timeout: 60_000 })).stdout.trim();
