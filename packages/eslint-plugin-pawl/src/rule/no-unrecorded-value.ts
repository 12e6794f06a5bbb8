import type { Rule } from "eslint";
import { type Node, bodyAt } from "../body.ts";
import { unrecordedIn } from "../world.ts";

/** Refuses clocks and chance in a body: it runs again after a crash, and would go another way. */
export const noUnrecordedValue: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: { description: "Take time, chance and ids from `ctx`, so that a body that runs again gets the same" },
    schema: [],
    messages: {
      differs: "`{{what}}` differs each time that the body runs: use `{{instead}}`, or record it by a step.",
    },
  },
  create: (context) => {
    const look = (node: Node): void => {
      const found = unrecordedIn(context, node);
      if (found !== undefined && bodyAt(context, node) !== undefined)
        context.report({ node, messageId: "differs", data: { ...found } });
    };
    return { CallExpression: look, NewExpression: look };
  },
};
