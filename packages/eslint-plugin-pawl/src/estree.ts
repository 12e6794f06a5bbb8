/** The nodes of a program, as ESLint has them. */
import type { SourceCode } from "eslint";

export type Node = Parameters<SourceCode["getAncestors"]>[0];
type Of<T extends Node["type"]> = Extract<Node, { readonly type: T }>;

export type Identifier = Of<"Identifier">;
export type ObjectExpression = Of<"ObjectExpression">;
export type Property = Extract<ObjectExpression["properties"][number], { readonly type: "Property" }>;
export type SimpleCallExpression = Of<"CallExpression">;
export type NewExpression = Of<"NewExpression">;
export type MemberExpression = Of<"MemberExpression">;
export type FunctionExpression = Of<"FunctionExpression">;
export type ArrowFunctionExpression = Of<"ArrowFunctionExpression">;
export type FunctionDeclaration = Of<"FunctionDeclaration">;
export type VariableDeclarator = Of<"VariableDeclarator">;
export type ImportSpecifier = Of<"ImportSpecifier">;
export type Pattern = FunctionExpression["params"][number];
export type Expression = Of<"ExpressionStatement">["expression"];
