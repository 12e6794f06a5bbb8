/**
 * A link: messages from one scope to another, numbered from 1. It has an end in each scope's state.
 *
 *   sender     (nothing) ─▶ open ─▶ [draining] ─▶ closing ─▶ (nothing)
 *   receiver   (nothing) ─▶ open ──────────────────────────▶ (nothing; its name goes to the finished index)
 *
 * The receiver accepts only the next number; every message is answered, accepted or refused, and a refusal blocks
 * nothing. The carriage may lose, repeat and reorder. An answer is kept until the sender has said, with a later
 * message, that it has heard it. A link is opened by its first message and bears the sequence of the event that sent
 * it, so that what is left of an older link is never taken for a newer one's. It is closed by its last message, which
 * is sent only when all others are answered. Whoever takes messages in asks the finished index first: what is left of
 * a link that is over is not taken again.
 *
 * Invariants
 *   L1  unanswered messages lie between what was heard and what was sent; the one after what was heard is among them
 *   L2  an end that closes has one unanswered message, its last word; no other end has that one
 *   L3  answers are kept of received numbers only
 *   L4  messages wait behind a link only while it closes
 *   L5  every unanswered message is sent again until it is answered, in the order of numbers
 *   L6  a row has an end
 *   L7  within one link counters only grow; a later link to the same peer has a later name
 *   L8  the protocol of a peer only grows, and is known in scopes that say their own alone
 */
import type { Draft } from "../kernel/draft.ts";
import { hasRule, missingRule } from "../kernel/protocol.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { TerminalState } from "../process/model.ts";
import type { WakeDelivery } from "../process/append.ts";
import type { GrantedHandle, Message, Outcome, Said } from "../message/message.ts";
import type { DeletionRow, HandleRow } from "./handle.ts";
import type { OutboxRow } from "./outbox.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { CallRef, State } from "../kernel/vocabulary.ts";

/** Names the effect that the answer to a message settles. */
export interface Origin {
  readonly call: CallRef;
  readonly key: string;
  /** The sequence of the effect's request: another effect under the same key is not meant. */
  readonly requested: number;
}

export interface OutgoingMessage {
  readonly number: number;
  readonly message: Message;
  readonly born: number;
  readonly origin?: Origin;
}

/** A message that goes out on the next link, when this one has closed. */
export interface WaitingMessage {
  readonly message: Said;
  readonly isLast: boolean;
  readonly origin?: Origin;
}

export interface OutgoingEnd {
  readonly link: number;
  readonly phase: "open" | "draining" | "closing";
  readonly sent: number;
  /** All numbers up to this one are answered. */
  readonly heard: number;
  readonly unanswered: PersistentMap<number, OutgoingMessage>;
  readonly waiting: readonly WaitingMessage[];
}

export interface IncomingEnd {
  readonly link: number;
  readonly received: number;
  readonly answers: PersistentMap<number, Outcome>;
}

export interface LinkRow {
  readonly peer: string;
  /**
   * The protocol of the peer, as it said last; absent: 1, or it has said nothing yet. A message to the peer has no part of
   * a later one; all that there are so far are of protocol 1.
   */
  readonly protocol?: number;
  readonly outgoing?: OutgoingEnd;
  readonly incoming?: IncomingEnd;
}

export interface MessageReceived {
  readonly type: "message.received";
  readonly from: string;
  readonly link: number;
  readonly number: number;
  /** The sender has heard the answers to all numbers up to this one. */
  readonly heard: number;
  readonly message: Message;
  /** The protocol of the sender's scope. */
  readonly protocol?: number;
  /** Why the payload does not fit its schema, by the validator of the receiver's runtime. */
  readonly invalid?: string;
  /** For a wake: the finished index has it, so that the host was told already. */
  readonly known?: boolean;
}

export type LinkEvent =
  | MessageReceived
  | {
      readonly type: "message.answered";
      readonly to: string;
      readonly link: number;
      readonly number: number;
      readonly outcome: Outcome;
      /** The protocol of the scope that answers. */
      readonly protocol?: number;
    }
  /** There is nothing more to be said to a peer for now. */
  | { readonly type: "link.retired"; readonly peer: string };

/** A message to be sent, as a command says it. */
export interface Sending {
  readonly to: string;
  readonly link: number;
  readonly number: number;
  readonly heard: number;
  readonly message: Message;
  readonly protocol?: number;
}

/** The protocol of a scope as it says it to its peers; under protocol 1 it says nothing. */
export const saidProtocol = ({ scope }: Pick<State, "scope">): { readonly protocol?: number } =>
  hasRule(scope.protocol, "link_protocols") ? { protocol: scope.protocol } : {};

/** A message without what only scopes with budgets know. */
const withoutBudget = (message: Message): Message => {
  if (message.type === "process.start") {
    const { limits: _, ...rest } = message;
    return rest;
  }
  if (message.type !== "process.ended") return message;
  const { used: _, ...rest } = message;
  return rest;
};

