/** Messages go out numbered, come in once, and are answered. What they do is the business of other concerns. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, Invariant, reject } from "../kernel/error.ts";
import type { EventOf, SignalOf } from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import {
  type IncomingEnd,
  type LinkRow,
  type Origin,
  type OutgoingEnd,
  type OutgoingMessage,
  type WaitingMessage,
  finishedLink,
  problemOfMessage,
  saidProtocol,
} from "./model.ts";
import type { Message, Outcome } from "../message/message.ts";

type Received = EventOf<"message.received">;

const withOutgoing = ({ peer, protocol, incoming }: LinkRow, outgoing: OutgoingEnd | undefined): LinkRow => ({
  peer,
  ...(protocol === undefined ? {} : { protocol }),
  ...(incoming === undefined ? {} : { incoming }),
  ...(outgoing === undefined ? {} : { outgoing }),
});
const withIncoming = ({ peer, protocol, outgoing }: LinkRow, incoming: IncomingEnd | undefined): LinkRow => ({
  peer,
  ...(protocol === undefined ? {} : { protocol }),
  ...(incoming === undefined ? {} : { incoming }),
  ...(outgoing === undefined ? {} : { outgoing }),
});

/** The row after a word of its peer. What was said earlier may come later. */
const heardOf = (row: LinkRow, { protocol }: { readonly protocol?: number }): LinkRow =>
  protocol === undefined ? row : { ...row, protocol: Math.max(protocol, row.protocol ?? 1) };

const opened = (draft: Draft): OutgoingEnd => ({
  link: draft.seq,
  phase: "open",
  sent: 0,
  heard: 0,
  unanswered: PersistentMap.empty(),
  waiting: [],
});

/** The end after one more message. */
const post = (
  draft: Draft,
  to: string,
  end: OutgoingEnd,
  { message, origin }: { readonly message: Message; readonly origin?: Origin },
): OutgoingEnd => {
  const { link, heard } = end;
  const number = end.sent + 1;
  const entry: OutgoingMessage = { number, message, born: draft.seq, ...(origin === undefined ? {} : { origin }) };
  draft.emit({ type: "send", to, link, number, heard, message, ...saidProtocol(draft) });
  return { ...end, sent: number, unanswered: end.unanswered.set(number, entry) };
};

const postAll = (draft: Draft, to: string, end: OutgoingEnd, messages: readonly WaitingMessage[]): OutgoingEnd => {
  let next = end;
  for (const message of messages) {
    next = post(draft, to, next, message);
    if (message.isLast) next = { ...next, phase: "draining" };
  }
  return next;
};

/** The end that says its last word, where it is to and nothing else is unanswered. */
const drained = (draft: Draft, to: string, end: OutgoingEnd): OutgoingEnd =>
  end.phase === "draining" && end.unanswered.size === 0
    ? { ...post(draft, to, end, { message: { type: "link.closed" } }), phase: "closing" }
    : end;

export const onSend = (draft: Draft, { to, message: said, isLast, origin }: SignalOf<"messages.send">): void => {
  const message = { message: said, isLast, ...(origin === undefined ? {} : { origin }) };
  const row: LinkRow = draft.link(to) ?? { peer: to };
  const end = row.outgoing ?? opened(draft);
  const next =
    end.phase === "closing" ? { ...end, waiting: [...end.waiting, message] } : postAll(draft, to, end, [message]);
  draft.putLink(withOutgoing(row, next));
};

/** A sender opens a link only when its last one is closed: a newer one says that the older is over. */
const problemOf = ({ from, link, number }: Received, end: IncomingEnd | undefined): Rejection | undefined => {
  const expected = end === undefined || end.link < link ? 1 : end.received + 1;
  if (end !== undefined && link < end.link) {
    return reject("already_received", `link ${link} from \`${from}\` is over: the link is ${end.link}`);
  }
  if (number < expected) {
    return reject("already_received", `from \`${from}\`: expected message ${expected}, found ${number} again`);
  }
  return number === expected
    ? undefined
    : reject("link_gap", `from \`${from}\`: expected message ${expected}, found ${number}`);
};

/** The answers that the sender may still ask for. */
const unheard = (end: IncomingEnd | undefined, heard: number): PersistentMap<number, Outcome> => {
  const answers = end?.answers ?? PersistentMap.empty<number, Outcome>();
  return answers
    .keys()
    .filter((number) => number <= heard)
    .reduce((rest, number) => rest.delete(number), answers);
};

