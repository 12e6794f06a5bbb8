/** Fields that several records of the reference have. */
import { type Codec, type Defaulted, type Json, array, defaulted, dict, json } from "@pawl/tool-value";

const kept = (): boolean => false;

/** Any JSON; absent is `null`, which is written. */
export const jsonOrNull: Defaulted<Json> = defaulted<Json>(json, null, kept);

/** A list that is left out where it is empty. */
export const list = <A>(item: Codec<A>): Defaulted<readonly A[]> =>
  defaulted<readonly A[]>(array(item), [], (items) => items.length === 0);

export type JsonMap = { readonly [key: string]: Json };

/** A map that is left out where it is empty. */
export const jsonMap: Defaulted<JsonMap> = defaulted<JsonMap>(dict(json), {}, (map) => Object.keys(map).length === 0);
