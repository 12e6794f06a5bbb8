/** The ops on texts, references and conditions of flows. */
import { knownName, withFields } from "@pawl/testkit";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Parameter, argumentText, bodyOf } from "../../src/flow/program.ts";
import { type Comparison, coerce, holds } from "../../src/flow/value.ts";
import {
  type Bindings,
  interpolate,
  iterated,
  lambdaBinding,
  namedArgument,
  placeholder,
  toolBinding,
  valueReference,
} from "../../src/flow/text.ts";
import { type Input, listOf, objectOf, textOf } from "./input.ts";

const text = (input: Input, field: string): string => textOf(input[field]) ?? "";
const bindingsOf = (input: Input): Bindings =>
  new Map(Object.entries(objectOf(input["bindings"])).map(([name, value]) => [name, textOf(value) ?? ""]));
const pairsOf = (json: Json | undefined): readonly Parameter[] =>
  listOf(json).map((pair) => [textOf(listOf(pair)[0]) ?? "", textOf(listOf(pair)[1]) ?? ""]);

const bindingKey = (input: Input): string | undefined =>
  knownName("word", input["node"], ["lambda", "use_tool"]) === "lambda"
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
  // The name of the lambda is in no key: what it gives out is bound under its target or its type.
  "flow.binding_key": withFields(["node", "tool_name", "lambda_data_name", "target", "output_type"], (input: Input) =>
    E.right(bindingKey(input) ?? null),
  ),
  "flow.body": withFields(["named_args", "parameters"], (input: Input) => E.right(body(input))),
  "flow.coerce": withFields(["value", "type"], (input: Input) => E.right(coerced(input))),
  "flow.coerce_list": withFields(["value", "type"], (input: Input) => E.right(coerced(input))),
  "flow.condition": withFields(["lhs", "op", "rhs", "conditions", "conjunctor", "bindings"], (input: Input) =>
    E.right(condition(input)),
  ),
  "flow.interpolate": withFields(["text", "bindings"], (input: Input) =>
    E.right(interpolate(text(input, "text"), bindingsOf(input))),
  ),
  "flow.iterable": withFields(["value"], (input: Input) => E.right(iterated(text(input, "value")))),
  "flow.named_arg": withFields(["value", "value_kind", "bindings"], (input: Input) =>
    E.right(namedArgument({ value: text(input, "value"), value_kind: text(input, "value_kind") }, bindingsOf(input))),
  ),
  "flow.placeholder": withFields(["kind", "name", "arg", "bindings"], (input: Input) => {
    const kind = knownName("word", input["kind"], ["lambda", "tool"]);
    return E.right(placeholder(kind, text(input, "name"), text(input, "arg"), bindingsOf(input)));
  }),
  "flow.value_reference": withFields(["expr", "bindings"], (input: Input) =>
    E.right(valueReference(text(input, "expr"), bindingsOf(input))),
  ),
};
