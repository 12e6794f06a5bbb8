/** Says what the upgrade to the newest protocol would change for the live calls of a log. */
import type { State } from "@pawl/sansio-core";
import { type CallRow, bodyOf, newestProtocol, recoveryOf } from "@pawl/sansio-core/driver";

export interface ProtocolChange {
  readonly from: number;
  readonly to: number;
  readonly calls: readonly { readonly call: string; readonly changes: readonly string[] }[];
}

const ofBody = (row: CallRow): readonly string[] => {
  const body = bodyOf(row);
  if (body === undefined || recoveryOf(body.manifest) !== "rerunnable") return [];
  const { attempt, resumes, open } = body;
  const waitsOnly = row.phase === "running" && open.length > 0 && open.every(({ kind }) => kind !== "step");
  return [
    `it keeps its keys in this life, and its clock in attempt ${attempt}`,
    ...(waitsOnly
      ? [`it leaves memory while it waits (${[...new Set(open.map(({ kind }) => kind))].join(", ")})`]
      : []),
    ...(resumes > 0 ? [`its ${resumes} resumes in a row count on towards the limit of crashes`] : []),
  ];
};

const changesOf = (row: CallRow): readonly string[] => [
  ...(row.phase === "preparing" ? ["it waits for its tool where that is away, and does not fail"] : []),
  ...(row.phase === "unknown" ? ["another version of its tool may run it again"] : []),
  ...ofBody(row),
];

/** Undefined for a scope that is of the newest protocol already. */
export const protocolChange = ({ scope, calls }: State): ProtocolChange | undefined => {
  if (scope.protocol === newestProtocol) return undefined;
  const changed = calls.rows().map((row) => ({ call: row.call.ref, changes: changesOf(row) }));
  return { from: scope.protocol, to: newestProtocol, calls: changed.filter(({ changes }) => changes.length > 0) };
};