export const onReceived = (draft: Draft, event: Received): Rejection | undefined => {
  const { from, link, number, heard, message, invalid, known } = event;
  const row = heardOf(draft.link(from) ?? { peer: from }, event);
  const problem = problemOf(event, row.incoming) ?? problemOfMessage(draft, message);
  if (problem !== undefined) return problem;
  const isNewer = row.incoming !== undefined && row.incoming.link < link;
  const answers = unheard(isNewer ? undefined : row.incoming, heard);
  const max = Math.max(1, draft.options.max_answers);
  if (answers.size >= max) {
    return reject("link_full", `from \`${from}\`: ${max} answers are not heard yet`);
  }
  if (isNewer) draft.finishLink(finishedLink(from, row.incoming.link));
  if (message.type === "link.closed") {
    onClosed(draft, row, event);
    return undefined;
  }
  draft.putLink(withIncoming(row, { link, received: number, answers }));
  draft.raise({
    type: "message.taken",
    from,
    message,
    ...(invalid === undefined ? {} : { invalid }),
    ...(known === undefined ? {} : { known }),
  });
  return undefined;
};

const answer = (
  draft: Draft,
  to: string,
  { link, number }: { readonly link: number; readonly number: number },
  outcome: Outcome,
): void => draft.emit({ type: "message.answer", to, link, number, outcome, ...saidProtocol(draft) });

/** The peer's last word. It is answered in kind, as soon as all is said. */
const onClosed = (draft: Draft, row: LinkRow, { from, link, number }: Received): void => {
  const { outgoing } = row;
  const next =
    outgoing === undefined || outgoing.phase === "closing"
      ? outgoing
      : drained(draft, from, { ...outgoing, phase: "draining" });
  const { incoming: _, ...rest } = row;
  draft.putLink(withOutgoing(rest, next));
  draft.finishLink(finishedLink(from, link));
  answer(draft, from, { link, number }, { status: "accepted", value: null });
};

export const onJudged = (draft: Draft, { from, outcome }: SignalOf<"message.judged">): void => {
  const row = draft.link(from);
  const end = row?.incoming;
  if (row === undefined || end === undefined) throw new Invariant(`no link from ${from}`);
  const { link, received } = end;
  draft.putLink(withIncoming(row, { ...end, answers: end.answers.set(received, outcome) }));
  answer(draft, from, { link, number: received }, outcome);
};

/** The end without an answered message. */
const answered = (end: OutgoingEnd, number: number): OutgoingEnd => {
  const unanswered = end.unanswered.delete(number);
  let { heard } = end;
  while (heard < end.sent && !unanswered.has(heard + 1)) heard += 1;
  return { ...end, heard, unanswered };
};

const closing = (end: OutgoingEnd, { last }: Outcome): OutgoingEnd =>
  last === true && end.phase === "open" ? { ...end, phase: "draining" } : end;

/** Returns the end after its last word was heard: the next link, if messages wait for it. */
const reopened = (draft: Draft, to: string, { waiting }: OutgoingEnd): OutgoingEnd | undefined =>
  waiting.length === 0 ? undefined : postAll(draft, to, opened(draft), waiting);

export const onAnswered = (draft: Draft, event: EventOf<"message.answered">): Rejection | undefined => {
  const { to, link, number, outcome } = event;
  const row = draft.link(to);
  const end = row?.outgoing;
  if (row === undefined || end?.link !== link) return reject("link_unknown", `no link ${link} to \`${to}\``);
  const entry = end.unanswered.get(number);
  if (entry === undefined) {
    return number <= end.sent
      ? reject("already_answered", `message ${number} to \`${to}\` is answered already`)
      : reject("message_unknown", `message ${number} to \`${to}\` was never sent`);
  }
  const { message, origin } = entry;
  const next = closing(answered(end, number), outcome);
  draft.putLink(
    withOutgoing(heardOf(row, event), end.phase === "closing" ? reopened(draft, to, next) : drained(draft, to, next)),
  );
  if (origin !== undefined) {
    const status = outcome.status === "accepted" ? "ok" : "err";
    draft.raise({ type: "effect.end", ...origin, status, value: draft.seq });
  }
  draft.raise({ type: "link.freed", to });
  if (message.type !== "link.closed") draft.raise({ type: "message.heard", to, message, outcome });
  return undefined;
};

export const onRetired = (draft: Draft, { peer }: EventOf<"link.retired">): Rejection | undefined => {
  const row = draft.link(peer);
  if (row?.outgoing === undefined) return reject("link_unknown", `no link to \`${peer}\``);
  const { outgoing } = row;
  if (outgoing.phase !== "open") return reject("wrong_phase", `the link to \`${peer}\` is ${outgoing.phase} already`);
  draft.putLink(withOutgoing(row, drained(draft, peer, { ...outgoing, phase: "draining" })));
  return undefined;
};
