/** `ctx.batch([{ id, toolId, args }])` → `ctx.callAll([{ label, tool, args }])`. */
import type { CallExpression, Node } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import { type Source, keyOf } from "../source.ts";
import { callsOf, renameCallee, renameMember } from "./context.ts";

const isCall = (node: Extract<Node, { readonly type: "ObjectExpression" }>): boolean => {
  const keys = node.properties.map(keyOf);
  return keys.includes("toolId") && keys.includes("id");
};

/** A batch of something else is no batch of calls: its receiver has another name, and no `toolId` is near. */
const isOfContext = ({ callee }: CallExpression, hasCalls: boolean): boolean => {
  if (callee.type !== "MemberExpression") return true;
  return callee.object.type === "Identifier" ? /^(?:ctx|context|c)$/.test(callee.object.name) || hasCalls : hasCalls;
};

const rewriteCalls = (source: Source): void => {
  for (const object of source.nodes("ObjectExpression")) {
    if (!isCall(object)) continue;
    source.renameProperty(object, "id", "label");
    const { value } = source.property(object, "toolId") ?? {};
    source.renameProperty(object, "toolId", "tool");
    if (value?.type === "Literal" && typeof value.value === "string" && value.value.startsWith("tool:"))
      source.replace(value, JSON.stringify(value.value.slice("tool:".length)));
  }
};

export const call: Renaming = {
  title: "`ctx.batch([{ id, toolId, args }])` → `ctx.callAll([{ label, tool, args }])`",
  apply: (source) => {
    const hasCalls = source.nodes("ObjectExpression").some(isCall);
    const calls = callsOf(source, "batch").filter((one) => isOfContext(one, hasCalls));
    if (calls.length === 0) return;
    for (const one of calls) renameCallee(source, one, "callAll");
    rewriteCalls(source);
    renameMember(source, "batch", "callAll");
  },
};
