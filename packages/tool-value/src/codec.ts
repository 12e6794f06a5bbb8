/**
 * The few io-ts types that typed records are made of. They differ from io-ts' own in three ways: a union is picked by
 * its tag, a record is written in the order of its fields, and an error says what was found and what was wanted.
 */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Json, type Path, type ValueError, loneSurrogate, setKey, sortedKeys } from "./json.ts";
import { laidOut, partsOf } from "./layout.ts";
import { codecFrom, identity } from "./type.ts";

export type Codec<A> = t.Type<A, unknown>;

/** A record's field that may be absent. */
export interface Optional<A> {
  readonly optional: Codec<A>;
}
/** A record's field that has a value where it is absent. */
export interface Defaulted<A> {
  readonly codec: Codec<A>;
  readonly absent: A;
  readonly omit: (value: A) => boolean;
}
type Field<A> = Codec<A> | Defaulted<A>;
export type Fields<A> = {
  readonly [K in keyof A]-?: {} extends Pick<A, K> ? Optional<Exclude<A[K], undefined>> : Field<A[K]>;
};

/** A field that may be absent; `null` counts as absent, and is not written. */
export const optional = <A>(codec: Codec<A>): Optional<A> => ({ optional: codec });

/** A field that stands as `null` where it has no value; absent counts as `null`. */
export const nullable = <A>(codec: Codec<A>): Defaulted<A | null> => ({
  codec: laidOut(
    codecFrom<A | null>(
      codec.name,
      (u): u is A | null => u === null || codec.is(u),
      (u, c) => (u === null ? E.right(null) : codec.validate(u, c)),
      (a) => (a === null ? null : codec.encode(a)),
    ),
    { type: "as", of: () => codec },
  ),
  absent: null,
  omit: () => false,
});

/** A field that has a default, and is left out where it has it. */
export const defaulted = <A>(codec: Codec<A>, absent: A, omit: (value: A) => boolean): Defaulted<A> => ({
  codec,
  absent,
  omit,
});

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

/** `plain`: what the codec accepts, it takes as it is. */
type Compiled = { readonly key: string; readonly plain: boolean } & (
  | { readonly kind: "optional"; readonly codec: Codec<unknown> }
  | { readonly kind: "required"; readonly codec: Codec<unknown> }
  | { readonly kind: "defaulted"; readonly codec: Codec<unknown>; readonly field: Defaulted<unknown> }
);

const isPlain = ({ encode }: Codec<unknown>): boolean => encode === identity;

const compile = (key: string, field: unknown): Compiled => {
  const spec = field as Codec<unknown> | Optional<unknown> | Defaulted<unknown>;
  if ("validate" in spec) return { key, plain: isPlain(spec), kind: "required", codec: spec };
  if ("optional" in spec) return { key, plain: isPlain(spec.optional), kind: "optional", codec: spec.optional };
  return { key, plain: isPlain(spec.codec), kind: "defaulted", codec: spec.codec, field: spec };
};

const validateField = (field: Compiled, value: unknown, c: t.Context): t.Validation<unknown> => {
  if (value !== undefined && (value !== null || field.kind !== "optional")) {
    return part(field.codec, value, c, field.key);
  }
  if (field.kind === "defaulted") return E.right(field.field.absent);
  if (field.kind === "optional") return E.right(undefined);
  return refuse(value, c, `missing field \`${field.key}\``);
};

const isField = (field: Compiled, value: unknown): boolean =>
  field.kind === "optional" && value === undefined ? true : field.codec.is(value);

const isLeftOut = (field: Compiled, value: unknown): boolean => {
  if (value === undefined || (value === null && field.kind === "optional")) return true;
  return field.kind === "defaulted" && field.field.omit(value);
};

/** What a member of a union begins with: the field that tells it apart, and what stands there. */
type Tag = readonly [field: string, variant: string];

/**
 * A record with these fields, written in this order; keys that it does not know are dropped. A member of a union gets
 * its tag from here, not from the input: one text, which a switch knows without looking into it.
 */
export const record = <A extends object>(name: string, fields: Fields<A>, tag?: Tag): Codec<A> => {
  const begin = (): { [key: string]: unknown } => (tag === undefined ? {} : { [tag[0]]: tag[1] });
  const compiled = Object.entries(fields).map(([key, field]) => compile(key, field));
  const codec = codecFrom<A>(
    name,
    (u): u is A => isMap(u) && compiled.every((field) => isField(field, u[field.key])),
    (u, c) => {
      if (!isMap(u)) return wrongType(u, c, name);
      const out = begin();
      for (const field of compiled) {
        const value = u[field.key];
        if (field.plain && field.codec.is(value)) {
          out[field.key] = value === 0 ? 0 : value; // -0 becomes 0.
          continue;
        }
        const result = validateField(field, value, c);
        if (E.isLeft(result)) return result;
        if (result.right !== undefined) out[field.key] = result.right;
      }
      return E.right(out as A);
    },
    (a) => {
      const out = begin();
      for (const field of compiled) {
        const value = (a as { readonly [key: string]: unknown })[field.key];
        if (!isLeftOut(field, value)) out[field.key] = field.codec.encode(value);
      }
      return out;
    },
  );
  return laidOut(codec, { type: "fields", of: partsOf(compiled.map(({ key, codec: of }) => [key, of])) });
};

/** An error of a value inside a record knows the rest of the path itself. */
type FieldError = t.ValidationError & { readonly below?: Path };

const pathOf = ({ context, below = [] }: FieldError): Path => {
  const steps = context.slice(1).map(({ key }, i) => (Array.isArray(context[i]?.actual) ? Number(key) : key));
  return [...steps, ...below];
};

const refused = (message: string, path: Path = []): E.Either<ValueError, never> =>
  E.left({ code: "invalid_record", path, message });

/** Decodes a typed record; the first error is reported, with its path. Never throws. */
export const read = <A>(codec: Codec<A>, u: unknown): E.Either<ValueError, A> => {
  try {
    const result = codec.decode(u);
    if (E.isRight(result)) return result;
    const error = result.left[0] as FieldError;
    return refused(error.message ?? `expected ${codec.name}`, pathOf(error));
  } catch {
    return refused("reading the record threw: it has a getter, is a proxy, or is too deep");
  }
};

/** The context of what nobody else holds. Parts are handed it as it is: only errors make it longer. */
export const owned: t.Context = [];

/** As `read`, of JSON fresh from a parser that nobody else holds: what is in normal form is kept, and not copied. */
export const readOwned = <A>(codec: Codec<A>, json: Json): E.Either<ValueError, A> => {
  try {
    const result = codec.validate(json, owned);
    return E.isRight(result) ? result : read(codec, json);
  } catch {
    return read(codec, json);
  }
};
