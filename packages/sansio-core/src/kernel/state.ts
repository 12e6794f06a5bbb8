/** The state of a scope: opaque, persistent, and a pure function of its log. */
import { PersistentMap } from "./persistent-map.ts";
import type { StickyDecision } from "../call/approval-model.ts";
import type { BatchRow } from "../call/batch-model.ts";
import { type CallRow, dueOf } from "../call/model.ts";
import type { CatalogRow } from "../catalog/model.ts";
import type { FlowRow } from "../flow/model.ts";
import { type Due, Deadlines, earlierOf, isSameDeadline } from "./deadline.ts";
import { defaultOptions } from "./options.ts";
import type { DeletionRow, HandleRow } from "../link/handle-model.ts";
import type { LinkRow } from "../link/model.ts";
import type { OutboxRow } from "../link/outbox-model.ts";
import type { ProcessRow } from "../process/model.ts";
import type { RequestRow } from "../request/model.ts";
import type { ScopeRow } from "../scope/model.ts";
import { Table } from "./table.ts";
import { type Background, noBackground } from "../run/none.ts";
import { type Schedules, noSchedules } from "../schedule/none.ts";
import type { WaitRow } from "../wait/model.ts";

export interface State {
  readonly scope: ScopeRow;
  /** The place and time of the last event; the next one stands at `seq + 1`. */
  readonly seq: number;
  readonly at: number;
  readonly catalog: CatalogRow;
  readonly requests: Table<RequestRow>;
  readonly batches: Table<BatchRow>;
  readonly calls: Table<CallRow>;
  /** How many calls wait for a person's word. */
  readonly awaitingApproval: number;
  readonly waits: Table<WaitRow>;
  /** Waits that were resolved before anyone waited. */
  readonly unclaimed: number;
  readonly sticky: PersistentMap<string, StickyDecision>;
  readonly outbox: PersistentMap<string, OutboxRow>;
  /** By the peer. */
  readonly links: PersistentMap<string, LinkRow>;
  /** Of a session: the processes that it may use. */
  readonly handles: PersistentMap<string, HandleRow>;
  /** Of a session that was deleted. */
  readonly deletion: DeletionRow | undefined;
  /** Of the scope of a process. */
  readonly process: ProcessRow | undefined;
  /** By the request that each is. */
  readonly flows: PersistentMap<string, FlowRow>;
  readonly background: Background;
  readonly schedules: Schedules;
  readonly deadlines: Deadlines;
}

/** A scope that nobody has opened yet. */
export const initial = (scope: string): State => ({
  scope: { id: scope, epoch: 0, owner: "", protocol: 0, options: defaultOptions, status: { type: "open" } },
  seq: 0,
  at: 0,
  catalog: { byName: PersistentMap.empty(), byId: PersistentMap.empty(), overrides: PersistentMap.empty() },
  requests: Table.empty(),
  batches: Table.empty(),
  calls: Table.empty(),
  awaitingApproval: 0,
  waits: Table.empty(),
  unclaimed: 0,
  sticky: PersistentMap.empty(),
  outbox: PersistentMap.empty(),
  links: PersistentMap.empty(),
  handles: PersistentMap.empty(),
  deletion: undefined,
  process: undefined,
  flows: PersistentMap.empty(),
  background: noBackground,
  schedules: noSchedules,
  deadlines: Deadlines.none,
});

/** Whether a deadline is the one that its call has now. */
export const isTrueDue = (calls: Table<CallRow>, due: Due): boolean => {
  const row = calls.at(due.key);
  return row !== undefined && isSameDeadline(dueOf(row), due);
};

/** All deadlines, from the rows alone. */
export const duesOf = (calls: Table<CallRow>): Due[] =>
  calls.rows().flatMap((row) => {
    const due = dueOf(row);
    return due === undefined ? [] : [{ at: due.at, birth: due.birth, key: row.call.ref }];
  });

/** When this scope has to be looked at again, if nothing else happens before; and which call or schedule asks for it. */
export const nextDeadline = (state: State): Due | undefined => {
  const due = earlierOf(state.deadlines.next, state.schedules.due);
  return due === undefined ? undefined : { at: due.at, birth: due.birth, key: due.key };
};
