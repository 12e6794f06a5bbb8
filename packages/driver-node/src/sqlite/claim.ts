/** Whose a scope is: claimed, held, given up. */
import type { Claim, Holding, Snapshot } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { endLeases } from "./lease.ts";
import { type Row, integer, optional, text } from "./row.ts";
import type { Standing, Standings } from "./standing.ts";

const snapshotOf = ({ sql }: Connection, id: number): Snapshot | undefined => {
  const row = sql.snapshot.get(id);
  return row === undefined ? undefined : { seq: integer(row, "seq"), text: text(row, "text") };
};

const holding = (at: Connection, { id, epoch, seq }: Standing): Holding => {
  const snapshot = snapshotOf(at, id);
  return { epoch, seq, ...(snapshot !== undefined && { snapshot }) };
};

/** The live instance that stands between the scope and another one. */
const otherOwner = (at: Connection, scope: string, instance: string): Claim | undefined => {
  const find = (): Row | undefined => at.sql.owner.get(scope, at.now(), instance);
  if (find() === undefined) return undefined;
  endLeases(at);
  const row = find();
  if (row === undefined) return undefined;
  const address = optional(text, row, "address");
  return { type: "owned_by", instance: text(row, "name"), ...(address !== undefined && { address }) };
};

/** The number of an instance; of one that has not joined as well. */
const numberOf = ({ sql }: Connection, instance: string): number => {
  sql.know.run(instance);
  return integer(sql.instance.get(instance) ?? {}, "id");
};

export const claim = (
  at: Connection,
  standings: Standings,
  scope: string,
  who: { readonly instance: string; readonly protocol: number; readonly above: number },
): Claim =>
  at.unsynced(() => {
    at.sql.make.run(scope);
    const standing = standings.read(scope) as Standing;
    if (standing.protocol > who.protocol) return { type: "newer_protocol", protocol: standing.protocol };
    const owned = otherOwner(at, scope, who.instance);
    if (owned !== undefined) return owned;
    const epoch = Math.max(standing.epoch, who.above) + 1;
    at.sql.claim.run(epoch, numberOf(at, who.instance), standing.id);
    standings.keep(scope, { ...standing, epoch });
    return { type: "claimed", ...holding(at, { ...standing, epoch }) };
  });

export const load = (at: Connection, standings: Standings, scope: string, instance: string): Holding | undefined =>
  at.unsynced(() => {
    if (at.sql.isOwner.get(scope, instance) === undefined) return undefined;
    const standing = standings.read(scope);
    return standing === undefined ? undefined : holding(at, standing);
  });

export const release = (at: Connection, standings: Standings, scope: string, instance: string): void =>
  at.transact(() => {
    at.sql.release.run(scope, instance);
    standings.forget(scope);
  });
