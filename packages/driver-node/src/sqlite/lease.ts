/** Leases of instances: one row and one renewal each, by the store's clock. */
import type { Lease } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { text } from "./row.ts";

/** After so long nobody asks any more which instances were lost. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;

export const join = (at: Connection, instance: string, { ttlMs, address }: Lease): void =>
  at.transact(() => {
    at.sql.forget.run(at.now() - rememberedMs);
    at.sql.join.run(instance, at.now() + ttlMs, ttlMs, address ?? null);
  });

export const renew = (at: Connection, instance: string): boolean =>
  at.transact(() => at.sql.renew.run(at.now(), instance, at.now()).changes === 1);

export const leave = (at: Connection, instance: string): void => at.transact(() => void at.sql.leave.run(instance));

export const lost = (at: Connection): readonly string[] =>
  at.ask(() => at.sql.lost.all(at.now()).map((row) => text(row, "name")));
