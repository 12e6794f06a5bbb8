/** A new project: the files of a template, with the project's name and the version of pawl in them. */
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const own = join(import.meta.dirname, "..");

/** The templates of a project, and the purpose of each. */
export const templates = {
  tool: "a host with a tool that survives and asks",
  agent: "a chat server of the AI SDK that goes on in mid-word",
  page: "a page whose tool survives a reload",
  mcp: "a tool for MCP clients",
} as const;

export type Template = keyof typeof templates;

/** Refuses a folder or a template, with what was found and what was expected. */
export class CannotCreate extends Error {
  override readonly name = "CannotCreate";
}

const isTemplate = (name: string): name is Template => Object.hasOwn(templates, name);

/** Returns the name that a package may have. */
const packageName = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-._]+/g, "-")
    .replace(/^[-._]+/, "") || "pawl-project";

/** Files whose names npm would not pack as they are. */
const renamed: readonly (readonly [string, string])[] = [["gitignore", ".gitignore"]];

/** Writes a new project into a folder that is empty or missing. */
export const createProject = (folder: string, template: string): void => {
  if (!isTemplate(template))
    throw new CannotCreate(`expected one of the templates ${Object.keys(templates).join(", ")}, found \`${template}\``);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new CannotCreate(`expected an empty folder, or none, found files in ${folder}`);
  cpSync(join(own, "template", template), folder, { recursive: true });
  for (const [from, to] of renamed) renameSync(join(folder, from), join(folder, to));
  const manifest = join(folder, "package.json");
  const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as { readonly version: string };
  const text = readFileSync(manifest, "utf8");
  writeFileSync(
    manifest,
    text.replace('"name": "project"', `"name": "${packageName(folder)}"`).replaceAll('"pawl"', `"^${version}"`),
  );
};
