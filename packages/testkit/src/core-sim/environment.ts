/** State shared by the scopes of one simulation. */
import type { EventOf } from "@pawl/sansio-core";
import type { Outcome } from "@pawl/sansio-core/driver";
import type { Coverage } from "./coverage.ts";
import type { Dice } from "./random.ts";
import type { Conservation } from "./conservation.ts";

/** A message or an answer on its way between scopes. */
export type Packet =
  | { readonly type: "message"; readonly to: string; readonly event: Omit<EventOf<"message.received">, "known"> }
  | {
      readonly type: "answer";
      /** The sender of the message that is answered. */
      readonly to: string;
      readonly from: string;
      readonly link: number;
      readonly number: number;
      readonly outcome: Outcome;
      readonly protocol?: number;
    };

export interface Environment {
  readonly dice: Dice;
  readonly coverage: Coverage;
  readonly conservation: Conservation;
  readonly packets: Packet[];
  /** The kind of process in this seed. */
  readonly processKind: number;
  /** No more faults: everybody does their part. */
  isCalm: boolean;
  now: number;
  events: number;
}
