/** The source files of the packages, parsed: imports by value, exported names, comments and functions. */
import { dirname, join, normalize } from "node:path";
import { type ESTree, parseSync } from "rolldown/utils";
import { files, textOf } from "../project.ts";

export interface Source {
  readonly file: string;
  readonly lines: number;
  /** The files of the same package that it needs at run time: imported, handed on, or loaded with `import()`. */
  readonly imports: readonly string[];
  readonly comments: readonly Comment[];
}

export interface Comment {
  readonly line: number;
  /** Without its slashes, stars and indentation. */
  readonly text: string;
}

export interface FunctionLength {
  readonly file: string;
  readonly line: number;
  readonly lines: number;
}

export const sourceFiles: readonly string[] = files.filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file));

const parsed = (file: string) => {
  const { program, module, comments, errors } = parseSync(file, textOf(file));
  if (errors[0] !== undefined) throw new Error(`${file} does not parse: ${errors[0].message}`);
  return { program, module, comments };
};

/** Returns the line of an offset; offsets are asked for in rising order. */
const lineCounter = (text: string): ((offset: number) => number) => {
  let line = 1;
  let at = 0;
  return (offset) => {
    for (; at < offset; at++) if (text[at] === "\n") line += 1;
    return line;
  };
};

const plain = (comment: string): string => comment.replaceAll(/^[*\s]+|\s+$/g, "").replaceAll(/\s*\n\s*\* ?/g, " ");

const beside = (file: string, specifier: string): readonly string[] =>
  specifier.startsWith(".") ? [normalize(join(dirname(file), specifier))] : [];

/** Reads one file. Imports and exports of types alone leave no trace at run time and are left out. */
export const sourceOf = (file: string): Source => {
  const text = textOf(file);
  const { module, comments } = parsed(file);
  const imported = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const handedOn = module.staticExports
    .flatMap(({ entries }) => entries.filter(({ isType }) => !isType))
    .flatMap(({ moduleRequest }) => (moduleRequest == null ? [] : [moduleRequest.value]));
  const loaded = module.dynamicImports
    .map(({ moduleRequest: { start, end } }) => text.slice(start, end))
    .filter((specifier) => /^["']/.test(specifier))
    .map((specifier) => specifier.slice(1, -1));
  const imports = [...new Set([...imported, ...handedOn, ...loaded].flatMap((name) => beside(file, name)))];
  const lineAt = lineCounter(text);
  const said = comments.map(({ start, value }) => ({ line: lineAt(start), text: plain(value) }));
  return { file, lines: text.split("\n").length - 1, imports, comments: said };
};

/** Lists the names that a module exports, types included, with those of the modules of which it hands all on. */
export const exportedFrom = (file: string): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const { exportName, importName, moduleRequest } of parsed(file).module.staticExports.flatMap(
    (one) => one.entries,
  )) {
    if (exportName.name != null) names.add(exportName.name);
    if (importName.kind !== "AllButDefault" || moduleRequest == null) continue;
    const [next] = beside(file, moduleRequest.value);
    if (next === undefined) throw new Error(`${file} hands on all of ${moduleRequest.value}, which is no file of it`);
    for (const name of exportedFrom(next)) names.add(name);
  }
  return names;
};

const isNode = (value: unknown): value is ESTree.Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const isFunction = ({ type }: ESTree.Node): boolean =>
  type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";

/** Yields the functions below a node of the syntax tree, outer ones before inner ones. */
export function* functionsBelow(node: ESTree.Node): Generator<ESTree.Node> {
  if (isFunction(node)) yield node;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* functionsBelow(child);
}

/** Measures each function of a file from its first line to its last, inner functions included in outer ones. */
export const functionsOf = (file: string): readonly FunctionLength[] => {
  const text = textOf(file);
  const lineAt = lineCounter(text);
  return [...functionsBelow(parsed(file).program)].map(({ start, end }) => {
    const lines = text.slice(start, end).split("\n").length;
    return { file, line: lineAt(start), lines };
  });
};
