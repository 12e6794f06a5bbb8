/** `ctx.progress({ text, kind })` → `ctx.progress({ message, kind })`. */
import type { Renaming } from "../rewrite.ts";
import { keyOf } from "../source.ts";
import { callsOf } from "./context.ts";

export const progress: Renaming = {
  title: "`ctx.progress({ text })` → `ctx.progress({ message })`",
  apply: (source) => {
    for (const {
      arguments: [said],
    } of callsOf(source, "progress"))
      if (said?.type === "ObjectExpression" && said.properties.map(keyOf).toSorted().join() === "kind,text")
        source.renameProperty(said, "text", "message");
  },
};
