/** Links, handles and the process of a scope in a snapshot: maps as lists, in an order that the rows give. */
import { type Codec, array, boolean, defaulted, json, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { DeletionRow, HandleRow } from "../link/handle-model.ts";
import type { CallRef } from "../kernel/ids.ts";
import { SessionScope } from "../identity/session-scope.ts";
import { DescriptorCodec, MessageCodec, OutcomeCodec } from "../message/codec.ts";
import type { Message, Outcome, Said } from "../message/message.ts";
import type { IncomingEnd, LinkRow, Origin, OutgoingEnd, OutgoingMessage, WaitingMessage } from "../link/model.ts";
import { ProcessStateCodec } from "../message/process.ts";
import { isEmpty } from "./left-out.ts";

interface Answer {
  readonly number: number;
  readonly outcome: Outcome;
}
interface OutgoingShape extends Omit<OutgoingEnd, "unanswered"> {
  readonly unanswered: readonly OutgoingMessage[];
}
interface IncomingShape extends Omit<IncomingEnd, "answers"> {
  readonly answers: readonly Answer[];
}
export interface LinkShape {
  readonly peer: string;
  readonly outgoing?: OutgoingShape;
  readonly incoming?: IncomingShape;
}

const OriginCodec = record<Origin>("struct Origin", {
  call: string as unknown as Codec<CallRef>,
  key: string,
  requested: u64,
});
const OutgoingMessageCodec: Codec<OutgoingMessage> = record<OutgoingMessage>("struct OutgoingMessage", {
  number: u64,
  message: MessageCodec,
  born: u64,
  origin: optional(OriginCodec),
});
const WaitingMessageCodec: Codec<WaitingMessage> = record<WaitingMessage>("struct WaitingMessage", {
  message: MessageCodec as Codec<Message> as Codec<Said>, // L2 holds of it, or the state is not believed.
  isLast: boolean,
  origin: optional(OriginCodec),
});
const AnswerCodec: Codec<Answer> = record<Answer>("struct Answer", { number: u64, outcome: OutcomeCodec });

export const LinkCodec: Codec<LinkShape> = record<LinkShape>("struct Link", {
  peer: string,
  outgoing: optional(
    record<OutgoingShape>("struct Outgoing", {
      link: u64,
      phase: oneOf<OutgoingEnd["phase"]>("a phase of a link", "open", "draining", "closing"),
      sent: u64,
      heard: u64,
      unanswered: defaulted<readonly OutgoingMessage[]>(array(OutgoingMessageCodec), [], isEmpty),
      waiting: defaulted<readonly WaitingMessage[]>(array(WaitingMessageCodec), [], isEmpty),
    }),
  ),
  incoming: optional(
    record<IncomingShape>("struct Incoming", {
      link: u64,
      received: u64,
      answers: defaulted<readonly Answer[]>(array(AnswerCodec), [], isEmpty),
    }),
  ),
});

export const HandleCodec: Codec<HandleRow> = record<HandleRow>("struct Handle", {
  process: string,
  holders: array(SessionScope),
  descriptor: DescriptorCodec,
  definition: optional(json),
  status: ProcessStateCodec,
  born: u64,
  ended: optional(u64),
});

const processes = defaulted<readonly string[]>(array(string), [], isEmpty);
export const DeletionCodec: Codec<DeletionRow> = record<DeletionRow>("struct Deletion", {
  asked: processes,
  orphaned: processes,
  preserved: processes,
});

const byNumber = (a: { readonly number: number }, b: { readonly number: number }): number => a.number - b.number;

export const linkShape = ({ peer, outgoing, incoming }: LinkRow): LinkShape => ({
  peer,
  ...(outgoing === undefined
    ? {}
    : { outgoing: { ...outgoing, unanswered: outgoing.unanswered.values().toSorted(byNumber) } }),
  ...(incoming === undefined
    ? {}
    : {
        incoming: {
          ...incoming,
          answers: [...incoming.answers].map(([number, outcome]) => ({ number, outcome })).toSorted(byNumber),
        },
      }),
});

export const linkRow = ({ peer, outgoing, incoming }: LinkShape): LinkRow => ({
  peer,
  ...(outgoing === undefined
    ? {}
    : { outgoing: { ...outgoing, unanswered: PersistentMap.of(outgoing.unanswered.map((one) => [one.number, one])) } }),
  ...(incoming === undefined
    ? {}
    : {
        incoming: {
          ...incoming,
          answers: PersistentMap.of(incoming.answers.map(({ number, outcome }) => [number, outcome])),
        },
      }),
});
