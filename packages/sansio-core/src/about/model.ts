/**
 * The description of a scope: a title and tags, by which people find it, and small values under keys, which tools and
 * hosts leave for each other. All of it is recorded, so it is there again after a crash and travels with the scope.
 *
 * A tool writes a value by a request to the host: the event of the answer has the value, so a body that runs again has
 * written once.
 *
 * Invariants
 *   I1  no key is blank
 */
import type { Json } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";

/** A value under a key; without one the key is removed. */
export interface Kept {
  readonly key: string;
  readonly value?: Json;
}

export interface AboutRow {
  readonly title?: string;
  readonly tags: readonly string[];
  /** Its tools are its own, and not those of the runtime that has it. */
  readonly ownTools: boolean;
  readonly values: PersistentMap<string, Json>;
}

export type AboutEvent =
  /** Sets what it names, and leaves the rest. */
  | {
      readonly type: "scope.described";
      readonly title?: string;
      readonly tags?: readonly string[];
      readonly own_tools?: boolean;
    }
  | ({ readonly type: "value.kept" } & Kept);

export type AboutSignal = { readonly type: "value.keep" } & Kept;

/** Its rows in a state. */
export interface AboutRows {
  readonly about: AboutRow;
}
