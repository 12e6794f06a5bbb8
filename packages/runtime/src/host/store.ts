/**
 * Small values of a scope, on record: hosts read and write them by `session.store`, tools by `ctx.store`. A tool's request is
 * answered here and not by the host, and what it writes is in the event of the answer: a body that runs again has written
 * once. Large texts belong to attachments, so keys and values have bounds.
 */
import type { CommandOf, State } from "@pawl/sansio-core";
import { type EffectResult, type Kept, missingRule } from "@pawl/sansio-core/driver";
import { type Json, json, optional, record, string, stringify } from "@pawl/tool-value";
import { Refused, failureOf } from "../error.ts";
import { type Access, decoded, record as recordEvent } from "../scope/access.ts";
import type { Values } from "../scope/large-values.ts";

/** The longest value, in characters of its JSON, and the most keys of a scope. */
const longestValue = 32_768;
const mostKeys = 1000;

export interface SessionStore {
  /** Returns the value under a key; undefined where there is none. */
  get(key: string): Promise<Json | undefined>;
  /** Writes a value; null or undefined removes the key. */
  set(key: string, value: Json | undefined): Promise<void>;
}

const KeptCodec = record<Kept>("a value to keep", { key: string, value: optional(json) });

/** Returns what is to be kept, or throws where it does not fit. */
const admitted = ({ about, scope }: State, given: unknown): Kept => {
  const missing = missingRule(scope.protocol, "about", "the store of a session");
  if (missing !== undefined) throw new Refused(missing.code, missing.message);
  const kept = decoded(KeptCodec, given, "store");
  if (kept.key.trim() === "") throw new Refused("empty_id", "a value needs a key that is not blank");
  if (kept.value === undefined) return kept;
  const { length } = stringify(kept.value);
  if (length > longestValue)
    throw new Refused(
      "store_full",
      `the value of \`${kept.key}\` has ${length} characters, at most ${longestValue} fit`,
    );
  if (about.values.size >= mostKeys && !about.values.has(kept.key))
    throw new Refused("store_full", `the store of ${scope.id} has ${mostKeys} keys, and no more fit: remove one`);
  return kept;
};

const valueOf = async (state: State, values: Values, key: string): Promise<Json | undefined> => {
  const value = state.about.values.get(key);
  return value === undefined ? undefined : values.of(value);
};

/** Reads a value of a scope, once what it was read from is durable. */
const storedValue = async ({ runner, values }: Access, key: string): Promise<Json | undefined> => {
  const { state } = runner;
  await runner.whenDurable();
  return valueOf(state, values, key);
};

/** Writes a value of a scope, for its host. */
const keepValue = (access: Access, key: string, value: Json | undefined): Promise<void> =>
  recordEvent(access, { type: "value.kept", ...admitted(access.runner.state, { key, value: value ?? null }) });

/** Makes the store of a scope, for its host. */
export const storeOver = (within: <A>(act: (access: Access) => Promise<A>) => Promise<A>): SessionStore => ({
  get: (key) => within((access) => storedValue(access, key)),
  set: (key, value) => within(async (access) => keepValue(access, key, value)),
});

/** The answer to a body's request to the store, and the entries that it writes. */
interface StoreAnswer {
  readonly result: EffectResult;
  readonly keeps?: Kept;
}

const answered = async (
  state: State,
  values: Values,
  { name, input }: CommandOf<"host.request">,
): Promise<StoreAnswer> => {
  const kept = admitted(state, input);
  if (name === "store.set") return { result: { status: "ok", value: null }, keeps: kept };
  return { result: { status: "ok", value: (await valueOf(state, values, kept.key)) ?? null } };
};

/** Answers a request of a body to the store; undefined for any other request. */
export const storeAnswer = async (
  state: State,
  values: Values,
  request: CommandOf<"host.request">,
): Promise<StoreAnswer | undefined> => {
  if (request.name !== "store.get" && request.name !== "store.set") return undefined;
  return answered(state, values, request).catch((thrown: unknown) => ({ result: failureOf(thrown, "store_failed") }));
};
