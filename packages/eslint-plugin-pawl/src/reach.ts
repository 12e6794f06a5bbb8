/** Looks for something in an expression, and in what the names in it stand for. */
import type { Rule, Scope } from "eslint";
import type * as ES from "./estree.ts";
import { variableAt } from "./body.ts";

/** Names stand for names, and so on; nobody writes longer chains. */
const farthest = 6;

/** Returns the nodes of an expression, itself first. */
export function* nodesIn(context: Rule.RuleContext, node: ES.Node): Generator<ES.Node> {
  yield node;
  for (const key of context.sourceCode.visitorKeys[node.type] ?? []) {
    const child = node[key as keyof ES.Node] as unknown as ES.Node | readonly (ES.Node | null)[] | null | undefined;
    for (const one of Array.isArray(child) ? child : [child]) if (one) yield* nodesIn(context, one as ES.Node);
  }
}

/** Returns what a name stands for: the value of a constant, what a loop goes over, the code of a function. */
const valuesOf = ({ defs }: Scope.Variable): readonly ES.Node[] =>
  defs.flatMap(({ type, node }) => {
    if (type === "FunctionName") return [node as ES.Node];
    if (type !== "Variable") return [];
    const { init, parent } = node as ES.VariableDeclarator & Rule.NodeParentExtension;
    const loop = (parent as Rule.Node).parent;
    const over = loop?.type === "ForOfStatement" && loop.left === (parent as ES.Node) ? [loop.right] : [];
    return init ? [init, ...over] : over;
  });

/** Says if an expression, or what its names stand for, has a node that is wanted. */
export const reaches = (
  context: Rule.RuleContext,
  from: ES.Node,
  isWanted: (node: ES.Node, variable: Scope.Variable | undefined) => boolean,
  depth = farthest,
): boolean => {
  if (depth === 0) return false;
  for (const node of nodesIn(context, from)) {
    const variable = node.type === "Identifier" ? variableAt(context, node, node) : undefined;
    if (isWanted(node, variable)) return true;
    if (variable !== undefined && valuesOf(variable).some((value) => reaches(context, value, isWanted, depth - 1)))
      return true;
  }
  return false;
};
