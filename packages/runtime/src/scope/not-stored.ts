/** Values that their store does not take: who is told at once, and who may wait for them. */
import type { Event } from "@pawl/sansio-core";
import type { EffectKind } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";

export const notStored = "value_not_stored";

export const whyNotStored = "its store did not take it, perhaps for want of room";

/** What a caller is told whose words have no room. */
export const refusedValue = (event: Event["type"]): Refused =>
  new Refused(notStored, `a value of \`${event}\` was not kept, and nothing was recorded: ${whyNotStored}`);

/** These are told by nobody who looks at what becomes of them at once: they may wait until their values are stored. */
export const waiting: readonly Event["type"][] = [
  "hook.ran",
  "call.prepared",
  "call.settled",
  "call.settled_late",
  "call.continued",
  "step.settled",
  "host.answered",
  "replies.recorded",
  "outcome.resolved",
  "result.projected",
];

/** What a body asks for so may be asked without what it hands in. What goes to processes stays whole. */
const asked: ReadonlySet<EffectKind> = new Set<EffectKind>(["step", "host", "trigger", "batch"]);

export const mayWait = (event: Event): boolean =>
  waiting.includes(event.type) || (event.type === "effect.requested" && asked.has(event.effect.kind));
