/**
 * `ctx.runJson(id, input, (input, info) => …, options)` → `ctx.run(id, (step) => …, { input, ...options })`. A step that
 * had the input `{}` has none: both are recorded as the same.
 */
import type { CallExpression, Function as Declared, ArrowFunctionExpression, Node } from "oxc-parser";
import type { Renaming } from "../rewrite.ts";
import { Source, bare, keyOf } from "../source.ts";
import { callsOf, renameCallee, renameMember } from "./context.ts";

type Written = ArrowFunctionExpression | Declared;

const isWritten = (node: Node | undefined): node is Written =>
  node?.type === "ArrowFunctionExpression" ||
  node?.type === "FunctionExpression" ||
  node?.type === "FunctionDeclaration";

const isEmpty = (node: Node): boolean => node.type === "ObjectExpression" && node.properties.length === 0;

/** Lists the places in a function where a name is used, apart from where it is made. */
const usesOf = (source: Source, fn: Written, name: string): readonly Node[] =>
  source.nodes("Identifier").filter((node) => {
    const parent = source.parentOf(node);
    const isMember = parent?.type === "MemberExpression" && parent.property === (node as Node) && !parent.computed;
    const isKey = parent?.type === "Property" && parent.key === (node as Node) && !parent.shorthand;
    return (
      node.name === name &&
      !isMember &&
      !isKey &&
      fn.body !== null &&
      node.start >= fn.body.start &&
      node.end <= fn.body.end
    );
  });

/** Counts the parameters of a step's function, where this file tells. */
const parametersOf = (source: Source, fn: Node): number | undefined => {
  if (isWritten(fn)) return fn.params.length;
  if (fn.type !== "Identifier") return undefined;
  const value =
    source.valueOf(fn.name, fn) ?? source.nodes("FunctionDeclaration").find(({ id }) => id?.name === fn.name);
  if (value !== undefined && isWritten(bare(value))) return (bare(value) as Written).params.length;
  const typed = source
    .around(fn)
    .filter(isWritten)
    .flatMap(({ params }) => params)
    .find((param) => param.type === "Identifier" && param.name === fn.name);
  const annotation = typed?.type === "Identifier" ? typed.typeAnnotation?.typeAnnotation : undefined;
  return annotation?.type === "TSFunctionType" ? annotation.params.length : undefined;
};

const receiverOf = (source: Source, { callee }: CallExpression): string | undefined =>
  callee.type === "MemberExpression" ? source.textOf(callee.object) : undefined;

/** Says `attempt` for what was `try`, and `ctx.attempt` for what was `attempt`. */
const renameInfo = (source: Source, call: CallExpression, fn: Written, info: Node): void => {
  const receiver = receiverOf(source, call);
  if (info.type === "Identifier") {
    for (const use of usesOf(source, fn, info.name)) {
      const parent = source.parentOf(use);
      const field = parent?.type === "MemberExpression" && parent.property.type === "Identifier" ? parent : undefined;
      if (field?.property.type !== "Identifier")
        source.note(use, "`attempt` of a step counts the attempts at the step; `ctx.attempt` those of the call");
      else if (field.property.name === "try") source.replace(field.property, "attempt");
      else if (field.property.name === "attempt" && receiver !== undefined) source.replace(field.object, receiver);
    }
    return;
  }
  if (info.type !== "ObjectPattern") return;
  for (const property of info.properties) {
    if (property.type !== "Property") continue;
    if (keyOf(property) === "try") source.replace(property.key, "attempt");
    else if (keyOf(property) === "attempt") {
      for (const use of usesOf(source, fn, source.textOf(property.value)))
        source.replace(use, `${receiver ?? "ctx"}.attempt`);
      const after = info.properties.find(({ start }) => start > property.start);
      const before = info.properties.findLast(({ end }) => end < property.start);
      source.edits.remove(
        after === undefined ? (before?.end ?? property.start) : property.start,
        after?.start ?? property.end,
      );
    }
  }
};

/** Takes the input from the parameters of a step's function, which is written where it is used. */
const rewriteFunction = (source: Source, call: CallExpression, fn: Written): void => {
  const [first, info] = fn.params;
  if (first === undefined) return;
  if (info !== undefined) {
    renameInfo(source, call, fn, info);
    const isLeft = info.type !== "ObjectPattern" || info.properties.some((property) => keyOf(property) !== "attempt");
    return void source.edits.remove(first.start, isLeft ? info.start : info.end);
  }
  const hasParentheses = source.text.lastIndexOf("(", first.start) >= fn.start;
  if (!hasParentheses) return void source.edits.update(first.start, first.end, "()");
  const end = source.text.indexOf(")", first.end);
  source.edits.remove(first.start, end);
};

/** Writes an input, which is moved to another place, with the steps in it. */
const within = (source: Source, input: Node): string => {
  const moved = new Source(source.file, `(${source.textOf(input)})`);
  step.apply(moved);
  source.notes.push(...moved.notes);
  return moved.edits.toString().slice(1, -1);
};

const rewriteStep = (source: Source, call: CallExpression): void => {
  const [, input, fn, options] = call.arguments;
  if (input === undefined || fn === undefined) return;
  renameCallee(source, call, "run");
  const said = isEmpty(input) ? undefined : within(source, input);
  const [first] = isWritten(fn) ? fn.params : [];
  const name = first?.type === "Identifier" ? first.name : undefined;
  const isUsed = isWritten(fn) && first !== undefined && (name === undefined || usesOf(source, fn, name).length > 0);
  let given = said === undefined || said === "input" ? said : `input: ${said}`;
  if (isUsed && first !== undefined) {
    const pattern = source.textOf(first);
    if (name !== undefined && said === name) given = "input";
    else {
      const outer = name ?? "input";
      given = outer === "input" ? "input" : `input: ${outer}`;
      source.edits.appendLeft(call.start, `((${outer}) => `);
      source.edits.appendRight(call.end, `)(${said ?? "{}"})`);
      if (name === undefined) source.note(call, `the step took \`${pattern}\` from its input: write it by hand`);
    }
  }
  source.edits.remove(input.start, fn.start);
  if (isWritten(fn)) rewriteFunction(source, call, fn);
  else if (parametersOf(source, fn) !== 0) {
    source.edits.appendLeft(fn.start, "(step) => ");
    source.edits.appendRight(fn.end, `(${said ?? "{}"}, step)`);
  }
  if (given === undefined) return;
  if (options === undefined) source.edits.appendRight(fn.end, `, { ${given} }`);
  else if (options.type !== "ObjectExpression") {
    source.edits.appendLeft(options.start, `{ ${given}, ...`);
    source.edits.appendRight(options.end, " }");
  } else if (options.properties.length === 0) source.replace(options, `{ ${given} }`);
  else source.edits.appendLeft(options.properties[0]?.start ?? options.start + 1, `${given}, `);
};

export const step: Renaming = {
  title: "`ctx.runJson(id, input, fn, options)` → `ctx.run(name, fn, { input, ...options })`",
  apply: (source) => {
    const calls = callsOf(source, "runJson");
    const isMoved = (call: Node): boolean =>
      calls.some(({ arguments: [, input] }) => input !== undefined && source.around(call).includes(input as Node));
    for (const call of calls) if (!isMoved(call)) rewriteStep(source, call);
    renameMember(source, "runJson", "run");
  },
};
