/** The members of `ctx`: where a program names one of them. */
import type { CallExpression, Node } from "oxc-parser";
import { type Source, keyOf } from "../source.ts";

/** Names that `ctx` has had: a pattern with two of them takes a context apart. */
const members = new Set(
  [
    "runJson run awaitEventJson waitFor externalEventKey token completionKey sleep batch call callAll",
    "race any all allSettled onCancel processes handleTools progress now random uuid continueAs",
    "host patched signal attempt payload",
  ].flatMap((names) => names.split(" ")),
);

/** Names that nothing else has: a pattern with one of them takes a context apart. */
const unmistakable = new Set(["runJson", "awaitEventJson", "externalEventKey"]);

type Pattern = Extract<Node, { readonly type: "ObjectPattern" }>;

const isContext = (pattern: Pattern): boolean => {
  const keys = pattern.properties.map((property) => keyOf(property) ?? "");
  return keys.some((key) => unmistakable.has(key)) || keys.filter((key) => members.has(key)).length > 1;
};

const isFunction = ({ type }: Node): boolean => /Function/.test(type) || type === "Program";

/** Renames a variable in the function, or the file, that a pattern makes it in. */
const renameVariable = (source: Source, pattern: Node, old: string, now: string): void => {
  const within = source.around(pattern).find(isFunction);
  for (const node of source.nodes("Identifier")) {
    const parent = source.parentOf(node);
    const isName =
      (parent?.type === "MemberExpression" && parent.property === (node as Node) && !parent.computed) ||
      (parent?.type === "Property" && parent.key === (node as Node));
    if (node.name === old && !isName && within !== undefined && source.around(node).includes(within))
      source.replace(node, now);
  }
};

/** Renames the variable that a pattern takes from a context, unless the program gave it a name of its own. */
const renameTaken = (source: Source, old: string, now: string): void => {
  for (const pattern of source.nodes("ObjectPattern")) {
    if (!isContext(pattern)) continue;
    const property = pattern.properties.find((one) => keyOf(one) === old);
    if (property?.type !== "Property") continue;
    if (property.shorthand) {
      source.replace(property, now);
      renameVariable(source, pattern, old, now);
    } else source.replace(property.key, now);
  }
};

/** Renames a member of `ToolContext` in types: `ToolContext["batch"]`, `Pick<ToolContext, "batch">`. */
const renameInTypes = (source: Source, old: string, now: string): void => {
  for (const node of source.nodes("TSLiteralType")) {
    if (node.literal.type !== "Literal" || node.literal.value !== old) continue;
    const near = source.around(node).slice(0, 3);
    const ofContext = near.some(
      (one) =>
        (one.type === "TSIndexedAccessType" || one.type === "TSTypeReference") &&
        /\bToolContext\b/.test(source.textOf(one)),
    );
    if (ofContext) source.replace(node, JSON.stringify(now));
  }
};

/** Returns true for a call of a member: `ctx.batch(…)`, or `batch(…)` where a pattern took it from a context. */
const isCallOf = (source: Source, { callee }: CallExpression, name: string): boolean => {
  if (callee.type === "MemberExpression")
    return !callee.computed && callee.property.type === "Identifier" && callee.property.name === name;
  if (callee.type !== "Identifier" || callee.name !== name) return false;
  return source.nodes("ObjectPattern").some((pattern) => {
    const within = source.around(pattern).find(isFunction);
    const isTaken = isContext(pattern) && pattern.properties.some((property) => keyOf(property) === name);
    return isTaken && within !== undefined && source.around(callee).includes(within);
  });
};

/** Lists the calls of a member of `ctx`. */
export const callsOf = (source: Source, name: string): readonly CallExpression[] =>
  source.nodes("CallExpression").filter((call) => isCallOf(source, call, name));

/** Renames the member that a call calls; a variable is renamed with its pattern. */
export const renameCallee = (source: Source, { callee }: CallExpression, now: string): void => {
  if (callee.type === "MemberExpression") source.replace(callee.property, now);
};

/** Renames a member of `ctx` wherever a program does not call it: in patterns and in types. */
export const renameMember = (source: Source, old: string, now: string): void => {
  renameTaken(source, old, now);
  renameInTypes(source, old, now);
};
