/** The pages of the API reference. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { files, pathOf, textOf } from "../project.ts";
import { type Declared, besides, module } from "./module.ts";

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly exports: { readonly [path: string]: string };
}

/** The declarations behind an exported name; or the package that it is taken from. */
const declarationsOf = (file: string, name: string): readonly Declared[] | string => {
  const { exported, declared } = module(file);
  const { from, name: local } = exported.get(name) ?? { name };
  if (from === undefined) return withLocals(file, declared.get(local) ?? []);
  const next = besides(file, from);
  return next === undefined ? from : declarationsOf(next, local);
};

/** With the types of the same module that it is made of, where nobody else can name them. */
const withLocals = (file: string, found: readonly Declared[]): readonly Declared[] => {
  const { declared, exported } = module(file);
  const shown = new Set(found);
  for (const { text } of shown)
    for (const [name, all] of declared)
      if (!exported.has(name) && new RegExp(`\\b${name}\\b`).test(text)) for (const one of all) shown.add(one);
  return [...shown];
};

const fenced = (declarations: readonly Declared[]): string => {
  const texts = declarations.map(({ text, comment }, i) =>
    i > 0 && comment !== "" ? `/** ${comment} */\n${text}` : text,
  );
  return `\`\`\`ts\n${texts.join("\n")}\n\`\`\``;
};

const entryOf = (file: string, name: string): string => {
  const found = declarationsOf(file, name);
  if (typeof found === "string") return `### ${name}\n\nSee \`${found}\`.`;
  if (found.length === 0) throw new Error(`${file} exports ${name}, which is declared nowhere`);
  return [`### ${name}`, found[0]?.comment ?? "", fenced(found)].filter((part) => part !== "").join("\n\n");
};

const pageOf = (folder: string, { name, description, exports }: Manifest): string => {
  const parts = Object.entries(exports).flatMap(([path, source]) => {
    const file = `${folder}/${source.slice(2)}`;
    const names = [...module(file).exported.keys()].toSorted((a, b) => a.localeCompare(b, "en"));
    return [`## \`${name}${path.slice(1)}\``, ...names.map((one) => entryOf(file, one))];
  });
  return [`# ${name}`, `${description}.`, ...parts].join("\n\n") + "\n";
};

const fileOf = (folder: string): string => folder.replace("packages/", "") + ".md";

/** Each page by its file name. */
const pagesOf = (): ReadonlyMap<string, string> => {
  const manifests = files.filter((file) => /^packages\/[^/]+\/package\.json$/.test(file));
  const packages = manifests.map((file) => ({
    folder: file.replace("/package.json", ""),
    manifest: JSON.parse(textOf(file)) as Manifest,
  }));
  const pages = packages.map(({ folder, manifest }) => [fileOf(folder), pageOf(folder, manifest)] as const);
  const lines = packages.map(
    ({ folder, manifest }) => `- [${manifest.name}](${fileOf(folder)}): ${manifest.description}`,
  );
  return new Map([["index.md", `# API\n\nMade by \`pnpm api\`.\n\n${lines.join("\n")}\n`], ...pages]);
};

/** Writes all pages, as the formatter wants them. */
export const writePages = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pagesOf()) writeFileSync(join(folder, name), text);
  const formatter = pathOf("node_modules/.bin/oxfmt");
  execFileSync(formatter, ["-c", pathOf(".oxfmtrc.json"), folder], { cwd: pathOf("."), stdio: "ignore" });
};
