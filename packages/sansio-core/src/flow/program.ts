/** A flow as it is written: nodes are data. */
import { type Json, type JsonObject, stringify } from "@pawl/tool-value";
import { type Comparison, coerce, floatJson, isFloat } from "./value.ts";

export interface NamedArg {
  readonly name: string;
  readonly value: string;
  /** `reference`, or anything else for a template. */
  readonly value_kind: string;
}

/** Kinds of nodes that belong to the language and are not built: a flow that has one is refused by its name. */
export const unbuiltKinds = [
  ..."step probe reason validate refine weave remember recall stream stream_block hibernate deliberate".split(" "),
  ..."consensus forge focus associate aggregate explore ingest shield_apply ots_apply mandate_apply".split(" "),
  ..."compute_apply navigate drill trail corroborate listen daemon_step emit publish discover persist".split(" "),
  ..."retrieve mutate purge transact grad mint rotate quant yield warden run".split(" "),
];

export type FlowNode =
  | {
      readonly node_type: "use_tool";
      readonly tool_name: string;
      readonly argument: string;
      readonly named_args: readonly NamedArg[];
    }
  | {
      readonly node_type: "lambda_data_apply";
      readonly lambda_data_name: string;
      readonly target: string;
      readonly output_type: string;
    }
  | {
      readonly node_type: "let_binding";
      readonly target: string;
      readonly value: string;
      readonly value_kind: string;
      readonly value_ast?: Json;
    }
  | {
      readonly node_type: "conditional";
      readonly condition: string;
      readonly comparison_op: string;
      readonly comparison_value: string;
      readonly conditions: readonly Comparison[];
      readonly conjunctor: string;
      readonly cond?: Json;
      readonly then_body: readonly FlowNode[];
      readonly else_body: readonly FlowNode[];
    }
  | {
      readonly node_type: "for_in";
      readonly variable: string;
      readonly iterable: string;
      readonly body: readonly FlowNode[];
    }
  | { readonly node_type: "parallel_block"; readonly branches: readonly (readonly FlowNode[])[] }
  | { readonly node_type: "return"; readonly value_expr: string }
  | { readonly node_type: "break" }
  | { readonly node_type: "continue" }
  | { readonly node_type: "unbuilt"; readonly kind: string };

type NodeType = FlowNode["node_type"];
export type NodeOf<T extends NodeType> = Extract<FlowNode, { readonly node_type: T }>;

export interface Program {
  readonly name: string;
  readonly backend: string;
  readonly nodes: readonly FlowNode[];
}

/** Why a flow is not taken: where in it, and what stands there. */
interface ProgramProblem {
  readonly path: string;
  readonly message: string;
}

/** Bodies inside each other. */
const maxDepth = 64;

interface Body {
  readonly nodes: readonly FlowNode[];
  readonly path: string;
  readonly depth: number;
}

/** The bodies of a node, with where each stands. */
const bodiesOf = (node: FlowNode): readonly (readonly [path: string, nodes: readonly FlowNode[]])[] => {
  switch (node.node_type) {
    case "conditional":
      return [
        ["then_body", node.then_body],
        ["else_body", node.else_body],
      ];
    case "for_in":
      return [["body", node.body]];
    case "parallel_block":
      return node.branches.map((branch, i) => [`branches[${i}]`, branch]);
    default:
      return [];
  }
};

const notBuilt = (what: string): string => `${what} is not built: leave it out of the flow`;

const problemOfNode = (node: FlowNode): string | undefined => {
  if (node.node_type === "unbuilt") return notBuilt(`the node \`${node.kind}\``);
  if (node.node_type === "let_binding" && node.value_ast !== undefined)
    return notBuilt("`let_binding` with `value_ast`");
  return node.node_type === "conditional" && node.cond !== undefined
    ? notBuilt("`conditional` with `cond`")
    : undefined;
};

/** The first node that is not built, or lies too deep. */
export const problemOfProgram = ({ nodes }: Program): ProgramProblem | undefined => {
  const bodies: Body[] = [{ nodes, path: "nodes", depth: 1 }];
  for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
    const { path, depth } = body;
    if (depth > maxDepth) return { path, message: `bodies stand in each other at most ${maxDepth} deep` };
    for (const [i, node] of body.nodes.entries()) {
      const message = problemOfNode(node);
      if (message !== undefined) return { path: `${path}[${i}]`, message };
    }
    const below = body.nodes.flatMap((node, i) =>
      bodiesOf(node).map(([name, inner]) => ({ nodes: inner, path: `${path}[${i}].${name}`, depth: depth + 1 })),
    );
    bodies.push(...below.toReversed());
  }
  return undefined;
};

// Arguments of a tool: one text, or named arguments as one JSON object.

/** A parameter that a tool declares: its name, and the name of its type. */
export type Parameter = readonly [name: string, type: string];

const typesOf = (parameters: readonly Parameter[]): ReadonlyMap<string, string> => new Map(parameters);

/** Named arguments as a body: each as its parameter's type; of one name given twice the last counts. */
export const bodyOf = (
  args: readonly (readonly [name: string, value: string])[],
  parameters: readonly Parameter[],
): JsonObject => {
  const types = typesOf(parameters);
  const body = new Map(args.map(([name, value]) => [name, coerce(value, types.get(name))]));
  return Object.fromEntries([...body].toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

const fieldText = (value: Json, type: string | undefined): string =>
  typeof value === "number" && type !== undefined && isFloat(type) ? floatJson(value) : stringify(value);

/** The text of what a tool is called with: a text is its own, a body has sorted keys and shows its floats. */
export const argumentText = (args: Json, parameters: readonly Parameter[]): string => {
  if (typeof args === "string") return args;
  if (typeof args !== "object" || args === null || Array.isArray(args)) return stringify(args);
  const types = typesOf(parameters);
  const fields = Object.keys(args)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${fieldText((args as JsonObject)[name] as Json, types.get(name))}`);
  return `{${fields.join(",")}}`;
};
