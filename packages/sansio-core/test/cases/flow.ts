/** The ops on texts, references and conditions of flows. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Parameter, argumentText, bodyOf } from "../../src/flow/body.ts";
import { coerce } from "../../src/flow/coerce.ts";
import { type Comparison, holds } from "../../src/flow/condition.ts";
import { lambdaBinding, placeholder, toolBinding } from "../../src/flow/name.ts";
import { type Bindings, interpolate, iterated, namedArgument, valueReference } from "../../src/flow/text.ts";
import { type Input, listOf, objectOf, textOf } from "./input.ts";

const text = (input: Input, field: string): string => textOf(input[field]) ?? "";
const bindingsOf = (input: Input): Bindings =>
  new Map(Object.entries(objectOf(input["bindings"])).map(([name, value]) => [name, textOf(value) ?? ""]));
const pairsOf = (json: Json | undefined): readonly Parameter[] =>
  listOf(json).map((pair) => [textOf(listOf(pair)[0]) ?? "", textOf(listOf(pair)[1]) ?? ""]);

const bindingKey = (input: Input): string | undefined =>
  input["node"] === "lambda"
    ? lambdaBinding(text(input, "target"), text(input, "output_type"))
    : toolBinding(text(input, "tool_name"));

const body = (input: Input): Json => {
  const parameters = pairsOf(input["parameters"]);
  const json = bodyOf(pairsOf(input["named_args"]), parameters);
  return { json, text_sorted: argumentText(json, parameters) };
};

const comparisonOf = (input: Input): Comparison => [text(input, "lhs"), text(input, "op"), text(input, "rhs")];
const condition = (input: Input): boolean => {
  const conditions = listOf(input["conditions"]).map((triple): Comparison => {
    const [left, op, right] = listOf(triple).map((part) => textOf(part) ?? "");
    return [left ?? "", op ?? "", right ?? ""];
  });
  return holds(comparisonOf(input), { conditions, conjunctor: text(input, "conjunctor") }, bindingsOf(input));
};

const coerced = (input: Input): Json => coerce(text(input, "value"), textOf(input["type"]));

export const flowAdapters = {
  "flow.binding_key": (input: Input) => E.right(bindingKey(input) ?? null),
  "flow.body": (input: Input) => E.right(body(input)),
  "flow.coerce": (input: Input) => E.right(coerced(input)),
  "flow.coerce_list": (input: Input) => E.right(coerced(input)),
  "flow.condition": (input: Input) => E.right(condition(input)),
  "flow.interpolate": (input: Input) => E.right(interpolate(text(input, "text"), bindingsOf(input))),
  "flow.iterable": (input: Input) => E.right(iterated(text(input, "value"))),
  "flow.named_arg": (input: Input) =>
    E.right(namedArgument({ value: text(input, "value"), value_kind: text(input, "value_kind") }, bindingsOf(input))),
  "flow.placeholder": (input: Input) => {
    const kind = input["kind"] === "lambda" ? "lambda" : "tool";
    return E.right(placeholder(kind, text(input, "name"), text(input, "arg"), bindingsOf(input)));
  },
  "flow.value_reference": (input: Input) => E.right(valueReference(text(input, "expr"), bindingsOf(input))),
};
