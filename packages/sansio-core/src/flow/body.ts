/** What a tool is called with: one text, or named arguments as one JSON object. */
import { type Json, type JsonObject, stringify } from "@pawl/tool-value";
import { coerce, isFloat } from "./coerce.ts";
import { floatJson } from "./number.ts";

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
