/**
 * A scope: one state machine with one ordered log, and one writer at a time.
 *
 *   (nothing) ─▶ open ─▶ moving ─▶ moved          (the source)
 *                 ▲        ├──▶ open, kept        (the source)
 *                 └────────┴──── received         (the target, on its copy of the log)
 *
 * Invariants
 *   S1  the epoch only grows
 *   S2  the protocol only grows, and only by a recorded upgrade
 *   S3  a scope that is moving or has moved accepts nothing but the end of its move
 *   S4  scope time never goes back
 */
import type { Options } from "../kernel/options.ts";
import type { Versions } from "./version.ts";

export type ScopeStatus =
  | { readonly type: "open" }
  /** `reopened`: claimed anew since; owners were lost then, which counts if the scope is kept. */
  | { readonly type: "moving"; readonly to: string; readonly nonce: string; readonly reopened: boolean }
  | { readonly type: "moved"; readonly to: string; readonly nonce: string };

export interface ScopeRow {
  readonly id: string;
  readonly epoch: number;
  readonly owner: string;
  readonly protocol: number;
  readonly options: Options;
  readonly status: ScopeStatus;
  /** Versions of the code that runs its tools, as far as they are known. */
  readonly versions?: Versions;
}

/** How an owner went: it gave up what it ran, or nobody knows (a crash, a lease that ran out). */
export type OwnerEnd = "released" | "lost";

/** A call that continued under protocol 1, which did not record the hash of the arguments that it has now. */
export interface ContinuedCall {
  readonly call: string;
  readonly args_hash: string;
}

export type ScopeEvent =
  | {
      readonly type: "scope.opened";
      readonly epoch: number;
      readonly owner: string;
      readonly protocol: number;
      readonly options: Options;
      /** How the owner before went, as the store knows; absent: it was lost. */
      readonly last_owner?: OwnerEnd;
      readonly versions?: Versions;
    }
  | { readonly type: "scope.configured"; readonly options: Options }
  | { readonly type: "scope.upgraded"; readonly to: number; readonly continued?: readonly ContinuedCall[] }
  | { readonly type: "scope.moving"; readonly to: string; readonly nonce: string }
  | {
      readonly type: "scope.received";
      readonly nonce: string;
      readonly epoch: number;
      readonly owner: string;
      readonly versions?: Versions;
    }
  | { readonly type: "scope.moved"; readonly nonce: string }
  | { readonly type: "scope.kept"; readonly nonce: string }
  /** `went`: an executor says farewell; without it the executor was lost. */
  | { readonly type: "owner.lost"; readonly owner: string; readonly went?: OwnerEnd }
  | { readonly type: "clock.ticked" };

/** Its rows in a state. */
export interface ScopeRows {
  readonly scope: ScopeRow;
}
