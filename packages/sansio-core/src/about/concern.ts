/** The title, the tags, the values and the secrets of a scope: written, checked, and kept in its snapshot. */
import {
  type Codec,
  type TypeOf,
  array,
  boolean,
  defaulted,
  json,
  list,
  optional,
  record,
  string,
  struct,
} from "@pawl/tool-value";
import type { Concern, SnapshotPart } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { EventOf, State } from "../kernel/vocabulary.ts";
import type { AboutEvent, AboutRow, AboutRows, AboutSignal, Kept, SealedSecret } from "./model.ts";

const nothing: AboutRow = {
  tags: [],
  ownTools: false,
  values: PersistentMap.empty(),
  secrets: PersistentMap.empty(),
};

const keep = (draft: Draft, { key, value }: Kept): void => {
  const { about } = draft.state;
  const values = value === undefined ? about.values.delete(key) : about.values.set(key, value);
  draft.set("about", { ...about, values });
};

const onKept = (draft: Draft, event: EventOf<"value.kept">): Rejection | undefined => {
  if (event.key.trim() === "") return reject("empty_id", "a value needs a key that is not blank");
  keep(draft, event);
  return undefined;
};

const onSecret = (draft: Draft, { name, digest, sealed }: EventOf<"secret.kept">): Rejection | undefined => {
  if (name.trim() === "") return reject("empty_id", "a secret needs a name that is not blank");
  const { about } = draft.state;
  const secrets =
    digest === undefined || sealed === undefined
      ? about.secrets.delete(name)
      : about.secrets.set(name, { digest, sealed });
  draft.set("about", { ...about, secrets });
  return undefined;
};

const onDescribed = (draft: Draft, { title, tags, own_tools }: EventOf<"scope.described">): undefined => {
  const { about } = draft.state;
  draft.set("about", {
    ...about,
    ...(title === undefined ? {} : { title }),
    ...(tags === undefined ? {} : { tags }),
    ...(own_tools === undefined ? {} : { ownTools: own_tools }),
  });
};

export const checkI1 = ({ about }: State): string | undefined =>
  [...about.values, ...about.secrets].some(([key]) => key.trim() === "") ? "I1: a value has a blank key" : undefined;

export const KeptCodec: Codec<Kept> = record<Kept>("struct Kept", { key: string, value: optional(json) });

const AboutCodec = struct("struct About", {
  title: optional(string),
  tags: list(string),
  own_tools: defaulted(boolean, false, (own) => !own),
  values: list(struct("struct Kept", { key: string, value: json })),
  secrets: list(struct("struct KeptSecret", { name: string, digest: string, sealed: json })),
});
type AboutShape = TypeOf<typeof AboutCodec>;

const sorted = <A>(map: PersistentMap<string, A>): readonly (readonly [string, A])[] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

const shapeOf = ({ values, secrets, ownTools, ...row }: AboutRow): AboutShape => ({
  ...row,
  own_tools: ownTools,
  values: sorted(values).map(([key, value]) => ({ key, value })),
  secrets: sorted(secrets).map(([name, secret]) => ({ name, ...secret })),
});

const rowOf = ({ values, secrets, own_tools: ownTools, ...row }: AboutShape): AboutRow => ({
  ...row,
  ownTools,
  values: PersistentMap.of(values.map(({ key, value }) => [key, value])),
  secrets: PersistentMap.of(secrets.map(({ name, ...secret }): [string, SealedSecret] => [name, secret])),
});

const isNothing = ({ title, tags, ownTools, values, secrets }: AboutRow): boolean =>
  title === undefined && tags.length === 0 && !ownTools && values.size + secrets.size === 0;

const snapshot: SnapshotPart<{ readonly about?: AboutShape }, AboutRows> = {
  fields: { about: optional(AboutCodec) },
  write: ({ about }) => (isNothing(about) ? {} : { about: shapeOf(about) }),
  read: ({ about: shape }) => ({ about: shape === undefined ? nothing : rowOf(shape) }),
};

export const about: Concern<AboutRows, AboutEvent["type"], AboutSignal["type"]> = {
  name: "about",
  events: {
    "scope.described": {
      fields: { title: optional(string), tags: optional(array(string)), own_tools: optional(boolean) },
      since: "about",
      on: onDescribed,
    },
    "value.kept": { fields: { key: string, value: optional(json) }, since: "about", on: onKept },
    "secret.kept": {
      fields: { name: string, digest: optional(string), sealed: optional(json) },
      since: "about",
      on: onSecret,
    },
  },
  signals: { "value.keep": { raises: [], on: keep } },
  commands: {},
  checks: [checkI1],
  rows: { about: nothing },
  snapshot,
};
