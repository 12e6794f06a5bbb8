/** What a body's request to a process came to, or what it told its own. */
import type { Event } from "../kernel/event.ts";
import type { ProcessRow } from "./model.ts";
import { resultOfEvent, resultOfOutcome, resultOfUnsent } from "./read.ts";
import type { EffectResult } from "../call/effect-model.ts";

/** It is answered by an event, or by the request itself; undefined for an event that answers none. */
export const resultAmong = (event: Event, process: ProcessRow | undefined): EffectResult | undefined => {
  if (event.type === "message.answered") return resultOfOutcome(event.outcome);
  if (event.type !== "effect.requested") return undefined;
  const { effect } = event;
  if (effect.kind === "message") return resultOfUnsent(effect);
  return effect.kind === "event" ? resultOfEvent(process, effect) : undefined;
};
