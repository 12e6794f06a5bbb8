/** `ctx.progress({ text, kind })` → `ctx.progress({ message, kind })`. */
import type { Renaming } from "../rewrite.ts";
import { callsOf } from "./context.ts";

export const progress: Renaming = {
  title: "`ctx.progress({ text })` → `ctx.progress({ message })`",
  apply: (source) => {
    for (const { arguments: given } of callsOf(source, "progress"))
      if (given[0]?.type === "ObjectExpression" && source.property(given[0], "kind") !== undefined)
        source.renameProperty(given[0], "text", "message");
  },
};
