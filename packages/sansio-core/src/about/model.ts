/**
 * The description of a scope: a title and tags, by which people find it, and small values under keys, which tools and
 * hosts leave for each other. All of it is recorded, so it is there again after a crash and travels with the scope.
 * A secret is recorded by its name and a digest; its value is sealed by the runtime, under a key that no log has.
 *
 * A tool writes a value by a request to the host: the event of the answer has the value, so a body that runs again has
 * written once.
 *
 * Invariants
 *   I1  no key is blank, and no name of a secret
 */
import type { Json } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";

/** A value under a key; without one the key is removed. */
export interface Kept {
  readonly key: string;
  readonly value?: Json;
}

/** A secret, as it is on record. */
export interface SealedSecret {
  /** Tells one value from another to those who have the key; it says nothing to others. */
  readonly digest: string;
  readonly sealed: Json;
}

/** A secret under a name; without a value the name is removed. */
export type KeptSecret = { readonly name: string } & Partial<SealedSecret>;

export interface AboutRow {
  readonly title?: string;
  readonly tags: readonly string[];
  /** Its tools are its own, and not those of the runtime that has it. */
  readonly ownTools: boolean;
  readonly values: PersistentMap<string, Json>;
  readonly secrets: PersistentMap<string, SealedSecret>;
}

export type AboutEvent =
  /** Sets what it names, and leaves the rest. */
  | {
      readonly type: "scope.described";
      readonly title?: string;
      readonly tags?: readonly string[];
      readonly own_tools?: boolean;
    }
  | ({ readonly type: "value.kept" } & Kept)
  | ({ readonly type: "secret.kept" } & KeptSecret);

export type AboutSignal = { readonly type: "value.keep" } & Kept;

/** Its rows in a state. */
export interface AboutRows {
  readonly about: AboutRow;
}
