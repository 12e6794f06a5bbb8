/** Tools come and go as a whole; overrides stay. */
import { PersistentMap } from "../persistent-map.ts";
import type { Draft } from "../draft.ts";
import { type Rejection, reject } from "../error.ts";
import type { CatalogEvent } from "./model.ts";

const firstRepeated = (names: readonly string[]): string | undefined =>
  names.length === new Set(names).size ? undefined : names.find((name, i) => names.indexOf(name) !== i);

export const onCatalogEvent = (draft: Draft, event: CatalogEvent): Rejection | undefined => {
  const { catalog } = draft;
  if (event.type === "catalog.overridden") {
    const overrides = event.names.reduce(
      (map, name) => (event.availability === null ? map.delete(name) : map.set(name, event.availability)),
      catalog.overrides,
    );
    draft.setCatalog({ ...catalog, overrides });
    return undefined;
  }
  const { tools } = event;
  const repeated = firstRepeated(tools.map(({ id }) => id)) ?? firstRepeated(tools.map(({ name }) => name));
  if (repeated !== undefined) return reject("tool_conflict", `two tools are called \`${repeated}\``);
  draft.setCatalog({
    ...catalog,
    byName: PersistentMap.of(tools.map((tool) => [tool.name, tool])),
    byId: PersistentMap.of(tools.map((tool) => [tool.id, tool])),
  });
  if (draft.process !== undefined) draft.raise({ type: "tools.published" });
  return undefined;
};
