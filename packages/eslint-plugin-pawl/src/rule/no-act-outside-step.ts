import type { Rule } from "eslint";
import { type Node, bodyAt } from "../body.ts";
import { actIn } from "../world.ts";

/** Refuses requests, timers and files in a body: each run of it would do them again. */
export const noActOutsideStep: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: { description: "Act on the outside in steps alone, so that nothing is done twice after a crash" },
    schema: [],
    messages: { again: "`{{what}}` is done again each time that the body runs: use {{instead}}." },
  },
  create: (context) => {
    const look = (node: Node): void => {
      const found = actIn(context, node);
      if (found !== undefined && bodyAt(context, node) !== undefined)
        context.report({ node, messageId: "again", data: { ...found } });
    };
    return { CallExpression: look, NewExpression: look };
  },
};
