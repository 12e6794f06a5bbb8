/** What an effect's record says: the value is read from the event that holds it. */
import type { EffectResult, Event, ProcessRow, SettledEffect } from "@pawl/sansio-core";
import { late } from "./late-part.ts";

/** Most are steps; where there is anything else, the code for it is there. */
export const resultIn = (event: Event, key: string, effect: SettledEffect, process?: ProcessRow): EffectResult => {
  if (effect.kind === "step" && event.type === "step.settled" && event.key === key) return event.result;
  if (event.type === "effect.requested" && event.key === key && event.refused !== undefined)
    return { status: "err", error: event.refused };
  return late.atHand.seldomResult(event, key, effect, process);
};
