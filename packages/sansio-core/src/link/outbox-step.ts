/** What was said and is acknowledged is over. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { OutboxEvent } from "./outbox-model.ts";

export const onAcked = (draft: Draft, event: OutboxEvent): Rejection | undefined => {
  if (!draft.outbox.has(event.key)) return reject("message_unknown", `nothing waits under \`${event.key}\``);
  draft.dropOutbox(event.key);
  return undefined;
};
