/** The title, the tags and the values of a scope: written, checked, and kept in its snapshot. */
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
import type { AboutEvent, AboutRow, AboutRows, AboutSignal, Kept } from "./model.ts";

const nothing: AboutRow = { tags: [], ownTools: false, values: PersistentMap.empty() };

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
  [...about.values].some(([key]) => key.trim() === "") ? "I1: a value has a blank key" : undefined;

export const KeptCodec: Codec<Kept> = record<Kept>("struct Kept", { key: string, value: optional(json) });

const AboutCodec = struct("struct About", {
  title: optional(string),
  tags: list(string),
  own_tools: defaulted(boolean, false, (own) => !own),
  values: list(struct("struct Kept", { key: string, value: json })),
});
type AboutShape = TypeOf<typeof AboutCodec>;

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const shapeOf = ({ values, ownTools, ...row }: AboutRow): AboutShape => ({
  ...row,
  own_tools: ownTools,
  values: [...values].map(([key, value]) => ({ key, value })).toSorted(byKey),
});

const rowOf = ({ values, own_tools: ownTools, ...row }: AboutShape): AboutRow => ({
  ...row,
  ownTools,
  values: PersistentMap.of(values.map(({ key, value }) => [key, value])),
});

const isNothing = ({ title, tags, ownTools, values }: AboutRow): boolean =>
  title === undefined && tags.length === 0 && !ownTools && values.size === 0;

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
  },
  signals: { "value.keep": { raises: [], on: keep } },
  commands: {},
  checks: [checkI1],
  rows: { about: nothing },
  snapshot,
};
