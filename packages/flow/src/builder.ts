/** A builder for flows in TypeScript: each function returns a node, as plain data. */
import type { Comparison, FlowNode, Program } from "@pawl/sansio-core/driver";

/** A value that is looked up by name. Any other value is a template. */
export interface Reference {
  readonly reference: string;
}
/** Refers to the exact value of a name; texts use `$name` instead. */
export const ref = (name: string): Reference => ({ reference: name });

type Value = string | Reference;
const valueOf = (value: Value): { readonly value: string; readonly value_kind: string } =>
  typeof value === "string" ? { value, value_kind: "literal" } : { value: value.reference, value_kind: "reference" };

export type Body = readonly FlowNode[];

/** Calls a tool with one text, or with named arguments. */
export const use = (tool_name: string, given: string | { readonly [name: string]: Value } = ""): FlowNode =>
  typeof given === "string"
    ? { node_type: "use_tool", tool_name, argument: given, named_args: [] }
    : {
        node_type: "use_tool",
        tool_name,
        argument: "",
        named_args: Object.entries(given).map(([name, value]) => ({ name, ...valueOf(value) })),
      };

/** Applies a lambda to the value of a name, and binds the result to `as`. */
export const apply = (lambda_data_name: string, target: string, as = ""): FlowNode => ({
  node_type: "lambda_data_apply",
  lambda_data_name,
  target,
  output_type: as,
});

/** Binds a text, or the value of another name. */
export const bind = (target: string, value: Value): FlowNode => ({
  node_type: "let_binding",
  target,
  ...valueOf(value),
});

export interface Condition {
  readonly first: Comparison;
  readonly others: readonly Comparison[];
  readonly conjunctor: "" | "or";
}
/**
 * Compares the value of a name. Without an operator it tests that the value is not empty, `false` or `0`. An unbound name
 * stands for its own text; an unknown operator is never true.
 */
export const is = (left: string, op = "", right = ""): Condition => ({
  first: [left, op, right],
  others: [],
  conjunctor: "",
});
/** Holds when at least one of the conditions holds. */
export const either = ({ first }: Condition, ...others: readonly Condition[]): Condition => ({
  first,
  others: others.map((other) => other.first),
  conjunctor: "or",
});

/** Runs one body if the condition holds, and the other one if not. */
export const when = ({ first, others, conjunctor }: Condition, body: Body, otherwise: Body = []): FlowNode => ({
  node_type: "conditional",
  condition: first[0],
  comparison_op: first[1],
  comparison_value: first[2],
  conditions: others,
  conjunctor,
  then_body: body,
  else_body: otherwise,
});

/** Loops over a list: a JSON array, or texts between commas. `iterable` is a name, or a text with `$name` in it. */
export const each = (variable: string, iterable: string, body: Body): FlowNode => ({
  node_type: "for_in",
  variable,
  iterable,
  body,
});

/** Runs branches in parallel, until all have ended. Their bindings are not visible outside. */
export const par = (...branches: readonly Body[]): FlowNode => ({ node_type: "parallel_block", branches });
/** Ends the flow with the value of a name, or with a text in which `$name` is replaced. */
export const back = (value_expr: string): FlowNode => ({ node_type: "return", value_expr });
/** Leaves the loop around it. */
export const stop: FlowNode = { node_type: "break" };
/** Goes on with the next turn of the loop around it. */
export const skip: FlowNode = { node_type: "continue" };

/** Makes a flow of a name and its nodes. */
export const flow = (name: string, nodes: Body, backend = ""): Program => ({ name, backend, nodes });
