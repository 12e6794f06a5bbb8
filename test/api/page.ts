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

interface Behind {
  readonly file: string;
  readonly found: readonly Declared[];
}

/** The declarations behind a name that a module exports or imports, with their file; or the package that they are of. */
const behind = (file: string, name: string): Behind | string => {
  const { exported, imported, taken, declared } = module(file);
  const { from, name: local } = exported.get(name) ?? imported.get(name) ?? { name };
  if (from !== undefined) return behindIn(file, from, local);
  const found = declared.get(local) ?? [];
  const source = found.length === 0 ? imported.get(local) : undefined;
  if (source?.from !== undefined) return behindIn(file, source.from, source.name);
  const other = taken.get(local);
  if (other?.from === undefined) return { file, found };
  const type = behindIn(file, other.from, local);
  return typeof type === "string" ? type : { file: type.file, found: [...type.found, ...found] };
};

const behindIn = (file: string, from: string, name: string): Behind | string => {
  const next = besides(file, from);
  return next === undefined ? from : behind(next, name);
};

const isType = ({ text }: Declared): boolean => /^(?:interface|type|(?:abstract )?class)\b/.test(text);

/** Returns what others of the same module are made of: what nobody else can name, and types that no page shows. */
const localsOf = (file: string, shown: ReadonlySet<Declared>): readonly Declared[] => {
  const { declared, exported } = module(file);
  return [...declared].flatMap(([name, ones]) => {
    if (!exported.has(name)) return ones;
    return ones.some((one) => shown.has(one)) ? [] : ones.filter(isType);
  });
};

const withLocals = (file: string, found: readonly Declared[], shown: ReadonlySet<Declared>): readonly Declared[] => {
  const locals = localsOf(file, shown);
  const all = new Set(found);
  for (const { text } of all)
    for (const local of locals) if (new RegExp(`\\b${local.name}\\b`).test(text)) all.add(local);
  return [...all];
};

