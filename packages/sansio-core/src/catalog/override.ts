/** Tools that may be called, or seen, otherwise than their manifests say. */
import type { Draft } from "../draft.ts";
import type { EventOf } from "../event.ts";

export const onOverridden = (draft: Draft, { names, availability }: EventOf<"catalog.overridden">): undefined => {
  const { catalog } = draft;
  const overrides = names.reduce(
    (map, name) => (availability === null ? map.delete(name) : map.set(name, availability)),
    catalog.overrides,
  );
  draft.setCatalog({ ...catalog, overrides });
};
