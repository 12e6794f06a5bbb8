/** `ctx.awaitEventJson(name, { deadlineMs })` → `ctx.waitFor(name, { timeoutMs })`; `ctx.externalEventKey` → `ctx.token`. */
import type { Renaming } from "../rewrite.ts";
import { callsOf, renameCallee, renameMember } from "./context.ts";

export const wait: Renaming = {
  title:
    "`ctx.awaitEventJson(name, { deadlineMs })` → `ctx.waitFor(name, { timeoutMs })`, `ctx.externalEventKey` → `ctx.token`",
  apply: (source) => {
    for (const call of callsOf(source, "awaitEventJson")) {
      const [, options] = call.arguments;
      renameCallee(source, call, "waitFor");
      if (options === undefined) continue;
      for (const object of source.nodes("ObjectExpression"))
        if (object.start >= options.start && object.end <= options.end)
          source.renameProperty(object, "deadlineMs", "timeoutMs");
    }
    for (const call of callsOf(source, "externalEventKey")) renameCallee(source, call, "token");
    renameMember(source, "awaitEventJson", "waitFor");
    renameMember(source, "externalEventKey", "token");
  },
};
