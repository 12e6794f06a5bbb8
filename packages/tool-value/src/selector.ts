/** Selectors: data that names a part of a payload, or builds a text from parts. */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, dict, lazy, string } from "./codec.ts";
import { type Json, type JsonObject, sortedKeys } from "./json.ts";
import { record } from "./record.ts";
import { external } from "./union.ts";
import { json } from "./value.ts";
import { stringify } from "./write.ts";

export type ProcessValueSelector =
  | "payload"
  | { readonly pointer: string }
  | { readonly const: Json }
  | { readonly template: SelectorTemplate }
  | { readonly present: string };

export interface SelectorTemplate {
  readonly template: string;
  readonly fields: { readonly [name: string]: ProcessValueSelector };
}

export const ProcessValueSelector: Codec<ProcessValueSelector> = external<ProcessValueSelector>(
  "ProcessValueSelector",
  ["payload"],
  {
    pointer: string,
    const: json,
    template: record<SelectorTemplate>("struct SelectorTemplate", {
      template: string,
      fields: dict(lazy("ProcessValueSelector", () => ProcessValueSelector)),
    }),
    present: string,
  },
);

const arrayIndex = /^(?:0|[1-9]\d*)$/;

const child = (value: Json, key: string): Json | undefined => {
  if (Array.isArray(value)) return arrayIndex.test(key) ? value[Number(key)] : undefined;
  const isObject = typeof value === "object" && value !== null;
  return isObject && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
};

/** Returns the part of a value that a JSON pointer (RFC 6901) names; undefined if there is none. */
export const at = (pointer: string, value: Json): Json | undefined => {
  if (pointer === "") return value;
  if (!pointer.startsWith("/")) return undefined;
  const keys = pointer.slice(1).split("/");
  return keys.reduce<Json | undefined>(
    (found, key) => (found === undefined ? undefined : child(found, key.replaceAll("~1", "/").replaceAll("~0", "~"))),
    value,
  );
};

/** Renders a selected value as text: a string as it is, anything else as compact JSON. */
export const render = (value: Json): string => (typeof value === "string" ? value : stringify(value));

const fill = (template: SelectorTemplate, payload: Json): E.Either<string, Json> => {
  let text = template.template;
  for (const name of sortedKeys(template.fields)) {
    const value = select(template.fields[name] as ProcessValueSelector, payload);
    if (E.isLeft(value)) return value;
    text = text.replaceAll(`{${name}}`, () => render(value.right));
  }
  return E.right(text);
};

/** Evaluates a selector on a payload. A pointer that matches nothing is an error. */
export const select = (selector: ProcessValueSelector, payload: Json): E.Either<string, Json> => {
  if (selector === "payload") return E.right(payload);
  if ("const" in selector) return E.right(selector.const);
  if ("present" in selector) return E.right(at(selector.present, payload) !== undefined);
  if ("template" in selector) return fill(selector.template, payload);
  const value = at(selector.pointer, payload);
  return value === undefined ? E.left(`payload pointer \`${selector.pointer}\` did not match`) : E.right(value);
};
