/**
 * The io-ts types that typed records are made of: scalars, arrays and maps here, records in record.ts, unions in
 * union.ts. Each is an io-ts `Type` and combines with io-ts' own codecs. They replace io-ts' combinators in three
 * respects: a union's tag selects the member, so that no member is tried in vain; a record is written in the order of its
 * fields; and an error names what was found and what was expected.
 *
 * A codec validates until the first error. It extends the context only then (`part`), which keeps the good case fast.
 */
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import { loneSurrogate, setKey, sortedKeys } from "./json.ts";
import { laidOut } from "./layout.ts";

export type Codec<A> = t.Type<A, unknown>;
/** The type that a codec reads. */
export type TypeOf<C> = C extends Codec<infer A> ? A : never;

/** The `encode` of codecs whose decoded form is their input: a record takes any value that they accept as it is. */
export const identity = <A>(a: A): A => a;

/** Makes a codec. Without `encode`, validation must return its input unchanged, and encoding does the same. */
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

/** Names what was found and what was expected. */
export const typeMessage = (u: unknown, expected: string): string => `invalid type: ${found(u)}, expected ${expected}`;

/** Fails with a message. The message may quote the input, so it is made well-formed. */
export const refuse = <A>(u: unknown, c: t.Context, message: string): t.Validation<A> =>
  E.left([{ value: u, context: c, message: message.toWellFormed() }]);
export const wrongType = <A>(u: unknown, c: t.Context, expected: string): t.Validation<A> =>
  refuse(u, c, typeMessage(u, expected));

export const isMap = (u: unknown): u is { readonly [key: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u);

/** Inserts `entry` into the contexts of a part's errors, in front of the path that the part reported. */
const under = (errors: t.Errors, c: t.Context, entry: t.ContextEntry): t.Errors =>
  errors.map((error) => ({ ...error, context: [...c, entry, ...error.context.slice(c.length)] }));

/** Validates a part of a whole, under `key`. */
export const part = <A>(codec: Codec<A>, u: unknown, c: t.Context, key: string): t.Validation<A> => {
  const result = codec.validate(u, c);
  return E.isRight(result) ? result : E.left(under(result.left, c, { key, type: codec, actual: u }));
};

const scalar = <A>(
  name: string,
  is: (u: unknown) => u is A,
  message = (u: unknown): string => typeMessage(u, name),
): Codec<A> => codecFrom<A>(name, is, (u, c) => (is(u) ? E.right(u) : refuse(u, c, message(u))));

/** Reads and writes a well-formed text. */
export const string: Codec<string> = scalar(
  "a string",
  (u): u is string => typeof u === "string" && u.isWellFormed(),
  (u) => (typeof u === "string" ? loneSurrogate : typeMessage(u, "a string")),
);
/** Prose for people or models. It counts as a value (layout.ts): no program looks anything up by it. */
export const text: Codec<string> = laidOut(codecFrom<string>(string.name, string.is, string.validate), {
  type: "value",
});
/** Reads and writes a boolean. */
export const boolean: Codec<boolean> = scalar("a boolean", (u) => typeof u === "boolean");

/** `most` replaces the name in errors about numbers that are too large. */
const unsigned = (name: string, max: number, most = name): Codec<number> => {
  const is = (u: unknown): u is number => Number.isInteger(u) && (u as number) >= 0 && (u as number) <= max;
  return codecFrom<number>(name, is, (u, c) => {
    if (is(u)) return E.right(u + 0); // -0 becomes 0.
    const integer = Number.isInteger(u) || typeof u === "bigint";
    if (!integer) return wrongType(u, c, name);
    return refuse(u, c, `invalid value: ${found(u)}, expected ${(u as number | bigint) > max ? most : name}`);
  });
};
/** A whole number from 0 to 2^53 - 1, as far as a JavaScript number counts exactly. */
export const u64: Codec<number> = unsigned("u64", Number.MAX_SAFE_INTEGER, `u64 of at most ${Number.MAX_SAFE_INTEGER}`);
/** Reads and writes an integer from 0 to 2^32 - 1. */
export const u32: Codec<number> = unsigned("u32", 0xffff_ffff);

/** Lists that were encoded before the record that has them, a slice at a time: until that is written. */
const ahead = new WeakMap<object, readonly unknown[]>();

/** Takes note of a list's encoded items, for the record that is encoded next. */
export const encodeAhead = (items: readonly unknown[], encoded: readonly unknown[]): void =>
  void ahead.set(items, encoded);

const takeAhead = (items: readonly unknown[]): readonly unknown[] | undefined => {
  const encoded = ahead.get(items);
  if (encoded !== undefined) ahead.delete(items);
  return encoded;
};

/** Reads and writes a list of items. */
export const array = <A>(item: Codec<A>): Codec<readonly A[]> => {
  const codec = codecFrom<readonly A[]>(
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
    (items) => takeAhead(items) ?? items.map(item.encode),
  );
  return laidOut(codec, { type: "items", of: item });
};

/** A map from any key to values of one type. Keys are written in code unit order. */
export const dict = <A>(item: Codec<A>): Codec<{ readonly [key: string]: A }> => {
  const codec = codecFrom<{ readonly [key: string]: A }>(
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
  return laidOut(codec, { type: "items", of: item, isKeyed: true });
};

/** Refers to a codec that is defined later, so that a type may contain itself. */
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
