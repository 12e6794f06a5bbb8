/** How texts of a flow find their bindings: templates and references, on code points. */
import { type Json, type JsonObject, type Limits, parse, stringify, isObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** Names bound to texts. */
export interface Bindings {
  readonly get: (name: string) => string | undefined;
}

/** Parses texts that a flow looks into. The results stand in no event, so a protocol keeps them for ever. */
export const textLimits: Limits = {
  depth: 256,
  size: 32 * 1024 * 1024,
  keys: 100_000,
  digits: 100_000,
  longDigits: Infinity,
};

const parsed = (text: string): Json | undefined =>
  E.getOrElse((): Json | undefined => undefined)(parse(text, textLimits));

/** A value inside a flow: a text as it is, anything else as compact JSON. */
const textOfJson = (json: Json): string => (typeof json === "string" ? json : stringify(json));

const entered = (json: Json): JsonObject | undefined => {
  const inner = typeof json === "string" ? parsed(json) : json;
  return isObject(inner) ? inner : undefined;
};

/** The text at the end of dotted fields, through objects and texts that hold one; lists are not entered. */
const walk = (root: Json, fields: readonly string[]): string | undefined => {
  let json = root;
  for (const field of fields) {
    const object = entered(json);
    const below = object !== undefined && Object.hasOwn(object, field) ? object[field] : undefined;
    if (below === undefined) return undefined;
    json = below;
  }
  return textOfJson(json);
};

/** Names inside `${…}`; what a base parses to is kept while one template is filled. */
class Names {
  readonly #bindings: Bindings;
  readonly #bases = new Map<string, Json | undefined>();

  constructor(bindings: Bindings) {
    this.#bindings = bindings;
  }

  exact(name: string): string | undefined {
    return this.#bindings.get(name);
  }

  dotted(name: string): string | undefined {
    const exact = this.#bindings.get(name);
    if (exact !== undefined) return exact;
    const [base = "", ...fields] = name.split(".");
    const root = fields.length === 0 ? undefined : this.#parsedBase(base);
    return root === undefined ? undefined : walk(root, fields);
  }

  #parsedBase(base: string): Json | undefined {
    if (!this.#bases.has(base)) {
      const text = this.#bindings.get(base);
      this.#bases.set(base, text === undefined ? undefined : parsed(text));
    }
    return this.#bases.get(base);
  }
}

interface Hole {
  /** Behind its last code unit. */
  readonly end: number;
  readonly value: string | undefined;
}

const plainName = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Returns the reference that the `$` at a place begins, if it begins one. */
const holeAt = (text: string, at: number, lastBrace: number, names: Names): Hole | undefined => {
  if (text[at + 1] === "{") {
    if (lastBrace < at) return undefined;
    const close = text.indexOf("}", at + 2);
    return { end: close + 1, value: names.dotted(text.slice(at + 2, close)) };
  }
  plainName.lastIndex = at + 1;
  const [name] = plainName.exec(text) ?? [];
  return name === undefined ? undefined : { end: at + 1 + name.length, value: names.exact(name) };
};

/**
 * A template with its bindings filled in, once, from left to right: `$name` by its exact key, `${name}` by its key or
 * through the fields of a JSON object. What finds nothing stays as it is written. Longer than `limit` is not finished.
 */
export const interpolate = (text: string, bindings: Bindings, limit = Infinity): string => {
  const names = new Names(bindings);
  const lastBrace = text.lastIndexOf("}");
  let out = "";
  let from = 0;
  for (let at = text.indexOf("$"); at !== -1 && out.length <= limit; at = text.indexOf("$", at)) {
    const hole = holeAt(text, at, lastBrace, names);
    const end = hole?.end ?? at + 1;
    out += text.slice(from, at) + (hole?.value ?? text.slice(at, end));
    from = end;
    at = end;
  }
  return out + text.slice(from);
};

/** Returns the text that a whole text is bound to, else the text itself. */
export const exactOrText = (text: string, bindings: Bindings): string => bindings.get(text) ?? text;

const suffix = ".output";

/** A reference's binding: by its exact key, or without one `.output` at its end. */
const referenced = (name: string, bindings: Bindings): string | undefined =>
  bindings.get(name) ?? (name.endsWith(suffix) ? bindings.get(name.slice(0, -suffix.length)) : undefined);

/** A named argument's text. A reference that finds nothing is empty; anything else is a template. */
export const namedArgument = (
  { value, value_kind }: { readonly value: string; readonly value_kind: string },
  bindings: Bindings,
  limit?: number,
): string => (value_kind === "reference" ? (referenced(value, bindings) ?? "") : interpolate(value, bindings, limit));

/**
 * Resolves what loops go over and what a return gives: a template where there is a `$`, else a reference, else the
 * text.
 */
export const valueReference = (text: string, bindings: Bindings, limit?: number): string =>
  text.includes("$") ? interpolate(text, bindings, limit) : (referenced(text, bindings) ?? text);

const space = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const isSpace = (text: string, at: number): boolean => space.test(text[at] as string);

/** Without what Unicode calls white space around it. */
export const trimmed = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text, from)) from += 1;
  while (to > from && isSpace(text, to - 1)) to -= 1;
  return text.slice(from, to);
};

/** Without this unit at its end, however often it stands there. */
export const withoutLast = (text: string, unit: string): string => {
  let to = text.length;
  while (to > 0 && text[to - 1] === unit) to -= 1;
  return text.slice(0, to);
};

/** The items that a loop goes over. */
export const iterated = (value: string): readonly string[] => {
  if (trimmed(value) === "") return [];
  const json = parsed(value);
  if (Array.isArray(json)) return json.map(textOfJson);
  if (isObject(json) && typeof json["taint"] === "string") {
    const { rows } = json;
    return Array.isArray(rows) ? rows.map(textOfJson) : [];
  }
  return value
    .split(",")
    .map(trimmed)
    .filter((item) => item !== "");
};

// Placeholders, and the names that outputs are bound to.

/** Stands in for a lambda or a tool that nobody registered: the request that would have been made. */
export const placeholder = (kind: "lambda" | "tool", name: string, argument: string, bindings: Bindings): string =>
  `${kind}:${name}(${exactOrText(argument, bindings)})`;

/** Where a lambda's output is bound; without an output type its target's name tells, without either nothing. */
export const lambdaBinding = (target: string, outputType: string): string | undefined => {
  if (outputType !== "") return outputType;
  return target === "" ? undefined : `${target}_lambda_applied`;
};

export const toolBinding = (tool: string): string | undefined => (tool === "" ? undefined : `${tool}_result`);
