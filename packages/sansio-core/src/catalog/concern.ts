/** Which tools a scope has. */
import { array, nullable, string } from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { catalogChecks } from "./check.ts";
import { AvailabilityCodec, ToolCodec } from "./codec.ts";
import { onOverridden, onPublished } from "./step.ts";
import type { CatalogEvent, CatalogRows } from "./model.ts";
import type { Concern } from "../concern.ts";

export const catalog: Concern<CatalogRows, CatalogEvent["type"]> = {
  name: "catalog",
  events: {
    "catalog.published": { fields: { tools: array(ToolCodec) }, on: onPublished },
    "catalog.overridden": {
      fields: { names: array(string), availability: nullable(AvailabilityCodec) },
      on: onOverridden,
    },
  },
  signals: {},
  commands: {},
  checks: catalogChecks,
  rows: { catalog: { byName: PersistentMap.empty(), byId: PersistentMap.empty(), overrides: PersistentMap.empty() } },
};
