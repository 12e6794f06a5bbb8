/** Laws that hold for all values. `laws.test.ts` tries each a few hundred times, `pnpm laws` as often as it is told. */
import { createHash } from "node:crypto";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import * as fc from "fast-check";
import * as v from "../src/index.ts";
import { anyText, anything, built, finite, json, jsonText, limits, pair, value } from "./arbitrary.ts";
import { wire } from "./cases.ts";
import { records } from "./record-arbitrary.ts";
import { identical, referenceIds, referenceJson, referenceText } from "./reference.ts";

export interface Law {
  readonly name: string;
  readonly check: (parameters: { readonly numRuns: number; readonly seed?: number }) => {
    readonly seed: number;
    /** A counterexample, if there is one. */
    readonly report: string | undefined;
  };
}

const law = <A>(name: string, arbitrary: fc.Arbitrary<A>, holds: (a: A) => boolean): Law => ({
  name,
  check: (parameters) => {
    const details = fc.check(fc.property(arbitrary, holds), parameters);
    return { seed: details.seed, report: fc.defaultReportMessage(details) };
  },
});

const trusted = <A>(result: E.Either<v.ValueError, A>): A => {
  if (E.isLeft(result)) throw new Error(v.describe(result.left));
  return result.right;
};
const parsed = (text: string): v.Json => trusted(v.parse(text, v.noLimits));
const decoded = (input: unknown): v.ToolValue => trusted(v.decode(input, v.noLimits));
const readBack = (text: string): v.ToolValue => decoded(parsed(text));

/** Tells whether a value is in normal form: its own text reads back as it, to the bit. */
const isNormal = (passed: v.ToolValue): boolean => identical(readBack(v.canonicalJson(passed)), passed);
const isNormalIfAny = (result: E.Either<v.ValueError, v.ToolValue>): boolean =>
  E.isLeft(result) ? v.describe(result.left).isWellFormed() : isNormal(result.right);

/** Tells where JSON.parse rounds, overflows, accepts lone surrogates, or (in V8) mistakes a key with an escape. */
const isInexact = (text: string): boolean =>
  /\d{16}|e\+?\d{3}|\\ud[89a-f]|\\[^][^"\\]*"\s*:/i.test(text) || !text.isWellFormed();
const engineParse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
const ours = (text: string): unknown =>
  pipe(
    v.parse(text),
    E.getOrElseW(() => undefined),
  );
const second = (list: unknown): unknown => (Array.isArray(list) ? list.slice(1) : undefined);
const long = "12345678901234567890";

const valueLaws: readonly Law[] = [
  law("a value survives its text, to the bit", value, isNormal),
  law("a value survives its JSON, to the bit", value, (a) => identical(decoded(v.encode(a)), a)),
  law("JSON that an encoder wrote survives its value, to the bit", value, (a) =>
    identical(v.encode(decoded(v.encode(a))), v.encode(a)),
  ),
  law("a value's JSON follows the specification", value, (a) =>
    identical(parsed(referenceText(referenceJson(a))), parsed(v.stringify(v.encode(a)))),
  ),
  law("canonical text follows RFC 8785", built, (a) => v.canonicalJson(a) === referenceText(referenceJson(a))),
  law("canonical text is the text of the encoded form", built, (a) => v.canonicalJson(a) === v.stringify(v.encode(a))),
  law("the text of a record is canonical if its fields are in order", built, (a) => {
    const encoded = v.encode(a);
    return v.stringifyRecord(encoded) === v.stringify(encoded);
  }),
  law("canonical text is a fixed point", built, (a) => {
    const text = v.canonicalJson(a);
    return v.canonicalJson(readBack(text)) === text && v.stringify(parsed(text)) === text;
  }),
  law("the engine's writer and ours agree", value, (a) => {
    const text = v.canonicalJson(a);
    return v.canonicalJson([a, BigInt(long)]) === `[${text},${long}]`;
  }),
  law("values are equal exactly when their texts are", pair, ([a, b]) => {
    const same = v.canonicalJson(a) === v.canonicalJson(b);
    return v.equal(a, b) === same && v.equal(b, a) === same;
  }),
  law("a hash is the SHA-256 of the text's UTF-8", value, (a) => {
    const text = v.canonicalJson(a);
    return v.valueHash(a) === createHash("sha256").update(text, "utf8").digest("hex");
  }),
  law("lift takes all JSON literally and makes no attachments", json, (a) => {
    const lifted = v.lift(a);
    const isSame = v.stringify(lifted as v.Json) === v.stringify(a);
    return isSame && v.attachments(lifted).length === 0 && identical(decoded(v.encode(lifted)), lifted);
  }),
  law("attachments are found in order, and survive the text", value, (a) => {
    const refs = v.attachments(a);
    const ids = refs.map(({ id }) => id);
    return identical(ids, referenceIds(a)) && identical(v.attachments(readBack(v.canonicalJson(a))), refs);
  }),
  law("a model reads the text around the attachments, and the attachments", value, (a) => {
    const parts = v.modelParts(a);
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    const ids = parts.flatMap((part) => (part.type === "attachment" ? [part.id] : []));
    return text === (typeof a === "string" ? a : referenceText(a)) && identical(ids, referenceIds(a));
  }),
];

const inputLaws: readonly Law[] = [
  law("fromJs never throws, and returns normal form or an error", fc.tuple(anything, limits), ([a, within]) =>
    isNormalIfAny(v.fromJs(a(), within)),
  ),
  law("decode never throws, and returns normal form or an error", fc.tuple(anything, limits), ([a, within]) =>
    isNormalIfAny(v.decode(a(), within)),
  ),
  law("read never throws", fc.tuple(fc.constantFrom(...Object.values(wire)), finite), ([codec, a]) => {
    const result = v.read(codec as v.Codec<unknown>, a());
    return E.isRight(result) || v.describe(result.left).isWellFormed();
  }),
  law("parse never throws, and its result can be written", fc.tuple(anyText, limits), ([text, within]) => {
    const result = v.parse(text, within);
    return E.isLeft(result) || v.stringify(parsed(v.stringify(result.right))) === v.stringify(result.right);
  }),
  law("parse agrees with JSON.parse where that is exact", jsonText, (text) => {
    fc.pre(!isInexact(text));
    return identical(ours(text), engineParse(text));
  }),
  law("our parser agrees with JSON.parse where that is exact", jsonText, (text) => {
    fc.pre(!isInexact(text));
    return identical(second(ours(`[${long},${text}]`)), second(engineParse(`[0,${text}]`)));
  }),
];

/** States that a record's text can be read and written again. */
const recordLaw = (name: keyof typeof wire): Law => {
  const codec = wire[name] as v.Codec<unknown>;
  const write = (record: unknown): string => v.stringifyRecord(codec.encode(record));
  return law(`${name} survives its text, which is a fixed point`, records[name], (record) => {
    const text = write(record);
    const back = trusted(v.read(codec, parsed(text)));
    return identical(back, record) && write(back) === text && codec.is(back);
  });
};

export const laws: readonly Law[] = [
  ...valueLaws,
  ...inputLaws,
  ...(Object.keys(wire) as (keyof typeof wire)[]).map(recordLaw),
];
