/** Records of named fields, and how they are read. */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Codec, codecFrom, identity, isMap, part, refuse, wrongType } from "./codec.ts";
import type { Json, Path, ValueError } from "./json.ts";
import { NotLoaded } from "./late.ts";
import { laidOut, partsOf } from "./layout.ts";

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

/** Decodes a typed record; the first error is reported, with its path. Never throws, but for code that is not loaded. */
export const read = <A>(codec: Codec<A>, u: unknown): E.Either<ValueError, A> => {
  try {
    const result = codec.decode(u);
    if (E.isRight(result)) return result;
    const error = result.left[0] as FieldError;
    return refused(error.message ?? `expected ${codec.name}`, pathOf(error));
  } catch (thrown) {
    if (thrown instanceof NotLoaded) throw thrown;
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
