import type { Rule } from "eslint";
import { bodyAt, isEffect } from "../body.ts";
import { nodesIn } from "../reach.ts";

/** Refuses to swallow what an effect throws: among it is that the call is cancelled, or that its outcome is unknown. */
export const noEmptyCatch: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: {
      description: "Look at what an effect throws: a cancel, an unknown outcome and a divergence are errors too",
    },
    schema: [],
    messages: {
      swallowed:
        "This swallows cancels, unknown outcomes and divergences: look at `error.code`, and throw the rest again.",
    },
  },
  create: (context) => ({
    TryStatement: (node) => {
      const { handler, block } = node;
      if (handler === null || handler === undefined || handler.body.body.length > 0) return;
      const body = bodyAt(context, node);
      if (body === undefined) return;
      for (const one of nodesIn(context, block))
        if (isEffect(context, one, body)) return context.report({ node: handler, messageId: "swallowed" });
    },
  }),
};
