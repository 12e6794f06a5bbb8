import { PersistentMap } from "../../src/kernel/persistent-map.ts";

/** The same keys, with changed rows. */
export const mapped = <Key extends string | number, Row>(
  map: PersistentMap<Key, Row>,
  change: (row: Row) => Row,
): PersistentMap<Key, Row> => PersistentMap.of(map.entries().map(([key, row]) => [key, change(row)]));
