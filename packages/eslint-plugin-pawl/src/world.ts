/** Names of the platform: what gives another value in each run, and what acts on the outside. */
import type { Rule } from "eslint";
import type * as ES from "./estree.ts";
import { calledName, variableAt } from "./body.ts";

type Called = ES.SimpleCallExpression | ES.NewExpression;

/** Values that differ from run to run, and what a body takes instead. */
const unrecorded: { readonly [called: string]: string } = {
  "Date.now": "ctx.now()",
  Date: "new Date(ctx.now())",
  "performance.now": "ctx.now()",
  "process.hrtime": "ctx.now()",
  "process.uptime": "ctx.now()",
  "Math.random": "ctx.random()",
  "crypto.randomUUID": "ctx.uuid(name)",
  "crypto.getRandomValues": "ctx.random()",
  "crypto.randomBytes": "ctx.random()",
  "crypto.randomInt": "ctx.random()",
};

const timer = "`ctx.sleep`, which survives a restart";
const step = "a step: `ctx.run(name, …)`";

/** Acts on the outside, and what a body does instead. */
const effects: { readonly [called: string]: string } = {
  fetch: step,
  XMLHttpRequest: step,
  WebSocket: step,
  EventSource: step,
  setTimeout: timer,
  setInterval: timer,
  setImmediate: timer,
};

const effectModules =
  /^(?:node:)?(?:fs|fs\/promises|child_process|http|https|http2|net|tls|dgram|dns|dns\/promises|worker_threads)$/;
const timerModules = /^(?:node:)?timers(?:\/promises)?$/;
const moduleOf = (name: string): string => name.replace(/^node:/, "");

/** Returns the module that a name was imported from, and the name that it has there. */
const importOf = (
  context: Rule.RuleContext,
  id: ES.Identifier,
): { readonly from: string; readonly name: string } | undefined => {
  const definition = variableAt(context, id, id)?.defs.find(({ type }) => type === "ImportBinding");
  if (definition?.parent?.type !== "ImportDeclaration") return undefined;
  const { imported } = definition.node as ES.ImportSpecifier;
  const name = imported?.type === "Identifier" ? imported.name : "";
  return { from: String(definition.parent.source.value), name };
};

const isGlobal = (context: Rule.RuleContext, id: ES.Identifier): boolean =>
  (variableAt(context, id, id)?.defs.length ?? 0) === 0;

const rootOf = (node: ES.Node): ES.Node => (node.type === "MemberExpression" ? rootOf(node.object) : node);

/** Returns `Date.now` for a call of it, also through `globalThis` and through a module of Node. */
const pathOf = (context: Rule.RuleContext, call: Called): string | undefined => {
  const name = calledName(call);
  const root = rootOf(call.callee);
  if (name === undefined || root.type !== "Identifier") return undefined;
  const imported = importOf(context, root);
  if (imported !== undefined)
    return `${moduleOf(imported.from)}.${call.callee.type === "Identifier" ? imported.name : name}`;
  if (!isGlobal(context, root)) return undefined;
  if (call.callee.type === "Identifier") return name;
  const { object } = call.callee as ES.MemberExpression;
  if (object.type === "Identifier")
    return /^(?:globalThis|window|self)$/.test(object.name) ? name : `${object.name}.${name}`;
  return object.type === "MemberExpression" && object.property.type === "Identifier"
    ? `${object.property.name}.${name}`
    : undefined;
};

const isCall = (node: ES.Node): node is Called => node.type === "CallExpression" || node.type === "NewExpression";

export interface Found {
  /** As the code has it. */
  readonly what: string;
  readonly instead: string;
}

/** Finds a value that differs in each run. A date that is made of a given time does not. */
export const unrecordedIn = (context: Rule.RuleContext, node: ES.Node): Found | undefined => {
  if (!isCall(node)) return undefined;
  const path = pathOf(context, node);
  const instead = path === undefined ? undefined : unrecorded[path];
  if (path === undefined || instead === undefined || (path === "Date" && node.arguments.length > 0)) return undefined;
  return { what: path === "Date" ? "new Date()" : `${path}()`, instead };
};

/** Finds an act on the outside. */
export const actIn = (context: Rule.RuleContext, node: ES.Node): Found | undefined => {
  if (!isCall(node)) return undefined;
  const root = rootOf(node.callee);
  const imported = root.type === "Identifier" ? importOf(context, root) : undefined;
  const what = `${context.sourceCode.getText(node.callee)}()`;
  if (imported !== undefined) {
    if (effectModules.test(imported.from)) return { what, instead: step };
    return timerModules.test(imported.from) ? { what, instead: timer } : undefined;
  }
  const instead = effects[pathOf(context, node) ?? ""];
  return instead === undefined ? undefined : { what, instead };
};
