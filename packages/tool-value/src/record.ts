/**
 * Codecs of records, and the reading of records from outside.
 *
 * A record is an object with known fields. It is written in the order of its fields, whatever order they were read in,
 * and keys that it does not know are dropped. A field is required, or one of three kinds that may be absent:
 *
 *                 absent reads as   null reads as     written
 *   optional      undefined         undefined         unless undefined or null
 *   nullable      null              null              always
 *   defaulted     its default       as the codec says unless `omit` says so
 */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Codec, array, codecFrom, identity, isMap, part, refuse, wrongType } from "./codec.ts";
import type { Json, Path, ValueError } from "./json.ts";
import { laidOut, partsOf } from "./layout.ts";

/** A field that may be absent. */
export interface Optional<A> {
  readonly optional: Codec<A>;
}
/** A field that has a default if it is absent. */
export interface Defaulted<A> {
  readonly codec: Codec<A>;
  readonly absent: A;
  readonly omit: (value: A) => boolean;
}
type Field<A> = Codec<A> | Defaulted<A>;
/** A field that is written under another name than it has in the program. */
interface Named<F> {
  readonly wire: string;
  readonly field: F;
}
type MaybeNamed<F> = F | Named<F>;
export type Fields<A> = {
  readonly [K in keyof A]-?: MaybeNamed<{} extends Pick<A, K> ? Optional<Exclude<A[K], undefined>> : Field<A[K]>>;
};

/** Writes a field under a name of its own: TypeScript says `durationMs` where the wire says `duration_ms`. */
/* @__NO_SIDE_EFFECTS__ */
export const named = <F>(wire: string, field: F): Named<F> => ({ wire, field });

/** A field that may be absent. `null` counts as absent and is not written. */
/* @__NO_SIDE_EFFECTS__ */
export const optional = <A>(codec: Codec<A>): Optional<A> => ({ optional: codec });

/** A field that is written as `null` if it has no value. Absent counts as `null`. */
/* @__NO_SIDE_EFFECTS__ */
export const nullable = <A>(codec: Codec<A>): Defaulted<A | null> => ({
  codec: laidOut(
    codecFrom<A | null>(
      codec.name,
      (u): u is A | null => u === null || codec.is(u),
      (u, c) => (u === null ? E.right(null) : codec.validate(u, c)),
      (a) => (a === null ? null : codec.encode(a)),
    ),
    { type: "as", of: () => codec, isNullable: true },
  ),
  absent: null,
  omit: () => false,
});

/** A field with a default. It is left out where `omit` tells so. */
/* @__NO_SIDE_EFFECTS__ */
export const defaulted = <A>(codec: Codec<A>, absent: A, omit: (value: A) => boolean): Defaulted<A> => ({
  codec,
  absent,
  omit,
});

const isEmpty = (items: readonly unknown[]): boolean => items.length === 0;

/** A field with an array that is left out if it is empty. */
/* @__NO_SIDE_EFFECTS__ */
export const list = <A>(item: Codec<A>): Defaulted<readonly A[]> => defaulted<readonly A[]>(array(item), [], isEmpty);

type ValueOf<F> = F extends Optional<infer A> | Defaulted<infer A> | Codec<infer A> ? A : never;

/** The record that fields make: its type is written once, as its codec. */
export type RecordOf<F> = {
  readonly [K in keyof F as F[K] extends { readonly optional: unknown } ? never : K]: ValueOf<F[K]>;
} & { readonly [K in keyof F as F[K] extends { readonly optional: unknown } ? K : never]?: ValueOf<F[K]> };

/** A field, prepared for the loops below. `plain` is true if the codec returns its input unchanged. */
type Compiled = { readonly key: string; readonly wire: string; readonly plain: boolean } & (
  | { readonly kind: "optional"; readonly codec: Codec<unknown> }
  | { readonly kind: "required"; readonly codec: Codec<unknown> }
  | { readonly kind: "defaulted"; readonly codec: Codec<unknown>; readonly field: Defaulted<unknown> }
);

const isPlain = ({ encode }: Codec<unknown>): boolean => encode === identity;

const compile = (key: string, field: unknown, wire = key): Compiled => {
  const spec = field as MaybeNamed<Codec<unknown> | Optional<unknown> | Defaulted<unknown>>;
  if ("wire" in spec) return compile(key, spec.field, spec.wire);
  if ("validate" in spec) return { key, wire, plain: isPlain(spec), kind: "required", codec: spec };
  if ("optional" in spec) return { key, wire, plain: isPlain(spec.optional), kind: "optional", codec: spec.optional };
  return { key, wire, plain: isPlain(spec.codec), kind: "defaulted", codec: spec.codec, field: spec };
};

const validateField = (field: Compiled, value: unknown, c: t.Context): t.Validation<unknown> => {
  if (value !== undefined && (value !== null || field.kind !== "optional")) {
    return part(field.codec, value, c, field.wire);
  }
  if (field.kind === "defaulted") return E.right(field.field.absent);
  if (field.kind === "optional") return E.right(undefined);
  return refuse(value, c, `missing field \`${field.wire}\``);
};

const isField = (field: Compiled, value: unknown): boolean =>
  field.kind === "optional" && value === undefined ? true : field.codec.is(value);

const isLeftOut = (field: Compiled, value: unknown): boolean => {
  if (value === undefined || (value === null && field.kind === "optional")) return true;
  return field.kind === "defaulted" && field.field.omit(value);
};

/** The first field of a member of a union: the tag's name and its value. */
type Tag = readonly [field: string, variant: string];

/**
 * Makes the codec of a record. A member of a union gets its tag from the codec instead of the input, so that all of them
 * share one string, which a `switch` compares by identity.
 */
/* @__NO_SIDE_EFFECTS__ */
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
        const value = u[field.wire];
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
        if (!isLeftOut(field, value)) out[field.wire] = field.codec.encode(value);
      }
      return out;
    },
  );
  return laidOut(codec, {
    type: "fields",
    of: partsOf(compiled.map(({ wire, codec: of }) => [wire, of])),
    mayMiss: new Set(compiled.flatMap(({ wire, kind }) => (kind === "required" ? [] : [wire]))),
  });
};

/** Makes the codec of a record whose type follows from its fields (`TypeOf`). */
/* @__NO_SIDE_EFFECTS__ */
export const struct = <F extends object>(name: string, fields: F): Codec<RecordOf<F>> =>
  record(name, fields as unknown as Fields<RecordOf<F>>);

/** An error inside a value in a record. `below` is the rest of the path, inside the value. */
type FieldError = t.ValidationError & { readonly below?: Path };

const pathOf = ({ context, below = [] }: FieldError): Path => {
  const steps = context.slice(1).map(({ key }, i) => (Array.isArray(context[i]?.actual) ? Number(key) : key));
  return [...steps, ...below];
};

const refused = (message: string, path: Path = []): E.Either<ValueError, never> =>
  E.left({ code: "invalid_record", path, message });

/** Decodes a typed record. Reports the first error with its path. Never throws. */
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

/** The context that marks JSON as owned by the reader. Parts get this very array, since only errors extend a context. */
export const owned: t.Context = [];

/** Decodes a record from JSON that nobody else refers to, fresh from a parser. JSON fields in normal form are not copied. */
export const readOwned = <A>(codec: Codec<A>, json: Json): E.Either<ValueError, A> => {
  try {
    const result = codec.validate(json, owned);
    return E.isRight(result) ? result : read(codec, json);
  } catch {
    return read(codec, json);
  }
};
