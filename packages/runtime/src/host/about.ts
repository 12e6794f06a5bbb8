/**
 * The title, the tags and the small values of a scope, all on record (`about` of the core). Hosts read and write values by
 * `session.store`, tools by `ctx.store`. A tool's request is answered here and not by the host, and what it writes is in the
 * event of the answer: a body that runs again has written once. Large texts belong to attachments, so keys and values have bounds.
 */
import type { CommandOf, State, EventOf } from "@pawl/sansio-core";
import { type EffectResult, type Kept, missingRule } from "@pawl/sansio-core/driver";
import { type Json, json, optional, record, string, stringify } from "@pawl/tool-value";
import { Refused, failureOf } from "../error.ts";
import { type Access, decoded, record as recordEvent } from "../scope/access.ts";
import type { Values } from "../scope/large-values.ts";
import type { Registry } from "../tool/registry.ts";
import type { ToolDefinition } from "../tool/definition.ts";

/** How people find a session. */
export interface About {
  readonly title?: string;
  readonly tags: readonly string[];
}

export const aboutOf = ({ about: { title, tags } }: State): About => (title === undefined ? { tags } : { title, tags });

/** Options of a session that is opened. */
export interface SessionOptions extends Partial<About> {
  /**
   * Tools of its own, in place of the runtime's. A session that is opened again without them, as after a crash, keeps its
   * catalog, and its calls wait until they are there.
   */
  readonly tools?: readonly ToolDefinition[] | Registry;
}

type Described = Omit<EventOf<"scope.described">, "type">;

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((tag, i) => tag === b[i]);

/** Returns what is new of a description; undefined where the scope has been told all of it. */
const newsIn = ({ about }: State, { title, tags, own_tools }: Described): Described | undefined => {
  const news = {
    ...(title === undefined || title === about.title ? {} : { title }),
    ...(tags === undefined || isSame(tags, about.tags) ? {} : { tags }),
    ...(own_tools === undefined || own_tools === about.ownTools ? {} : { own_tools }),
  };
  return Object.keys(news).length === 0 ? undefined : news;
};

/** Records what is new of a description. */
export const describe = async (access: Access, { title, tags }: Partial<About>, ownTools?: boolean): Promise<void> => {
  const said = {
    ...(title === undefined ? {} : { title }),
    ...(tags === undefined ? {} : { tags }),
    ...(ownTools === undefined ? {} : { own_tools: ownTools }),
  };
  const news = newsIn(access.runner.state, said);
  if (news === undefined) return access.runner.whenDurable();
  return recordEvent(access, { type: "scope.described", ...news });
};

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
