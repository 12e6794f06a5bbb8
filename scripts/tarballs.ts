/**
 * `pnpm tarballs FOLDER`: builds and packs every package, for `npm install FOLDER/*.tgz`. Each brings an `AGENTS.md` for coding
 * agents, and `@pawl/cli` the docs: a tool of development may be large, what a host installs may not.
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const [to] = process.argv.slice(2);
if (to === undefined) {
  console.error("pnpm tarballs: name a folder, as in `pnpm tarballs ../tarballs`.");
  process.exit(2);
}
const folder = resolve(process.env["INIT_CWD"] ?? ".", to);
mkdirSync(folder, { recursive: true });
const root = resolve(import.meta.dirname, "..");
const pnpm = (...args: readonly string[]): void => {
  execFileSync("npx", ["-y", "pnpm@12", ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
};

/** The skill without its head, which only tools for skills read. */
const skill = readFileSync(join(root, "skills/pawl/SKILL.md"), "utf8").replace(/^---\n[\s\S]*?\n---\n+/, "");
const pointer = `Rules for coding agents: AGENTS.md of @pawl/runtime. All docs: node_modules/@pawl/cli/docs (\`npm install -D @pawl/cli\`),
beginning with tutorial.md, tool-authoring.md and errors.md. What this package exports: README.md and dist/index.d.ts.
`;

/** Left out of the docs of a package: what is built, what is large, and what explains the code of pawl itself. */
const isLeftOut = (path: string): boolean => /docs\/(?:api|pictures|walk\.md|index\.md)/.test(path);

const writeForAgents = (): void => {
  for (const own of globSync("packages/*", { cwd: root })) {
    const name = basename(own);
    const text = name === "runtime" ? `${skill}\n${pointer}` : `# ${name}, a package of pawl\n\n${pointer}`;
    writeFileSync(join(root, own, "AGENTS.md"), text);
  }
  const docs = join(root, "packages/cli/docs");
  rmSync(docs, { recursive: true, force: true });
  cpSync(join(root, "docs"), docs, { recursive: true, filter: (path) => !isLeftOut(path) });
};

interface Manifest {
  readonly publishConfig?: { readonly exports?: { readonly [path: string]: { readonly types?: string } | string } };
}

/** Removes the declarations that no entry of a package reaches: nobody can see them, and a host would install them. */
const prune = (own: string): void => {
  const at = join(root, own);
  const { publishConfig } = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as Manifest;
  const entries = Object.values(publishConfig?.exports ?? {}).flatMap((entry) =>
    typeof entry === "string" || entry.types === undefined ? [] : [join(at, entry.types)],
  );
  const reached = new Set(entries);
  for (const file of reached)
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\(|import )"(\.[^"]+)"/g))
      reached.add(join(dirname(file), from.replace(/(?:\.d)?\.[jt]s$/, ".d.ts")));
  for (const file of globSync("dist/**/*.d.ts", { cwd: at }))
    if (entries.length > 0 && !reached.has(join(at, file))) rmSync(join(at, file));
};

pnpm("build");
for (const own of globSync("packages/*", { cwd: root })) prune(own);
writeForAgents();
pnpm("--recursive", "--filter", "./packages/*", "pack", "--pack-destination", folder);
console.log(`packed into ${folder}`);
