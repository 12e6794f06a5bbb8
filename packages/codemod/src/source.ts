/** A file as a renaming sees it: its syntax tree, its text to be edited, and what a person is to look at. */
import { MagicString } from "magic-string";
import {
  type Expression,
  type Node,
  type ObjectExpression,
  type ObjectProperty,
  type Program,
  parseSync,
  visitorKeys,
} from "oxc-parser";

/** Marks a place that a person looks at: the machine could not rewrite it. */
export interface Note {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Thrown for a text that is no TypeScript and no JavaScript. */
export class NotParsed extends Error {
  override readonly name = "NotParsed";
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

/** Lists the nodes directly below a node. */
const childrenOf = (node: Node): readonly Node[] =>
  (visitorKeys[node.type] ?? []).flatMap((key) => {
    const child: unknown = Reflect.get(node, key);
    return (Array.isArray(child) ? child : [child]).filter(isNode);
  });

/** Returns the name of a property that is written as a name or as a text. */
export const keyOf = (property: Node): string | undefined => {
  if (property.type !== "Property") return undefined;
  if (property.key.type === "Literal" && typeof property.key.value === "string") return property.key.value;
  return property.key.type === "Identifier" && !property.computed ? property.key.name : undefined;
};

/** Takes parentheses and assertions of a type off an expression. */
export const bare = (expression: Node): Node =>
  expression.type === "TSAsExpression" ||
  expression.type === "TSSatisfiesExpression" ||
  expression.type === "TSNonNullExpression" ||
  expression.type === "ParenthesizedExpression"
    ? bare(expression.expression)
    : expression;

/** The nodes of a type. A function has one of several types. */
type NodeOf<T, N = Node> = N extends { readonly type: infer U } ? (T extends U ? N : never) : never;

/** The syntax tree of one file. Edits are made to `edits`; the tree keeps the positions of the text as it was. */
export class Source {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  readonly edits: MagicString;
  readonly notes: Note[] = [];
  readonly #parents = new Map<Node, Node>();
  readonly #byType = new Map<string, Node[]>();

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    const name = /\.[cm]?[jt]sx?$/.test(file) ? file : `${file}.ts`;
    const { program, errors } = parseSync(name, text);
    const [first] = errors;
    if (first !== undefined) throw new NotParsed(`${file}: ${first.message}`);
    this.program = program;
    this.edits = new MagicString(text);
    this.#index(program);
  }

  #index(node: Node): void {
    const same = this.#byType.get(node.type);
    if (same === undefined) this.#byType.set(node.type, [node]);
    else same.push(node);
    for (const child of childrenOf(node)) {
      this.#parents.set(child, node);
      this.#index(child);
    }
  }

  /** Lists the nodes of a type, in the order of the text. */
  nodes<T extends Node["type"]>(type: T): readonly NodeOf<T>[] {
    return (this.#byType.get(type) ?? []) as unknown as readonly NodeOf<T>[];
  }

  parentOf(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  /** Lists the nodes around a node, the nearest first. */
  around(node: Node): readonly Node[] {
    const parent = this.parentOf(node);
    return parent === undefined ? [] : [parent, ...this.around(parent)];
  }

  textOf(node: Node): string {
    return this.text.slice(node.start, node.end);
  }

  /** Finds the property of an object by its name. */
  property(object: ObjectExpression, name: string): ObjectProperty | undefined {
    return object.properties.find((property): property is ObjectProperty => keyOf(property) === name);
  }

  /** Renames a property of an object. `{ old }` becomes `{ now: old }`, since the variable keeps its name. */
  renameProperty(object: ObjectExpression, old: string, now: string): void {
    const property = this.property(object, old);
    if (property === undefined) return;
    if (property.shorthand) this.edits.appendLeft(property.start, `${now}: `);
    else this.edits.update(property.key.start, property.key.end, now);
  }

  /** Replaces the whole text of a node. */
  replace(node: Node, text: string): void {
    this.edits.update(node.start, node.end, text);
  }

  /** Removes a property with the comma after it, and the line if nothing else stands there. */
  removeProperty(object: ObjectExpression, property: Node): void {
    const after = object.properties.find(({ start }) => start > property.start);
    if (after !== undefined) return void this.edits.remove(property.start, after.start);
    const comma = /^\s*,/.exec(this.text.slice(property.end))?.[0].length;
    const before = object.properties.findLast(({ end }) => end <= property.start);
    const start = comma === undefined ? (before?.end ?? property.start) : property.start;
    this.edits.remove(start, property.end + (comma ?? 0));
  }

  /** Puts other properties in the place of one, or none. */
  replaceProperty(object: ObjectExpression, property: Node, texts: readonly string[]): void {
    if (texts.length === 0) this.removeProperty(object, property);
    else this.replace(property, texts.join(", "));
  }

  /** Finds the object that an expression is, if it is written out, or is a constant of this file. */
  objectIn(expression: Node): ObjectExpression | undefined {
    const node = bare(expression);
    if (node.type === "ObjectExpression") return node;
    const value = node.type === "Identifier" ? this.valueOf(node.name, node) : undefined;
    return value === undefined ? undefined : this.objectIn(value);
  }

  /** Finds the value that a name has in the scope of a node, if it is a constant of this file. */
  valueOf(name: string, from: Node): Expression | undefined {
    const scopes = [from, ...this.around(from)];
    const found = this.nodes("VariableDeclarator").filter(({ id }) => id.type === "Identifier" && id.name === name);
    const depths = found.map((declarator) => {
      const block = this.around(declarator).find(({ type }) => /Program|BlockStatement|StaticBlock|Module/.test(type));
      return block === undefined ? -1 : scopes.indexOf(block);
    });
    const nearest = depths.reduce((best, depth, i) => {
      const other = depths[best] ?? -1;
      return depth !== -1 && (other === -1 || depth < other) ? i : best;
    }, -1);
    return found[nearest]?.init ?? undefined;
  }

  /** Notes what a person is to look at. */
  note(node: Node, message: string): void {
    this.notes.push({ file: this.file, line: this.text.slice(0, node.start).split("\n").length, message });
  }
}

/** Says whether a node is in an event of a log, which keeps its names: `{ type: "request.submitted", calls: [{ id, tool, args }] }`. */
export const isInEvent = (source: Source, object: Node): boolean =>
  source.around(object).some((node) => {
    const type = node.type === "ObjectExpression" ? source.property(node, "type")?.value : undefined;
    return type?.type === "Literal" && typeof type.value === "string" && type.value.includes(".");
  });

/** Renames a name that a value is taken apart into: `{ old }` becomes `{ now: old }`. */
export const renameInPattern = (
  source: Source,
  pattern: Extract<Node, { readonly type: "ObjectPattern" }>,
  old: string,
  now: string,
): void => {
  for (const property of pattern.properties) {
    if (property.type !== "Property" || keyOf(property) !== old) continue;
    if (property.shorthand) source.edits.appendLeft(property.start, `${now}: `);
    else source.edits.update(property.key.start, property.key.end, now);
  }
};
