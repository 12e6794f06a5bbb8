/** Names that programs do not need leave `@pawl/runtime` for `@pawl/runtime/driver`. */
import type { Node } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import type { Source } from "../source.ts";

const from = "@pawl/runtime";
const to = "@pawl/runtime/driver";

const moved = new Set(
  `AwaitingPage CancelledProcess Engine EngineRun Engines Ephemeral HostRun LambdaInput LiveTool LongWorkFacets MessageFilter
  Offer OfferedRun Patience Probe ProcessHost RawOutput Rejecting Resolved RunFiles RunTool ScopeAwaiting Settled Settlement
  SignalledProcess Stickiness Target TaskFilter Wake isExecutionResult isSuccess successWithRawOutput`.split(/\s+/),
);

type Taken = Extract<Node, { readonly type: "ImportDeclaration" | "ExportNamedDeclaration" }>;
type Named = Extract<Node, { readonly type: "ImportSpecifier" | "ExportSpecifier" }>;

const isNamed = (node: Node): node is Named => node.type === "ImportSpecifier" || node.type === "ExportSpecifier";

const nameOf = (specifier: Named): string => {
  const name = specifier.type === "ImportSpecifier" ? specifier.imported : specifier.local;
  return name.type === "Literal" ? name.value : name.name;
};

/** Writes a list of names as it stood, in the place of the old list. */
const listed = (source: Source, specifiers: readonly Node[]): string =>
  `{ ${specifiers.map((specifier) => source.textOf(specifier)).join(", ")} }`;

const listOf = (source: Source, statement: Taken): readonly [number, number] => [
  source.text.indexOf("{", statement.start),
  source.text.lastIndexOf("}", statement.source?.start) + 1,
];

const kindOf = (statement: Taken): string | undefined =>
  statement.type === "ImportDeclaration" ? statement.importKind : statement.exportKind;

/** Returns the statement that takes names from the other entry in the same way, if the program has one. */
const besideOf = (source: Source, statement: Taken): Taken | undefined =>
  source
    .nodes(statement.type)
    .find(
      (other): other is Taken =>
        "source" in other &&
        other.source?.value === to &&
        kindOf(other) === kindOf(statement) &&
        other.specifiers.some(isNamed),
    );

const move = (source: Source, statement: Taken): void => {
  const specifiers: readonly Node[] = statement.specifiers;
  const leaving = specifiers.filter((specifier) => isNamed(specifier) && moved.has(nameOf(specifier)));
  const staying = specifiers.filter((specifier) => !leaving.includes(specifier));
  if (leaving.length === 0 || !staying.every(isNamed)) return;
  const [start, end] = listOf(source, statement);
  const beside = besideOf(source, statement);
  if (beside === undefined && staying.length === 0) return source.replace(statement.source as Node, `"${to}"`);
  if (beside === undefined) {
    const word = source.text.slice(statement.start, start);
    const semicolon = source.textOf(statement).endsWith(";") ? ";" : "";
    source.edits.appendRight(statement.end, `\n${word}${listed(source, leaving)} from "${to}"${semicolon}`);
  } else {
    const names = leaving.map((specifier) => source.textOf(specifier)).join(", ");
    source.edits.appendLeft((beside.specifiers.at(-1) as Node).end, `, ${names}`);
  }
  if (staying.length > 0) source.edits.update(start, end, listed(source, staying));
  else source.edits.remove(statement.start, statement.end + (source.text[statement.end] === "\n" ? 1 : 0));
};

export const driverImport: Renaming = {
  title: "imports: names that programs do not need come from `@pawl/runtime/driver`",
  apply: (source) => {
    for (const type of ["ImportDeclaration", "ExportNamedDeclaration"] as const)
      for (const statement of source.nodes(type)) if (statement.source?.value === from) move(source, statement);
  },
};
