/** The ops on texts, references and conditions of flows. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import * as core from "../../src/index.ts";
import { type Input, listOf, objectOf, textOf } from "./input.ts";

const text = (input: Input, field: string): string => textOf(input[field]) ?? "";
const bindingsOf = (input: Input): core.Bindings =>
  new Map(Object.entries(objectOf(input["bindings"])).map(([name, value]) => [name, textOf(value) ?? ""]));
const pairsOf = (json: Json | undefined): readonly core.Parameter[] =>
  listOf(json).map((pair) => [textOf(listOf(pair)[0]) ?? "", textOf(listOf(pair)[1]) ?? ""]);

const bindingKey = (input: Input): string | undefined =>
  input["node"] === "lambda"
    ? core.lambdaBinding(text(input, "target"), text(input, "output_type"))
    : core.toolBinding(text(input, "tool_name"));

const body = (input: Input): Json => {
  const parameters = pairsOf(input["parameters"]);
  const json = core.argumentBody(pairsOf(input["named_args"]), parameters);
  return { json, text_sorted: core.argumentText(json, parameters) };
};

const comparisonOf = (input: Input): core.Comparison => [text(input, "lhs"), text(input, "op"), text(input, "rhs")];
const condition = (input: Input): boolean => {
  const conditions = listOf(input["conditions"]).map((triple): core.Comparison => {
    const [left, op, right] = listOf(triple).map((part) => textOf(part) ?? "");
    return [left ?? "", op ?? "", right ?? ""];
  });
  return core.holds(comparisonOf(input), { conditions, conjunctor: text(input, "conjunctor") }, bindingsOf(input));
};

const coerced = (input: Input): Json => core.coerce(text(input, "value"), textOf(input["type"]));

export const flowAdapters = {
  "flow.binding_key": (input: Input) => E.right(bindingKey(input) ?? null),
  "flow.body": (input: Input) => E.right(body(input)),
  "flow.coerce": (input: Input) => E.right(coerced(input)),
  "flow.coerce_list": (input: Input) => E.right(coerced(input)),
  "flow.condition": (input: Input) => E.right(condition(input)),
  "flow.interpolate": (input: Input) => E.right(core.interpolate(text(input, "text"), bindingsOf(input))),
  "flow.iterable": (input: Input) => E.right(core.iterated(text(input, "value"))),
  "flow.named_arg": (input: Input) =>
    E.right(
      core.namedArgument({ value: text(input, "value"), value_kind: text(input, "value_kind") }, bindingsOf(input)),
    ),
  "flow.placeholder": (input: Input) => {
    const kind = input["kind"] === "lambda" ? "lambda" : "tool";
    return E.right(core.placeholder(kind, text(input, "name"), text(input, "arg"), bindingsOf(input)));
  },
  "flow.value_reference": (input: Input) => E.right(core.valueReference(text(input, "expr"), bindingsOf(input))),
};
