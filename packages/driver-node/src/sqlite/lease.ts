/** Leases of instances: one row and one renewal each, by the store's clock. */
import type { Lease } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { hasEnded, ownMark } from "./process-mark.ts";
import { integer, text } from "./row.ts";

/** After so long nobody asks any more which instances were lost. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;

export const join = (at: Connection, instance: string, { ttlMs, address }: Lease): void =>
  at.transact(() => {
    at.sql.forget.run(at.now() - rememberedMs);
    at.sql.join.run(instance, at.now() + ttlMs, ttlMs, address ?? null, ownMark() ?? null);
  });

export const renew = (at: Connection, instance: string): boolean =>
  at.transact(() => at.sql.renew.run(at.now(), instance, at.now()).changes === 1);

export const leave = (at: Connection, instance: string): void => at.transact(() => void at.sql.leave.run(instance));

/** Lets the leases run out whose processes have ended. Inside a transaction. */
export const endLeases = ({ sql, now }: Connection): void => {
  for (const row of sql.marks.all(now())) if (hasEnded(text(row, "process"))) sql.end.run(now(), integer(row, "id"));
};

export const lost = (at: Connection): readonly string[] =>
  at.transact(() => {
    endLeases(at);
    return at.sql.lost.all(at.now()).map((row) => text(row, "name"));
  });
