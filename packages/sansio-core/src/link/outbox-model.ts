/**
 * The outbox: what has to be said to the outside until it is acknowledged. A request's reply waits in the request.
 *
 *   put ─▶ waiting ─▶ acknowledged (it leaves the state)
 *
 * Invariants
 *   O1  an entry is sent again until it is acknowledged, and not after
 */
import type { CallRef } from "../kernel/ids.ts";
import type { WakeDelivery } from "../process/wake.ts";

export type OutboxRow =
  /** The host is asked to end outside work that a cancelled call had begun. */
  | { readonly type: "external.cancel"; readonly call: CallRef; readonly key: string; readonly born: number }
  /** A session is told of its process's event. */
  | { readonly type: "wake.deliver"; readonly key: string; readonly wake: WakeDelivery; readonly born: number }
  /** A session is told of a task, or, by a schedule, what to do. */
  | {
      readonly type: "session.tell";
      readonly key: string;
      readonly text: string;
      readonly schedule?: string;
      readonly born: number;
    };

export type OutboxEvent =
  | { readonly type: "external.cancel_acked"; readonly key: string }
  | { readonly type: "wake.acked"; readonly key: string }
  | { readonly type: "session.told"; readonly key: string };
