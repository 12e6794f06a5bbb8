import type { Rule } from "eslint";
import { bodyAt, calledName, effectVerbs } from "../body.ts";
import { reaches } from "../reach.ts";
import { unrecordedIn } from "../world.ts";

/** Refuses names that differ from run to run: the record would not be found under them. */
export const stableStepName: Rule.RuleModule = {
  meta: {
    type: "problem",
    docs: { description: "Name steps by what is the same in each run" },
    schema: [],
    messages: {
      differs: "This name is another one in each run, so what is on record is not found: make it of the arguments.",
    },
  },
  create: (context) => ({
    CallExpression: (node) => {
      const [name] = node.arguments;
      if (node.callee.type !== "MemberExpression" || name === undefined) return;
      if (!effectVerbs.has(calledName(node) ?? "") || bodyAt(context, node) === undefined) return;
      if (reaches(context, name, (one) => unrecordedIn(context, one) !== undefined))
        context.report({ node: name, messageId: "differs" });
    },
  }),
};
