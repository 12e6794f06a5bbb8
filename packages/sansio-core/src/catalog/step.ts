/** Tools come and go as a whole; overrides stay. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";

const firstRepeated = (names: readonly string[]): string | undefined =>
  names.length === new Set(names).size ? undefined : names.find((name, i) => names.indexOf(name) !== i);

export const onPublished = (draft: Draft, { tools }: EventOf<"catalog.published">): Rejection | undefined => {
  const repeated = firstRepeated(tools.map(({ id }) => id)) ?? firstRepeated(tools.map(({ name }) => name));
  if (repeated !== undefined) return reject("tool_conflict", `two tools are called \`${repeated}\``);
  draft.setCatalog({
    ...draft.catalog,
    byName: PersistentMap.of(tools.map((tool) => [tool.name, tool])),
    byId: PersistentMap.of(tools.map((tool) => [tool.id, tool])),
  });
  if (draft.process !== undefined) draft.raise({ type: "tools.published" });
  return undefined;
};

export const onOverridden = (draft: Draft, { names, availability }: EventOf<"catalog.overridden">): undefined => {
  const { catalog } = draft;
  const overrides = names.reduce(
    (map, name) => (availability === null ? map.delete(name) : map.set(name, availability)),
    catalog.overrides,
  );
  draft.setCatalog({ ...catalog, overrides });
};
