/**
 * Finds the objects of a program that are, say, definitions of tools. A field is renamed in them alone, never in another object
 * that has a field of this name. An object is one if it is given to a function that takes one (`defineTool({ … })`), has its
 * type (`const pay: ToolDefinition = …`, `satisfies`, a parameter, a result), or is spread into one.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Expression, Node, ObjectExpression, TSType } from "oxc-parser";
import { NotParsed, Source, bare } from "./source.ts";

/** Names the objects to find: the functions that take one, by the position of the argument, and the names of their type. */
export interface ObjectKind {
  readonly functions: { readonly [name: string]: number };
  readonly types: readonly string[];
}

type Callable = Extract<Node, { readonly params: readonly unknown[]; readonly body: unknown }>;

const isCallable = (node: Node | undefined | null): node is Callable =>
  node?.type === "ArrowFunctionExpression" ||
  node?.type === "FunctionExpression" ||
  node?.type === "FunctionDeclaration";

/** Types whose fields are those of their first argument. */
const transparent = new Set(["Partial", "Required", "Readonly", "Omit", "Pick", "Promise", "Array", "ReadonlyArray"]);

const nameOf = (node: Node): string => (node.type === "Identifier" ? node.name : "");

/** Reads and keeps the files that a program imports from beside it. */
const beside = new Map<string, Source | undefined>();
const sourceAt = (path: string): Source | undefined => {
  if (!beside.has(path)) {
    try {
      beside.set(path, existsSync(path) ? new Source(path, readFileSync(path, "utf8")) : undefined);
    } catch (thrown) {
      if (!(thrown instanceof NotParsed)) throw thrown;
      beside.set(path, undefined);
    }
  }
  return beside.get(path);
};

class Finder {
  readonly #found = new Set<ObjectExpression>();
  readonly #seen = new Set<Node>();

  readonly source: Source;
  readonly kind: ObjectKind;

  constructor(source: Source, kind: ObjectKind) {
    this.source = source;
    this.kind = kind;
  }

  find(): readonly ObjectExpression[] {
    for (const call of this.source.nodes("CallExpression")) {
      const at = this.#positionsOf(call.callee);
      for (const position of at) this.#follow(call.arguments[position]);
    }
    for (const node of this.source.nodes("VariableDeclarator")) if (this.#isTyped(node.id)) this.#follow(node.init);
    for (const type of ["TSAsExpression", "TSSatisfiesExpression"] as const)
      for (const node of this.source.nodes(type)) if (this.isOf(node.typeAnnotation)) this.#follow(node.expression);
    for (const node of this.source.nodes("AssignmentPattern")) if (this.#isTyped(node.left)) this.#follow(node.right);
    for (const type of ["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"] as const)
      for (const node of this.source.nodes(type))
        if (node.returnType && this.isOf(node.returnType.typeAnnotation)) this.#results(node);
    return [...this.#found];
  }

  /** Returns true for the type itself, and for types made of it whose fields are the same. */
  isOf(type: TSType, depth = 0): boolean {
    if (depth > 8) return false;
    const one = (other: TSType): boolean => this.isOf(other, depth + 1);
    if (type.type === "TSUnionType" || type.type === "TSIntersectionType") return type.types.some(one);
    if (type.type === "TSArrayType") return one(type.elementType);
    if (type.type === "TSTypeOperator" || type.type === "TSParenthesizedType") return one(type.typeAnnotation);
    if (type.type === "TSFunctionType") return one(type.returnType.typeAnnotation);
    if (type.type !== "TSTypeReference") return false;
    const name = nameOf(type.typeName as Node);
    if (this.kind.types.includes(name)) return true;
    const [first] = type.typeArguments?.params ?? [];
    if (transparent.has(name)) return first !== undefined && one(first);
    const alias = this.source.nodes("TSTypeAliasDeclaration").find(({ id }) => id.name === name);
    if (alias !== undefined) return one(alias.typeAnnotation);
    const declared = this.source.nodes("TSInterfaceDeclaration").find(({ id }) => id.name === name);
    return declared?.extends.some(({ expression }) => this.kind.types.includes(nameOf(expression))) === true;
  }

  #isTyped(node: Node): boolean {
    const annotation = "typeAnnotation" in node ? node.typeAnnotation : undefined;
    return annotation?.type === "TSTypeAnnotation" && this.isOf(annotation.typeAnnotation);
  }

  /** Lists the positions at which a function takes an object of this kind. */
  #positionsOf(callee: Node): readonly number[] {
    const name = callee.type === "MemberExpression" ? "" : nameOf(callee);
    const original = this.#importedAs(name)?.name ?? name;
    const known = this.kind.functions[original];
    if (known !== undefined) return [known];
    return this.#parameters(this.#functionOf(name, callee));
  }

  #parameters(found: { readonly finder: Finder; readonly callable: Callable } | undefined): readonly number[] {
    if (found === undefined) return [];
    return found.callable.params.flatMap((param, i) => {
      const pattern = param.type === "AssignmentPattern" ? param.left : param;
      return found.finder.#isTyped(pattern) ? [i] : [];
    });
  }

