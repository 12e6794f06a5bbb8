/** Those who read along all that a runtime does: what it logs, what it traces. Without one nothing is made for them. */
import type { Command } from "@pawl/sansio-core";
import type { Cause } from "./scope.ts";

/** It must not throw, and holds up every event by what it takes. */
export interface Telemetry {
  /** An event was stepped, with what follows from it; it may not be durable yet. */
  readonly stepped: (scope: string, cause: Cause, commands: readonly Command[]) => void;
  /** The scope is not this runtime's any more, or never was. */
  readonly lost: (scope: string, error: Error) => void;
}

export const bothOf = (one: Telemetry | undefined, other: Telemetry): Telemetry =>
  one === undefined
    ? other
    : {
        stepped: (...of) => {
          one.stepped(...of);
          other.stepped(...of);
        },
        lost: (...of) => {
          one.lost(...of);
          other.lost(...of);
        },
      };
