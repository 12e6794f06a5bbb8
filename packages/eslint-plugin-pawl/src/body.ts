/**
 * Finds the bodies of durable tools. A body is the `execute` of a `defineTool` with `durable: true`, or a function that is given
 * a `ToolContext`. Functions within it belong to it, but for those that are handed to a step: what a step does is on record.
 */
import type { Rule, Scope } from "eslint";
import type * as ES from "./estree.ts";

export type Node = Rule.Node;
type Fn = (ES.FunctionExpression | ES.ArrowFunctionExpression | ES.FunctionDeclaration) & Rule.NodeParentExtension;

export interface Body {
  readonly fn: Node;
  /** The variable that holds its context; undefined where it takes none. */
  readonly ctx: Scope.Variable | undefined;
}

/** Verbs whose functions are steps. */
const stepVerbs: ReadonlySet<string> = new Set(["run", "stream", "onCancel"]);

/** Verbs that ask for something, and whose answer comes from the record. */
export const effectVerbs: ReadonlySet<string> = new Set([
  "run",
  "stream",
  "sleep",
  "waitFor",
  "approve",
  "call",
  "callAll",
  "spawn",
  "emitProcessEvent",
  "continueAs",
]);

const isFn = (node: Node): node is Fn =>
  node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression" || node.type === "FunctionDeclaration";

export const parentOf = (node: object): Node => (node as { readonly parent: Node }).parent;

const nameOf = (key: ES.Node): string | undefined => {
  if (key.type === "Identifier") return key.name;
  return key.type === "Literal" ? String(key.value) : undefined;
};

const propertyOf = ({ properties }: ES.ObjectExpression, wanted: string): ES.Property | undefined =>
  properties.find((one): one is ES.Property => one.type === "Property" && nameOf(one.key) === wanted);

/** Returns the name of what is called: `run` of `ctx.run()`, `f` of `f()`. */
export const calledName = ({ callee }: ES.SimpleCallExpression | ES.NewExpression): string | undefined => {
  if (callee.type === "Identifier") return callee.name;
  return callee.type === "MemberExpression" && !callee.computed ? nameOf(callee.property) : undefined;
};

const isDurableDefinition = (object: ES.ObjectExpression): boolean => {
  const durable = propertyOf(object, "durable")?.value;
  const call = parentOf(object);
  return (
    durable?.type === "Literal" &&
    durable.value === true &&
    call.type === "CallExpression" &&
    calledName(call) === "defineTool"
  );
};

const isExecute = ({ parent }: Fn): boolean =>
  parent.type === "Property" &&
  nameOf(parent.key) === "execute" &&
  parent.parent.type === "ObjectExpression" &&
  isDurableDefinition(parent.parent);

interface Annotated {
  readonly typeAnnotation?: { readonly typeAnnotation?: { readonly typeName?: { readonly name?: string } } };
}
const isContext = (parameter: ES.Pattern): boolean =>
  (parameter as Annotated).typeAnnotation?.typeAnnotation?.typeName?.name === "ToolContext";

export const variableAt = (
  context: Rule.RuleContext,
  { name }: ES.Identifier,
  at: ES.Node,
): Scope.Variable | undefined => {
  for (let scope: Scope.Scope | null = context.sourceCode.getScope(at); scope !== null; scope = scope.upper) {
    const found = scope.set.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Returns the body that a function is; undefined where it is none. */
const bodyOf = (context: Rule.RuleContext, fn: Fn): Body | undefined => {
  const parameter = fn.params.find(isContext) ?? (isExecute(fn) ? fn.params[1] : undefined);
  if (parameter === undefined) return isExecute(fn) ? { fn, ctx: undefined } : undefined;
  const ctx = parameter.type === "Identifier" ? variableAt(context, parameter, fn.body) : undefined;
  return { fn, ctx };
};

const isStepCall = (call: Node, argument: ES.Node): boolean =>
  call.type === "CallExpression" &&
  call.callee.type === "MemberExpression" &&
  stepVerbs.has(calledName(call) ?? "") &&
  call.arguments.includes(argument as ES.Expression);

/** Says if a function is handed to a step, there where it is written or by its name. */
const isStep = (context: Rule.RuleContext, fn: Fn): boolean => {
  if (isStepCall(fn.parent, fn)) return true;
  const id =
    fn.type === "FunctionDeclaration" ? fn.id : fn.parent.type === "VariableDeclarator" ? fn.parent.id : undefined;
  if (id?.type !== "Identifier") return false;
  const references = variableAt(context, id, fn)?.references ?? [];
  return references.some(({ identifier }) => isStepCall(parentOf(identifier), identifier as ES.Identifier));
};

/** Returns the durable body that a node is code of; undefined where it is in none, or in a step. */
export const bodyAt = (context: Rule.RuleContext, node: Node): Body | undefined => {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (!isFn(at)) continue;
    if (isStep(context, at)) return undefined;
    const body = bodyOf(context, at);
    if (body !== undefined) return body;
  }
  return undefined;
};

/** Says if an expression asks the context for something: `ctx.run(…)`, `ctx.tasks.start(…)`. */
export const isEffect = (context: Rule.RuleContext, node: ES.Node, { ctx }: Body): boolean => {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const { object } = node.callee;
  if (object.type === "MemberExpression")
    return isOf(context, object.object, ctx) && nameOf(object.property) !== "signal";
  return isOf(context, object, ctx) && effectVerbs.has(calledName(node) ?? "");
};

const isOf = (context: Rule.RuleContext, node: ES.Node, ctx: Scope.Variable | undefined): boolean =>
  node.type === "Identifier" && ctx !== undefined && variableAt(context, node, node) === ctx;
