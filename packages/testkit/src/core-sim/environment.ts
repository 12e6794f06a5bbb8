/** What the scopes of one simulated world have in common. */
import type { EventOf, Outcome } from "@pawl/sansio-core";
import type { Coverage } from "./coverage.ts";
import type { Dice } from "./random.ts";
import type { Conservation } from "./conservation.ts";

/** What one scope says to another, on its way. */
export type Packet =
  | { readonly type: "message"; readonly to: string; readonly event: Omit<EventOf<"message.received">, "known"> }
  | {
      readonly type: "answer";
      /** Whose message it answers. */
      readonly to: string;
      readonly from: string;
      readonly link: number;
      readonly number: number;
      readonly outcome: Outcome;
    };

export interface Environment {
  readonly dice: Dice;
  readonly coverage: Coverage;
  readonly conservation: Conservation;
  readonly packets: Packet[];
  /** What kind of process the seed has. */
  readonly processKind: number;
  /** No faults any more, and everybody does their part. */
  isCalm: boolean;
  now: number;
  events: number;
}
