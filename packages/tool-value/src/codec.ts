/**
 * The few io-ts types that typed records are made of. They differ from io-ts' own in three ways: a union is picked by
 * its tag, a record is written in the order of its fields, and an error says what was found and what was wanted.
 */
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import { loneSurrogate, setKey, sortedKeys } from "./json.ts";
import { laidOut } from "./layout.ts";

export type Codec<A> = t.Type<A, unknown>;

/** How a codec encodes what it takes as it is. */
export const identity = <A>(a: A): A => a;

/** A codec of its own; without `encode`, what it takes is written as it is. */
export const codecFrom = <A>(
  name: string,
  is: t.Is<A>,
  validate: t.Validate<unknown, A>,
  encode: t.Encode<A, unknown> = identity,
): Codec<A> => new t.Type(name, is, validate, encode);

const found = (u: unknown): string => {
  switch (typeof u) {
    case "boolean":
      return `boolean \`${u}\``;
    case "bigint":
      return `integer \`${u}\``;
    case "number":
      return Number.isInteger(u) ? `integer \`${u}\`` : `floating point \`${u}\``;
    case "string":
      return `string ${JSON.stringify(u)}`;
    case "object":
      return u === null ? "null" : Array.isArray(u) ? "sequence" : "map";
    default:
      return typeof u;
  }
};

/** What was found instead of what was wanted. */
export const typeMessage = (u: unknown, wanted: string): string => `invalid type: ${found(u)}, expected ${wanted}`;

/** A refusal; its message may quote the input, and is well-formed nevertheless. */
export const refuse = <A>(u: unknown, c: t.Context, message: string): t.Validation<A> =>
  E.left([{ value: u, context: c, message: message.toWellFormed() }]);
export const wrongType = <A>(u: unknown, c: t.Context, wanted: string): t.Validation<A> =>
  refuse(u, c, typeMessage(u, wanted));

export const isMap = (u: unknown): u is { readonly [key: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u);

/** The errors of a part, as seen from the whole: `key` goes in front of the path that the part reported. */
const under = (errors: t.Errors, c: t.Context, entry: t.ContextEntry): t.Errors =>
  errors.map((error) => ({ ...error, context: [...c, entry, ...error.context.slice(c.length)] }));

export const part = <A>(codec: Codec<A>, u: unknown, c: t.Context, key: string): t.Validation<A> => {
  const result = codec.validate(u, c);
  return E.isRight(result) ? result : E.left(under(result.left, c, { key, type: codec, actual: u }));
};

const scalar = <A>(
  wanted: string,
  is: (u: unknown) => u is A,
  message = (u: unknown): string => typeMessage(u, wanted),
): Codec<A> => codecFrom<A>(wanted, is, (u, c) => (is(u) ? E.right(u) : refuse(u, c, message(u))));

export const string: Codec<string> = scalar(
  "a string",
  (u): u is string => typeof u === "string" && u.isWellFormed(),
  (u) => (typeof u === "string" ? loneSurrogate : typeMessage(u, "a string")),
);
/** A string that says something to people or models; nothing is found or decided by it. */
export const text: Codec<string> = laidOut(codecFrom<string>(string.name, string.is, string.validate), {
  type: "value",
});
export const boolean: Codec<boolean> = scalar("a boolean", (u) => typeof u === "boolean");

/** `most` says what is wanted where a number is too large. */
const unsigned = (name: string, max: number, most = name): Codec<number> => {
  const is = (u: unknown): u is number => Number.isInteger(u) && (u as number) >= 0 && (u as number) <= max;
  return codecFrom<number>(name, is, (u, c) => {
    if (is(u)) return E.right(u + 0); // -0 becomes 0.
    const integer = Number.isInteger(u) || typeof u === "bigint";
    if (!integer) return wrongType(u, c, name);
    return refuse(u, c, `invalid value: ${found(u)}, expected ${(u as number | bigint) > max ? most : name}`);
  });
};
/** A whole number from 0 as far as a JavaScript number counts exactly. */
export const u64: Codec<number> = unsigned("u64", Number.MAX_SAFE_INTEGER, `u64 of at most ${Number.MAX_SAFE_INTEGER}`);
export const u32: Codec<number> = unsigned("u32", 0xffff_ffff);

export const array = <A>(item: Codec<A>): Codec<readonly A[]> => laidOut(arrayOf(item), { type: "items", of: item });

const arrayOf = <A>(item: Codec<A>): Codec<readonly A[]> =>
  codecFrom<readonly A[]>(
    "a sequence",
    (u): u is readonly A[] => Array.isArray(u) && u.every(item.is),
    (u, c) => {
      if (!Array.isArray(u)) return wrongType(u, c, "a sequence");
      const items: A[] = [];
      for (let i = 0; i < u.length; i++) {
        const result = part(item, u[i], c, `${i}`);
        if (E.isLeft(result)) return result;
        items.push(result.right);
      }
      return E.right(items);
    },
    (items) => items.map(item.encode),
  );

/** A map from any key to values of one kind. */
export const dict = <A>(item: Codec<A>): Codec<{ readonly [key: string]: A }> =>
  laidOut(dictOf(item), { type: "items", of: item });

const dictOf = <A>(item: Codec<A>): Codec<{ readonly [key: string]: A }> =>
  codecFrom<{ readonly [key: string]: A }>(
    "a map",
    (u): u is { readonly [key: string]: A } => isMap(u) && Object.values(u).every(item.is),
    (u, c) => {
      if (!isMap(u)) return wrongType(u, c, "a map");
      const items: { [key: string]: A } = {};
      for (const key of sortedKeys(u)) {
        const result = part(item, u[key], c, key);
        if (E.isLeft(result)) return result;
        setKey(items, key, result.right);
      }
      return E.right(items);
    },
    (items) => {
      const out: { [key: string]: unknown } = {};
      for (const key of sortedKeys(items)) setKey(out, key, item.encode(items[key] as A));
      return out;
    },
  );

/** A codec that stands for one which is not made yet, so that a type may contain itself. */
export const lazy = <A>(name: string, codec: () => Codec<A>): Codec<A> =>
  laidOut(
    codecFrom<A>(
      name,
      (u): u is A => codec().is(u),
      (u, c) => codec().validate(u, c),
      (a) => codec().encode(a),
    ),
    { type: "as", of: codec },
  );
