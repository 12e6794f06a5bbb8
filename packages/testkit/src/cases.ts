/**
 * The case runner: cases are data, `{id, op, input, expect | error}`, and an adapter per op calls the public API with
 * the input. What is listed in a case has to be there; what is not listed may be.
 */
import { type Codec, type Json, type JsonObject, describe, fromJs, noLimits, parse, read } from "@pawl/tool-value";
import { canonicalJson, equal, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";

export interface Case {
  readonly id: string;
  readonly op: string;
  readonly input: Json;
  readonly expect?: Json;
  readonly error?: Json;
}

/** What went wrong in an op, with whatever else the adapter saw. */
export interface CaseError {
  readonly code?: string;
  readonly message: string;
  readonly [seen: string]: unknown;
}
export type CaseResult = E.Either<CaseError, unknown>;
export type Adapter = (input: JsonObject) => CaseResult | Promise<CaseResult>;
export type Adapters = { readonly [op: string]: Adapter };

/**
 * A case names something that its adapter does not know. The adapter refuses the whole case: to leave the name out
 * would be to carry out another case than the one that stands there, and often to pass it.
 */
export class UnknownInput extends Error {
  readonly code: `unknown_${UnknownPart}`;

  constructor(part: UnknownPart, name: string, known: readonly string[]) {
    super(`unknown ${part} \`${name}\`, expected one of ${known.map((one) => `\`${one}\``).join(", ")}`);
    this.name = "UnknownInput";
    this.code = `unknown_${part}`;
  }
}
/** A step of a sequence, one op among several on the same thing, a field of the input, or one of a field's words. */
export type UnknownPart = "step" | "op" | "field" | "word";

/** Returns the name if it is among those known, and refuses any other. */
export const knownName = <Name extends string>(part: UnknownPart, name: unknown, known: readonly Name[]): Name => {
  const found = known.find((one) => one === name);
  if (found === undefined) {
    throw new UnknownInput(part, typeof name === "string" ? name : String(JSON.stringify(name)), known);
  }
  return found;
};

/** Refuses an object with fields other than these. */
export const knownFields = (input: object, fields: readonly string[]): void => {
  for (const field of Object.keys(input)) knownName("field", field, fields);
};

/** Returns an adapter that refuses an input with fields other than these. */
export const withFields =
  <Input extends JsonObject, Result>(fields: readonly string[], adapter: (input: Input) => Result) =>
  (input: Input): Result => {
    knownFields(input, fields);
    return adapter(input);
  };

/** The cases in a file's text. */
export const readCases = (text: string): readonly Case[] => {
  const json = parse(text, noLimits);
  if (E.isLeft(json)) throw new Error(describe(json.left));
  if (!Array.isArray(json.right)) throw new Error("expected a list of cases");
  return json.right.map((entry: Json, index) => {
    const { id, op } = entry as Partial<Record<string, Json>>;
    if (typeof id !== "string" || typeof op !== "string") throw new Error(`case ${index} needs an id and an op`);
    return entry as unknown as Case;
  });
};

const jsonOf = (result: unknown): Json => {
  const value = fromJs(result, noLimits);
  if (E.isLeft(value)) throw new Error(`the adapter's result is no JSON: ${describe(value.left)}`);
  return value.right as Json;
};

/** What an adapter answered, as JSON; an op without an adapter is an error like any other. */
export const runCase = async ({ op, input }: Case, adapters: Adapters): Promise<E.Either<JsonObject, Json>> => {
  const adapter = Object.hasOwn(adapters, op) ? adapters[op] : undefined;
  if (adapter === undefined) return E.left({ code: "no_adapter", message: `no adapter for op \`${op}\`` });
  try {
    const result = await adapter(input as JsonObject);
    return E.bimap(
      (error: CaseError) => jsonOf(error) as JsonObject,
      (value: unknown) => jsonOf(value),
    )(result);
  } catch (thrown) {
    if (thrown instanceof UnknownInput) return E.left({ code: thrown.code, message: thrown.message });
    const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return E.left({ code: "adapter_threw", message });
  }
};

const show = (found: Json | undefined): string => (found === undefined ? "nothing" : canonicalJson(found));

const differenceOfArrays = (expected: readonly Json[], found: Json, path: string): string | undefined => {
  if (!Array.isArray(found) || found.length !== expected.length) {
    return `${path}: expected ${show(expected)}, found ${show(found)}`;
  }
  for (const [i, item] of expected.entries()) {
    const difference = differenceOf(item, found[i], `${path}[${i}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
};

/** The first place where something listed is not found; `null` in an object is found where the field is absent. */
export const differenceOf = (expected: Json, found: Json | undefined, path = "$"): string | undefined => {
  const isContainer = typeof expected === "object" && expected !== null;
  if (expected === null && found === undefined) return undefined;
  if (found === undefined) return `${path}: expected ${show(expected)}, found nothing`;
  if (!isContainer)
    return equal(expected, found) ? undefined : `${path}: expected ${show(expected)}, found ${show(found)}`;
  if (Array.isArray(expected)) return differenceOfArrays(expected, found, path);
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    return `${path}: expected ${show(expected)}, found ${show(found)}`;
  }
  for (const [key, value] of Object.entries(expected)) {
    const at = Object.hasOwn(found, key) ? (found as JsonObject)[key] : undefined;
    const difference = differenceOf(value as Json, at, `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
};

/** Why a case fails, or undefined where it passes. */
export const judge = (test: Case, answer: E.Either<JsonObject, Json>): string | undefined => {
  if (test.error !== undefined) {
    if (E.isRight(answer)) return `expected the error ${show(test.error)}, found the result ${show(answer.right)}`;
    return differenceOf(typeof test.error === "string" ? { message: test.error } : test.error, answer.left);
  }
  if (E.isLeft(answer)) return `expected ${show(test.expect)}, found the error ${show(answer.left)}`;
  return test.expect === undefined
    ? "the case lists neither expect nor error"
    : differenceOf(test.expect, answer.right);
};

/** A case's answer in one line. */
export const printCase = (test: Case, answer: E.Either<JsonObject, Json>): string =>
  stringifyRecord(E.isLeft(answer) ? { id: test.id, error: answer.left } : { id: test.id, result: answer.right });

/** The adapter of `wire.roundtrip`: a record's text is read and written again, in the order of its fields. */
export const wireRoundtrip = (codecs: { readonly [type: string]: Codec<unknown> }): Adapter =>
  withFields(["type", "json"], ({ type, json }) => {
    const codec = Object.hasOwn(codecs, String(type)) ? codecs[String(type)] : undefined;
    if (codec === undefined) return E.left({ code: "unknown_type", message: `no codec for \`${String(type)}\`` });
    return pipe(
      parse(json as string),
      E.chain((input) => read(codec, input)),
      E.bimap(
        ({ code, message }) => ({ code, message }),
        (value) => ({ json: stringifyRecord(codec.encode(value)) }),
      ),
    );
  });
