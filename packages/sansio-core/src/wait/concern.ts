/** One-shot durable promises with keys. */
import { Resolution, array, optional, string } from "@pawl/tool-value";
import { Table } from "../kernel/table.ts";
import { waitChangeChecks, waitChecks } from "./check.ts";
import { onCancelled, onClaim, onClose, onForget, onLeave, onOpen, onResolved, onSettle, revoke } from "./step.ts";
import type { WaitEvent, WaitRows, WaitSignal } from "./model.ts";
import type { Concern } from "../concern.ts";

export const wait: Concern<WaitRows, WaitEvent["type"], WaitSignal["type"]> = {
  name: "wait",
  events: {
    "wait.resolved": {
      fields: { key: string, resolution: Resolution, by: optional(string), resolution_id: optional(string) },
      on: onResolved,
    },
    "wait.cancelled": { fields: { call: string, key: string }, on: onCancelled },
    "wait.revoked": { fields: { keys: array(string) }, on: (draft, { keys }) => revoke(draft, keys) },
  },
  signals: {
    "wait.open": { raises: ["effect.end", "pending.end"], on: onOpen },
    "wait.leave": { raises: ["process.unwait"], on: onLeave },
    "wait.close": { raises: ["effect.end", "pending.end"], on: onClose },
    "waits.forget": { raises: [], on: onForget },
    "waits.revoke": { raises: ["effect.end", "pending.end"], on: (draft, { keys }) => revoke(draft, keys) },
    "wait.claim": { raises: [], on: onClaim },
    "wait.settle": { raises: ["effect.end", "pending.end"], on: onSettle },
  },
  commands: {},
  checks: waitChecks,
  changes: { waits: waitChangeChecks },
  rows: { waits: Table.empty(), unclaimed: 0 },
};
