/** What a module declares: its exports with their comments, as a compiler would write them for those who import it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { parseAst } from "rolldown/parseAst";
import { textOf } from "../project.ts";

export interface Declared {
  readonly file: string;
  readonly name: string;
  /** The comment before it, without its stars. */
  readonly comment: string;
  readonly text: string;
}

/** A name that a module exports: declared there, or taken from elsewhere. */
type Exported = { readonly from?: string; readonly name: string };

export interface Module {
  readonly comment: string;
  readonly exported: ReadonlyMap<string, Exported>;
  /** Where all that it hands on comes from. */
  readonly handedOn: readonly string[];
  /** What it takes from elsewhere to declare things with. */
  readonly imported: ReadonlyMap<string, Exported>;
  /** Types that are another module's under the same name, by way of its namespace. */
  readonly taken: ReadonlyMap<string, Exported>;
  /** Also what is not exported; a name may stand for a type and a value. */
  readonly declared: ReadonlyMap<string, readonly Declared[]>;
}

type Node = ReturnType<typeof parseAst>["body"][number];

const plain = (comment: string): string =>
  comment
    .replaceAll(/^\/\*\*|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .trim();

const nameIn = (node: { readonly type: string; readonly name?: unknown; readonly value?: unknown }): string =>
  String(node.name ?? node.value);

/** Returns what a statement declares, whether it is exported or not. */
const declarationOf = (node: Node): { readonly name: string } | undefined => {
  const declaration = node.type === "ExportNamedDeclaration" ? node.declaration : node;
  if (declaration === null) return undefined;
  if ("id" in declaration && declaration.id !== null && "name" in declaration.id)
    return { name: nameIn(declaration.id) };
  if (declaration.type !== "VariableDeclaration") return undefined;
  const [declarator] = declaration.declarations;
  return declarator === undefined ? undefined : { name: nameIn(declarator.id as never) };
};

const cleaned = (text: string): string =>
  text
    .replace(/^export /, "")
    .replace(/^declare /, "")
    .replaceAll(/^\t#private;\n/gm, "")
    .replaceAll("\t", "  ");

/** `type A = m.A;`, where `m` is another module of the same package. */
const takenIn = (text: string, spaces: ReadonlyMap<string, string>): Exported | undefined => {
  const { name = "", space = "" } = /^type (?<name>\w+) = (?<space>\w+)\.\k<name>;$/.exec(text)?.groups ?? {};
  const from = spaces.get(space);
  return from?.startsWith(".") === true ? { name, from } : undefined;
};

/** Drops namespaces of the same package, and spells out those of others. */
const withoutSpaces = (text: string, spaces: ReadonlyMap<string, string>): string =>
  [...spaces].reduce((rest, [space, from]) => {
    const spelled = from.startsWith(".") ? "" : `import("${from}").`;
    return rest.replaceAll(new RegExp(`\\b${space}\\.(?=[A-Z])`, "g"), spelled);
  }, text);

const moduleOf = (file: string): Module => {
  const { code } = isolatedDeclarationSync(file, textOf(file), { stripInternal: true });
  const exported = new Map<string, Exported>();
  const imported = new Map<string, Exported>();
  const declared = new Map<string, Declared[]>();
  const taken = new Map<string, Exported>();
  const spaces = new Map<string, string>();
  const handedOn: string[] = [];
  const comments = [...code.matchAll(/\/\*\*[\s\S]*?\*\//g)];
  const commentBefore = (start: number): string => {
    const last = comments.findLast(
      ({ index, 0: text }) => code.slice(index + text.length, start).trim() === "" && index < start,
    );
    return plain(last?.[0] ?? "");
  };
  for (const node of parseAst(code, { lang: "dts" }, "module.d.ts").body) {
    const declaration = declarationOf(node);
    if (declaration !== undefined) {
      const { name } = declaration;
      const text = cleaned(code.slice(node.start, node.end));
      const elsewhere = takenIn(text, spaces);
      if (elsewhere !== undefined) taken.set(name, elsewhere);
      else {
        const made = { file, name, comment: commentBefore(node.start), text: withoutSpaces(text, spaces) };
        declared.set(name, [...(declared.get(name) ?? []), made]);
      }
    }
    if (node.type === "ImportDeclaration")
      for (const one of node.specifiers) {
        const from = node.source.value;
        if (one.type === "ImportSpecifier") imported.set(one.local.name, { name: nameIn(one.imported), from });
        if (one.type === "ImportNamespaceSpecifier" && (besides(file, from) !== undefined || !from.startsWith(".")))
          spaces.set(one.local.name, from);
      }
    if (node.type === "ExportAllDeclaration") handedOn.push(node.source.value);
    if (node.type !== "ExportNamedDeclaration") continue;
    if (declaration !== undefined) exported.set(declaration.name, declaration);
    const from = node.source?.value;
    for (const { local, exported: as } of node.specifiers)
      exported.set(nameIn(as), { name: nameIn(local), ...(from === undefined ? {} : { from }) });
  }
  const [first] = comments;
  const comment = first !== undefined && first.index === 0 ? plain(first[0]) : "";
  return { comment, exported, handedOn, imported, taken, declared };
};

const modules = new Map<string, Module>();
export const module = (file: string): Module => {
  const known = modules.get(file) ?? moduleOf(file);
  modules.set(file, known);
  return known;
};

/** Where a module finds another of the same package. */
export const besides = (file: string, from: string): string | undefined => {
  const path = join(dirname(file), from);
  return from.startsWith(".") && existsSync(path) ? path : undefined;
};
