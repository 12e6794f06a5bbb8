/**
 * The case runner. A case is data, `{id, op, input, expect | error}`; the adapter of its op calls the public API with
 * the input. Everything that the case lists must be there. There may be more, but not of a turn, whose cases list all.
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

/** The error of an op, with anything else that the adapter saw. */
export interface CaseError {
  readonly code?: string;
  readonly message: string;
  readonly [seen: string]: unknown;
}
let opened = 1;

/**
 * Returns the protocol of the scopes that adapters open: 1, in whose words the given cases are written, unless `openCasesUnder`
 * was given another.
 */
export const caseProtocol = (): number => opened;
/** Opens the scopes of cases under another protocol from now on. */
export const openCasesUnder = (protocol: number): void => {
  opened = protocol;
};

export type CaseResult = E.Either<CaseError, unknown>;
export type Adapter = (input: JsonObject) => CaseResult | Promise<CaseResult>;
export type Adapters = { readonly [op: string]: Adapter };

/**
 * A case names something that its adapter does not know. The adapter refuses the whole case: without the unknown part
 * it would run another case, and often pass it.
 */
export class UnknownInput extends Error {
  readonly code: `unknown_${UnknownPart}`;

  constructor(part: UnknownPart, name: string, known: readonly string[]) {
    super(`unknown ${part} \`${name}\`, expected one of ${known.map((one) => `\`${one}\``).join(", ")}`);
    this.name = "UnknownInput";
    this.code = `unknown_${part}`;
  }
}
/**
 * The kind of an unknown part: a step of a sequence, an op among several, a field of the input, or a value of a field.
 */
export type UnknownPart = "step" | "op" | "field" | "word";

/** Returns a known name, or throws. */
export const knownName = <Name extends string>(part: UnknownPart, name: unknown, known: readonly Name[]): Name => {
  const found = known.find((one) => one === name);
  if (found === undefined) {
    throw new UnknownInput(part, typeof name === "string" ? name : String(JSON.stringify(name)), known);
  }
  return found;
};

/** Throws if an object has other fields than these. */
export const knownFields = (input: object, fields: readonly string[]): void => {
  for (const field of Object.keys(input)) knownName("field", field, fields);
};

/** Wraps an adapter to refuse inputs with other fields than these. */
export const withFields =
  <Input extends JsonObject, Result>(fields: readonly string[], adapter: (input: Input) => Result) =>
  (input: Input): Result => {
    knownFields(input, fields);
    return adapter(input);
  };

/** Parses the cases of a file. */
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

/** Runs a case and returns the adapter's answer as JSON. An op without an adapter is an error. */
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

/** How an expectation is read. `isWhole`: nothing else may be there, and a `*` in a text stands for any text. */
interface Reading {
  readonly isWhole: boolean;
}
const atLeast: Reading = { isWhole: false };

/** Returns whether a text is the expected one, each `*` of which stands for any text. */
const fits = (expected: string, found: string): boolean => {
  const [first = "", ...rest] = expected.split("*");
  const last = rest.pop();
  if (last === undefined) return expected === found;
  let at = first.length;
  for (const part of rest) {
    const next = found.indexOf(part, at);
    if (next === -1) return false;
    at = next + part.length;
  }
  return found.startsWith(first) && found.endsWith(last) && found.length - last.length >= at;
};

const isSame = (expected: Json, found: Json, { isWhole }: Reading): boolean =>
  isWhole && typeof expected === "string" && typeof found === "string" ? fits(expected, found) : equal(expected, found);

const differenceOfArrays = (
  expected: readonly Json[],
  found: Json,
  path: string,
  reading: Reading,
): string | undefined => {
  if (!Array.isArray(found) || found.length !== expected.length) {
    return `${path}: expected ${show(expected)}, found ${show(found)}`;
  }
  for (const [i, item] of expected.entries()) {
    const difference = differenceOf(item, found[i], `${path}[${i}]`, reading);
    if (difference !== undefined) return difference;
  }
  return undefined;
};

/** Returns the first place where an expected value is missing. An expected `null` matches an absent field. */
export const differenceOf = (
  expected: Json,
  found: Json | undefined,
  path = "$",
  reading: Reading = atLeast,
): string | undefined => {
  const isContainer = typeof expected === "object" && expected !== null;
  if (expected === null && found === undefined) return undefined;
  if (found === undefined) return `${path}: expected ${show(expected)}, found nothing`;
  if (!isContainer)
    return isSame(expected, found, reading) ? undefined : `${path}: expected ${show(expected)}, found ${show(found)}`;
  if (Array.isArray(expected)) return differenceOfArrays(expected, found, path, reading);
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    return `${path}: expected ${show(expected)}, found ${show(found)}`;
  }
  for (const [key, value] of Object.entries(expected)) {
    const at = Object.hasOwn(found, key) ? (found as JsonObject)[key] : undefined;
    const difference = differenceOf(value as Json, at, `${path}.${key}`, reading);
    if (difference !== undefined) return difference;
  }
  const more = Object.entries(found).find(([key, value]) => value !== null && !Object.hasOwn(expected, key));
  if (!reading.isWhole || more === undefined) return undefined;
  return `${path}.${more[0]}: expected nothing, found ${show(more[1] as Json)}`;
};

/** Returns why a case fails, or undefined if it passes. */
export const judge = (test: Case, answer: E.Either<JsonObject, Json>): string | undefined => {
  if (test.error !== undefined) {
    if (E.isRight(answer)) return `expected the error ${show(test.error)}, found the result ${show(answer.right)}`;
    return differenceOf(typeof test.error === "string" ? { message: test.error } : test.error, answer.left);
  }
  if (E.isLeft(answer)) return `expected ${show(test.expect)}, found the error ${show(answer.left)}`;
  return test.expect === undefined
    ? "the case lists neither expect nor error"
    : differenceOf(test.expect, answer.right, "$", { isWhole: test.op.startsWith("turn.") });
};

/** Prints a case's answer as one line. */
export const printCase = (test: Case, answer: E.Either<JsonObject, Json>): string =>
  stringifyRecord(E.isLeft(answer) ? { id: test.id, error: answer.left } : { id: test.id, result: answer.right });

/** The adapter of `wire.roundtrip`: decodes a record's text and encodes it again, with the fields in order. */
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
