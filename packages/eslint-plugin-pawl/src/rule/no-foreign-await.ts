import type { Rule } from "eslint";
import type * as ES from "../estree.ts";
import { type Body, type Node, bodyAt } from "../body.ts";
import { reaches } from "../reach.ts";

const isPromise = (node: ES.Node): boolean =>
  node.type === "CallExpression" || node.type === "NewExpression" || node.type === "ImportExpression";

/** Says if an expression has to do with the context of its body, so that the record may answer it. */
const isOfContext = (context: Rule.RuleContext, of: ES.Node, { ctx }: Body): boolean =>
  reaches(context, of, (_, variable) => variable !== undefined && variable === ctx);

/** Refuses to wait for promises that the record does not know: their order is another one in each run. */
export const noForeignAwait: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: { description: "Await what `ctx` gives, so that a body that runs again goes on in the same order" },
    schema: [],
    messages: { foreign: "The record does not know this promise: ask for it in a step, `ctx.run(name, …)`." },
  },
  create: (context) => {
    const look = (node: Node, of: ES.Node): void => {
      const isForeign = reaches(context, of, isPromise);
      const body = isForeign ? bodyAt(context, node) : undefined;
      if (body !== undefined && !isOfContext(context, of, body)) context.report({ node: of, messageId: "foreign" });
    };
    return {
      AwaitExpression: (node) => look(node, node.argument),
      ForOfStatement: (node) => {
        if (node.await) look(node, node.right);
      },
    };
  },
};
