/**
 * The outbox: what has to be said to the outside until it is acknowledged. A request's reply waits in the request.
 *
 *   put ─▶ waiting ─▶ acknowledged (it leaves the state)
 *
 * Invariants
 *   O1  an entry is sent again until it is acknowledged, and not after
 */
import type { Born, CallRef, State } from "../kernel/vocabulary.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { saidProtocol, sendingsOf, unansweredOf } from "./model.ts";
import type { WakeDelivery } from "../process/append.ts";

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

export const onAcked = (draft: Draft, event: OutboxEvent): Rejection | undefined => {
  if (!draft.outbox.has(event.key)) return reject("message_unknown", `nothing waits under \`${event.key}\``);
  draft.dropOutbox(event.key);
  return undefined;
};

// Issued again: messages until they are answered, entries of the outbox until they are acknowledged.

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const ofOutbox = (state: State): Born[] =>
  state.outbox
    .values()
    .toSorted(byKey)
    .map(({ born, ...command }, index) => ({ born, index, command }));

/** Each link's messages in their order; of two links' at one place in the log those to the lesser peer first. */
const ofLinks = (state: State): Born[] =>
  state.links
    .values()
    .toSorted((a, b) => (a.peer < b.peer ? -1 : 1))
    .flatMap(sendingsOf)
    .map(({ born, ...sending }) => {
      const command = { type: "send", ...sending, ...saidProtocol(state) } as const;
      return { born, index: sending.number, command };
    });

export const outstandingOfLinks = (state: State): Born[] => [...ofOutbox(state), ...ofLinks(state)];

export const hasWords = ({ outbox, links }: State): boolean =>
  outbox.size > 0 || links.some((row) => unansweredOf(row) > 0);