const parentsIn = (text: string): readonly string[] =>
  /\bextends\s+(?<names>[^{]+)\{/
    .exec(text)
    ?.groups?.["names"]?.replaceAll(/\b(?:Pick|Omit)<(?<of>\w+)[^>]*>/g, "$<of>")
    .replaceAll(/<[^>]*>/g, "")
    .split(",")
    .map((name) => name.trim()) ?? [];

/** With the interfaces of other modules that these extend, where no page shows them. */
const withParents = (file: string, found: readonly Declared[], shown: ReadonlySet<Declared>): readonly Declared[] => {
  const all = withLocals(file, found, shown);
  const parents = all.flatMap(({ text }) => parentsIn(text)).filter((name) => module(file).imported.has(name));
  const theirs = parents.flatMap((name) => {
    const parent = behind(file, name);
    if (typeof parent === "string" || parent.found.some((one) => shown.has(one))) return [];
    return withParents(parent.file, parent.found, shown);
  });
  return [...new Set([...all, ...theirs])];
};

/** A member of a class or an interface, as its text has it. */
const memberIn = (text: string, name: string): string | undefined =>
  new RegExp(`^ {2}(?:readonly )?${name}\\b(?:[^\\n]*;$|[^\\n]*\\n[\\s\\S]*?^ {2}\\}[^\\n]*;$)`, "m").exec(text)?.[0];

/** `readonly start: Verbs["start"];` is what `Verbs` has there, where no page shows that; with the types that this takes. */
const spelled = (one: Declared, shown: ReadonlySet<Declared>): readonly Declared[] => {
  const locals: Declared[] = [];
  const { file } = one;
  const text = one.text.replaceAll(/^ {2}readonly \w+: (?<of>\w+)\["(?<member>\w+)"\];$/gm, (line, of, member) => {
    const known = module(file).imported.has(of) ? behind(file, of) : undefined;
    const [type] = typeof known === "object" ? known.found : [];
    const found = type === undefined || shown.has(type) ? undefined : memberIn(type.text, member);
    if (type === undefined || found === undefined) return line;
    locals.push(...withLocals(type.file, [{ ...type, text: found }], shown).slice(1));
    return found;
  });
  return [{ ...one, text }, ...locals];
};

const fenced = (declarations: readonly Declared[]): string => {
  const texts = declarations.map(({ text, comment }, i) =>
    i > 0 && comment !== "" ? `/** ${comment} */\n${text}` : text,
  );
  return `\`\`\`ts\n${texts.join("\n")}\n\`\`\``;
};

const entryOf = (file: string, name: string, shown: ReadonlySet<Declared>): string => {
  const known = behind(file, name);
  if (typeof known === "string") return `### ${name}\n\nSee \`${known}\`.`;
  if (known.found.length === 0) throw new Error(`${file} exports ${name}, which is declared nowhere`);
  const spelt = withParents(known.file, known.found, shown).flatMap((one) => spelled(one, shown));
  const declarations = spelt.filter(({ text }, i) => spelt.findIndex((other) => other.text === text) === i);
  return [`### ${name}`, known.found[0]?.comment ?? "", fenced(declarations)]
    .filter((part) => part !== "")
    .join("\n\n");
};

const pageOf = (folder: string, { name, description, exports }: Manifest): string => {
  const parts = Object.entries(exports).flatMap(([path, source]) => {
    const file = `${folder}/${source.slice(2)}`;
    const names = [...module(file).exported.keys()].toSorted((a, b) => a.localeCompare(b, "en"));
    const known = names.map((one) => behind(file, one));
    const shown = new Set(known.flatMap((one) => (typeof one === "string" ? [] : one.found.slice(0, 1))));
    const all = module(file).handedOn.map((from) => `All of \`${from}\`.`);
    return [`## \`${name}${path.slice(1)}\``, ...all, ...names.map((one) => entryOf(file, one, shown))];
  });
  return [`# ${name}`, `${description}.`, ...parts].join("\n\n") + "\n";
};

/** The names that most programs need first, by the task at hand. */
const beginnings: readonly (readonly [string, string, readonly string[]])[] = [
  ["Write tools", "runtime", ["defineTool", "ToolDefinition", "ToolContext", "StepInfo", "ToolError", "EffectError"]],
  ["Run them in Node", "driver-node", ["openRuntime", "OpenOptions", "openHost", "HostOptions"]],
  ["Run them in a tab", "driver-browser", ["openTab", "OpenTabOptions", "attachWorker"]],
  ["Call them", "runtime", ["Runtime", "Session", "Approval", "Observation", "HostPort"]],
  ["Call them from elsewhere", "wire", ["Client", "SessionClient", "HostRefused"]],
  ["Test them", "testkit", ["exploreCrashes", "simulate", "exploreSchedules", "Scenario", "callsOf"]],
  ["Run them in the background", "tools", ["sessionTools", "SessionToolOptions"]],
  ["Write flows", "flow", ["flow", "use", "when", "each", "par", "programTools"]],
  ["Write a driver or a store", "runtime", ["Platform", "Journal", "BlobStore", "ValueCodec"]],
  ["Read logs", "sansio-core", ["replay", "feed", "step", "State", "why"]],
];

const beginningOf = ([who, page, names]: (typeof beginnings)[number]): string => {
  const { exports } = JSON.parse(textOf(`packages/${page}/package.json`)) as Manifest;
  const entries = Object.values(exports).map((source) => module(`packages/${page}/${source.slice(2)}`));
  const missing = names.find((name) => !entries.some(({ exported }) => exported.has(name)));
  if (missing !== undefined) throw new Error(`@pawl/${page} exports no ${missing}, with which the index would begin`);
  return `- ${who}: ${names.map((name) => `[${name}](${page}.md#${name.toLowerCase()})`).join(", ")}`;
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
  const begin = ["Where to begin:", beginnings.map(beginningOf).join("\n"), "All of it:", lines.join("\n")];
  return new Map([["index.md", `${["# API", "Made by `pnpm api`.", ...begin].join("\n\n")}\n`], ...pages]);
};

/** Writes all pages, as the formatter wants them. */
export const writePages = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pagesOf()) writeFileSync(join(folder, name), text);
  const formatter = pathOf("node_modules/.bin/oxfmt");
  execFileSync(formatter, ["-c", pathOf(".oxfmtrc.json"), folder], { cwd: pathOf("."), stdio: "ignore" });
};
