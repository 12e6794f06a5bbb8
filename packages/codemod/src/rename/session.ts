/** Sessions: `call(id, calls)` → `request(id, calls)`, `{ id, tool, args }` → `{ label, tool, args }`, `sessionId` → `scope`, `session`. */
import type { CallExpression, Function as Callable, Node } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import { type Source, bare, isInEvent, keyOf, renameInPattern } from "../source.ts";

const isText = (node: Node | undefined): boolean =>
  node?.type === "TemplateLiteral" || (node?.type === "Literal" && typeof node.value === "string");

/** Returns the last name of an expression: `calls` of `act.calls` and of `calls`. */
const lastName = (node: Node): string => {
  if (node.type === "Identifier") return node.name;
  return node.type === "MemberExpression" && !node.computed ? lastName(node.property) : "";
};

/**
 * Returns true for `session.call(id, calls)`. Calls are an array, or something that is named so; with an id that is a text they
 * may be anything but the arguments of one call. `f.call(this, …)` is a function's own method.
 */
const isRequest = ({ callee, arguments: given }: CallExpression): boolean => {
  if (callee.type !== "MemberExpression" || callee.computed || lastName(callee) !== "call") return false;
  const [id, calls, how] = given.map((argument) => bare(argument));
  if (id === undefined || calls === undefined || id.type === "ThisExpression" || hasId(how)) return false;
  if (calls.type === "ArrayExpression") return true;
  if (calls.type === "ObjectExpression" || isText(calls) || lastName(callee.object) === "hasOwnProperty") return false;
  return (
    isText(id) || /calls?$/i.test(lastName(calls.type === "CallExpression" ? calls.callee : calls)) || isUse(calls)
  );
};

/** A call of one tool names its request: `session.call(tool, args, { id: "turn-1" })`. */
const hasId = (how: Node | undefined): boolean =>
  how?.type === "ObjectExpression" && how.properties.some((property) => keyOf(property) === "id");

const isUse = (calls: Node): boolean => calls.type === "CallExpression" && lastName(calls.callee).startsWith("use");

export const sessionRequest: Renaming = {
  title: "sessions: `call(id, calls)` → `request(id, calls)`",
  apply: (source) => {
    for (const call of source.nodes("CallExpression"))
      if (isRequest(call) && call.callee.type === "MemberExpression")
        source.edits.update(call.callee.property.start, call.callee.property.end, "request");
  },
};

const callFields = new Set(["id", "tool", "args", "replay", "by_id"]);

export const callLabel: Renaming = {
  title: "calls of a request: `{ id, tool, args }` → `{ label, tool, args }`",
  apply: (source) => {
    for (const object of source.nodes("ObjectExpression")) {
      const names = object.properties.filter(({ type }) => type === "Property").map((property) => keyOf(property));
      const isCall = ["id", "tool", "args"].every((name) => names.includes(name));
      if (!isCall || !names.every((name) => name !== undefined && callFields.has(name))) continue;
      if (isInEvent(source, object)) continue;
      source.renameProperty(object, "id", "label");
      source.renameProperty(object, "by_id", "byId");
    }
  },
};

/** Renames a field of a function's parameter, wherever the function reads it. */
const renameInFunction = (source: Source, callable: Callable, position: number, old: string, now: string): void => {
  const param = callable.params[position] as Node | undefined;
  if (param?.type === "ObjectPattern") return renameInPattern(source, param, old, now);
  if (param?.type !== "Identifier") return;
  for (const member of source.nodes("MemberExpression")) {
    const isIn = member.start > callable.start && member.end <= callable.end;
    const isOfParam = member.object.type === "Identifier" && member.object.name === param.name;
    if (isIn && isOfParam && !member.computed && lastName(member.property) === old)
      source.edits.update(member.property.start, member.property.end, now);
  }
};

/** Functions that are given the session, by the name of the field that holds them: which parameter, and its new name there. */
const given = new Map<string | undefined, readonly [position: number, now: string]>([
  ["execute", [1, "scope"]],
  ["background", [1, "scope"]],
  ["prepare", [1, "session"]],
  ["beforeToolCall", [0, "session"]],
  ["afterToolCall", [0, "session"]],
  ["project", [0, "session"]],
]);

export const sessionId: Renaming = {
  title: "`sessionId` → `scope` of a context, `session` of hooks and projections",
  apply: (source) => {
    for (const property of source.nodes("Property")) {
      const [position, now] = given.get(keyOf(property)) ?? [];
      const value =
        property.value.type === "Identifier" ? source.valueOf(property.value.name, property) : property.value;
      if (position === undefined || now === undefined || value === undefined) continue;
      if (value.type === "ArrowFunctionExpression" || value.type === "FunctionExpression")
        renameInFunction(source, value as Callable, position, "sessionId", now);
    }
  },
};
