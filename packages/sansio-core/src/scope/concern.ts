/** Who owns a scope, under which protocol and options, and where it moves. */
import { string, u64 } from "@pawl/tool-value";
import { Options, defaultOptions } from "../kernel/options.ts";
import { scopeChangeChecks } from "./check.ts";
import { onConfigured, onMoveEnded, onMoving, onOpened, onOwnerLost, onReceived, onUpgraded } from "./step.ts";
import type { ScopeEvent, ScopeRows } from "./model.ts";
import type { Concern } from "../concern.ts";

export const scope: Concern<ScopeRows, ScopeEvent["type"]> = {
  name: "scope",
  events: {
    "scope.opened": { fields: { epoch: u64, owner: string, protocol: u64, options: Options }, on: onOpened },
    "clock.ticked": { fields: {}, on: () => undefined },
    "scope.configured": { fields: { options: Options }, on: onConfigured },
    "scope.upgraded": { fields: { to: u64 }, on: onUpgraded },
    "scope.moving": { fields: { to: string, nonce: string }, on: onMoving },
    "scope.received": { fields: { nonce: string, epoch: u64, owner: string }, on: onReceived },
    "scope.moved": { fields: { nonce: string }, on: onMoveEnded },
    "scope.kept": { fields: { nonce: string }, on: onMoveEnded },
    "owner.lost": { fields: { owner: string }, on: onOwnerLost },
  },
  signals: {},
  commands: {},
  isAtWork: ({ scope: { status } }) => status.type === "moving",
  checks: [],
  changes: { seq: scopeChangeChecks },
  rows: { scope: { id: "", epoch: 0, owner: "", protocol: 0, options: defaultOptions, status: { type: "open" } } },
};