  #importedAs(local: string): { readonly name: string; readonly from: string } | undefined {
    for (const { specifiers, source } of this.source.nodes("ImportDeclaration"))
      for (const specifier of specifiers)
        if (specifier.type === "ImportSpecifier" && specifier.local.name === local)
          return { name: nameOf(specifier.imported), from: source.value };
    return undefined;
  }

  /** Finds a function by name, in this file or in one that it imports from beside it. */
  #functionOf(name: string, from: Node): { readonly finder: Finder; readonly callable: Callable } | undefined {
    if (name === "") return undefined;
    const callable: Node | undefined =
      this.source.nodes("FunctionDeclaration").find((node) => node.id?.name === name) ??
      this.source.valueOf(name, from);
    if (isCallable(callable)) return { finder: this, callable };
    const imported = this.#importedAs(name);
    if (imported === undefined || !imported.from.startsWith(".")) return undefined;
    const other = sourceAt(resolve(dirname(this.source.file), imported.from));
    return other === undefined ? undefined : new Finder(other, this.kind).#functionOf(imported.name, other.program);
  }

  /** Follows an expression to the objects that it may be. */
  #follow(given: Expression | Node | undefined | null): void {
    if (given === undefined || given === null) return;
    const node = bare(given);
    if (this.#seen.has(node)) return;
    this.#seen.add(node);
    switch (node.type) {
      case "ObjectExpression":
        this.#found.add(node);
        for (const property of node.properties) if (property.type === "SpreadElement") this.#follow(property.argument);
        return;
      case "ConditionalExpression":
        return void [node.consequent, node.alternate].forEach((one) => this.#follow(one));
      case "LogicalExpression":
        return void [node.left, node.right].forEach((one) => this.#follow(one));
      case "ArrayExpression":
        return node.elements.forEach((one) => this.#follow(one));
      case "SpreadElement":
        return this.#follow(node.argument);
      case "Identifier":
        return this.#follow(this.source.valueOf(node.name, node));
      case "CallExpression":
        return this.#followCall(node.callee);
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return this.#results(node);
      default:
    }
  }

  #followCall(callee: Node): void {
    const found = this.#functionOf(nameOf(callee), callee);
    if (found?.finder === this) this.#results(found.callable);
  }

  /** Follows what a function returns. */
  #results(callable: Callable): void {
    const { body } = callable;
    if (body === null) return;
    if (body.type !== "BlockStatement") return this.#follow(body);
    for (const returned of this.source.nodes("ReturnStatement")) {
      const nearest = this.source.around(returned).find(isCallable);
      if (nearest === callable) this.#follow(returned.argument);
    }
  }
}

/** Lists the objects of a kind in a program. */
export const objectsOf = (source: Source, kind: ObjectKind): readonly ObjectExpression[] =>
  new Finder(source, kind).find();