/** Returns why a scope of an older protocol does not take a message, if so. */
export const problemOfMessage = ({ scope }: Pick<State, "scope">, message: Message): Rejection | undefined => {
  const hasBudget =
    message.type === "budget.raised" ||
    (message.type === "process.start" && message.limits !== undefined) ||
    (message.type === "process.ended" && message.used !== undefined);
  return hasBudget ? missingRule(scope.protocol, "turns", "a message about a budget") : undefined;
};

/** A message or an answer as a scope takes it: one of protocol 1 knows nothing of protocols, and of budgets. */
export const takenBy = <A extends { readonly protocol?: number }>({ scope }: Pick<State, "scope">, said: A): A => {
  if (said.protocol === undefined || hasRule(scope.protocol, "link_protocols")) return said;
  const { protocol: _, ...rest } = said as { readonly protocol?: number; readonly message?: Message };
  return (rest.message === undefined ? rest : { ...rest, message: withoutBudget(rest.message) }) as A;
};

/** How many messages to a peer are on their way, or wait to be. */
export const unansweredOf = ({ outgoing }: Pick<LinkRow, "outgoing">): number =>
  outgoing === undefined ? 0 : outgoing.unanswered.size + outgoing.waiting.length;

/** Returns why a link takes no more messages until some of them are answered. `kept`: the room that others have. */
export const problemOfLink = (draft: Draft, to: string, kept = 0): Rejection | undefined => {
  const max = draft.options.max_unanswered;
  return unansweredOf(draft.link(to) ?? {}) + kept < max
    ? undefined
    : reject("link_full", `to \`${to}\`: ${max} messages are not answered yet`);
};

/** Names a receiver's end in the finished index. */
export const finishedLink = (from: string, link: number): string => `${from}#${link}`;

/** The unanswered messages of a link, to be sent again, in their order. */
export const sendingsOf = ({ peer, outgoing }: LinkRow): readonly (Sending & { readonly born: number })[] =>
  outgoing === undefined
    ? []
    : outgoing.unanswered
        .values()
        .toSorted((a, b) => a.number - b.number)
        .map(({ number, message, born }) => {
          const { link, heard } = outgoing;
          return { to: peer, link, number, heard, message, born };
        });

const closed: Outcome = { status: "accepted", value: null };

/**
 * The recorded answer to a message that comes again; undefined where its sender has heard it, or it never came.
 * `isOver`: its link is in the finished index. Then nothing of it is taken, and only its last word may still want its
 * answer: all before were heard when that was said.
 */
export const answerOf = (
  { links }: { readonly links: PersistentMap<string, LinkRow> },
  { from, link, number, message }: Pick<MessageReceived, "from" | "link" | "number" | "message">,
  isOver: boolean,
): Outcome | undefined => {
  if (isOver) return message.type === "link.closed" ? closed : undefined;
  const end = links.get(from)?.incoming;
  return end?.link === link ? end.answers.get(number) : undefined;
};

/** Signals that links, handles and the outbox hear. */
export type LinkSignal =
  | ({ readonly type: "messages.send"; readonly to: string } & WaitingMessage)
  | { readonly type: "message.judged"; readonly from: string; readonly outcome: Outcome }
  /** `isNews`: the process does not know yet that the session has its handle. */
  | ({ readonly type: "handle.grant"; readonly isNews: boolean } & GrantedHandle)
  /** The answer of a process to a session that was deleted. */
  | {
      readonly type: "handle.released";
      readonly process: string;
      readonly fate: "orphaned" | "preserved" | "ended";
    }
  | { readonly type: "handle.ended"; readonly process: string; readonly state: TerminalState };

/** Commands of links, handles and the outbox. */
export type LinkCommand =
  | { readonly type: "external.cancel"; readonly call: CallRef; readonly key: string }
  | ({ readonly type: "send" } & Sending)
  | {
      readonly type: "message.answer";
      readonly to: string;
      readonly link: number;
      readonly number: number;
      readonly outcome: Outcome;
      readonly protocol?: number;
    }
  /** A session is told of its process's event. */
  | { readonly type: "wake.deliver"; readonly key: string; readonly wake: WakeDelivery }
  /** A session is told; by a schedule as if its user spoke. */
  | { readonly type: "session.tell"; readonly key: string; readonly text: string; readonly schedule?: string }
  /** All that a deleted session held have said what becomes of them: those that live on, and nobody has, or another. */
  | {
      readonly type: "deletion.report";
      readonly orphaned: readonly string[];
      readonly preserved: readonly string[];
    };

/** Its rows in a state. */
export interface LinkRows {
  readonly outbox: PersistentMap<string, OutboxRow>;
  /** By the peer. */
  readonly links: PersistentMap<string, LinkRow>;
  /** In a session: the processes that it may use. */
  readonly handles: PersistentMap<string, HandleRow>;
  /** Set where the session was deleted. */
  readonly deletion: DeletionRow | undefined;
}
