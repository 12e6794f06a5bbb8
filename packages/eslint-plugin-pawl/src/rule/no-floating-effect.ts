import type { Rule } from "eslint";
import type * as ES from "../estree.ts";
import { type Node, bodyAt, calledName, isEffect } from "../body.ts";
import { nodesIn } from "../reach.ts";

const loops: ReadonlySet<string> = new Set([
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

const isInLoop = (node: Node): boolean => {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (loops.has(at.type)) return true;
    if (/Function/.test(at.type)) return false;
  }
  return false;
};

const bare = (node: ES.Expression): ES.Expression =>
  node.type === "UnaryExpression" && node.operator === "void" ? node.argument : node;

/** Refuses effects of a loop that nobody waits for: the body may end before they are asked for. */
export const noFloatingEffect: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: { description: "Await the effects of a loop, one by one or together" },
    schema: [],
    messages: {
      floats: "Nobody waits for this effect: `await` it, or collect it for `ctx.all`.",
      dropped: "`forEach` drops the promises of its function: use `for … of`, or `ctx.all` over `map`.",
    },
  },
  create: (context) => ({
    ExpressionStatement: (node) => {
      const body = bodyAt(context, node);
      const expression = bare(node.expression);
      if (body !== undefined && isEffect(context, expression, body) && isInLoop(node))
        context.report({ node: expression, messageId: "floats" });
    },
    CallExpression: (node) => {
      const [fn] = node.arguments;
      const isFn = fn?.type === "ArrowFunctionExpression" || fn?.type === "FunctionExpression";
      if (calledName(node) !== "forEach" || !isFn) return;
      const body = bodyAt(context, node);
      if (body === undefined) return;
      for (const one of nodesIn(context, fn.body))
        if (isEffect(context, one, body)) return context.report({ node, messageId: "dropped" });
    },
  }),
};
