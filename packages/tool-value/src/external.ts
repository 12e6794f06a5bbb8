/** Unions told apart by their only key, or by being one of a few texts. */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, isMap, part, wrongType } from "./codec.ts";
import { laidOut } from "./layout.ts";
import { codecFrom } from "./type.ts";
import { unknownVariant } from "./union.ts";

type Variants<A> = A extends string ? never : keyof A;

const onlyKey = (u: unknown): string | undefined => {
  const keys = isMap(u) ? Object.keys(u) : [];
  return keys.length === 1 ? keys[0] : undefined;
};

/** A union told apart by its only key, or by being one of a few texts: `"all"`, `{"only": 1}`. */
export const external = <A>(
  name: string,
  units: readonly (A & string)[],
  members: { readonly [K in Variants<A> & string]: Codec<A extends Record<K, infer V> ? V : never> },
): Codec<A> => {
  const names = [...units, ...Object.keys(members)];
  const codecs = new Map<string, Codec<unknown>>(Object.entries(members));
  const codec = codecFrom<A>(
    name,
    (u): u is A => {
      const key = onlyKey(u);
      if (key === undefined) return units.includes(u as A & string);
      return codecs.get(key)?.is((u as Record<string, unknown>)[key]) ?? false;
    },
    (u, c) => {
      if (typeof u === "string") return units.includes(u as A & string) ? E.right(u as A) : unknownVariant(u, c, names);
      const key = onlyKey(u);
      if (key === undefined) return wrongType(u, c, `${name}: a map with one key`);
      const member = codecs.get(key);
      if (member === undefined) return unknownVariant(key, c, names);
      return E.map((value: unknown) => ({ [key]: value }) as A)(
        part(member, (u as Record<string, unknown>)[key], c, key),
      );
    },
    (a) => {
      const key = onlyKey(a);
      return key === undefined ? a : { [key]: codecs.get(key)?.encode((a as Record<string, unknown>)[key]) };
    },
  );
  return laidOut(codec, { type: "variants", names: () => Object.keys(members), of: (member) => codecs.get(member) });
};
