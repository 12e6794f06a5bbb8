/** Links, handles and the outbox in a snapshot: maps as lists, in an order that the rows give. */
import {
  type Codec,
  type RecordOf,
  type TypeOf,
  array,
  boolean,
  json,
  list,
  oneOf,
  optional,
  record,
  string,
  struct,
  text,
  u64,
} from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { DeletionRow, HandleRow } from "./handle.ts";
import type { CallRef } from "../kernel/vocabulary.ts";
import { SessionScope } from "../identity/scope.ts";
import { type Message, type Said, MessageCodec, OutcomeCodec, WakeDeliveryCodec } from "../message/message.ts";
import type { SnapshotPart } from "../concern.ts";
import type { OutboxRow } from "./outbox.ts";
import type { LinkRow, LinkRows, Origin, OutgoingEnd, OutgoingMessage, WaitingMessage } from "./model.ts";
import { DescriptorCodec, ProcessStateCodec } from "../message/process.ts";

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
const OutgoingCodec = struct("struct Outgoing", {
  link: u64,
  phase: oneOf<OutgoingEnd["phase"]>("a phase of a link", "open", "draining", "closing"),
  sent: u64,
  heard: u64,
  unanswered: list(OutgoingMessageCodec),
  waiting: list(WaitingMessageCodec),
});
const IncomingCodec = struct("struct Incoming", {
  link: u64,
  received: u64,
  answers: list(struct("struct Answer", { number: u64, outcome: OutcomeCodec })),
});
const LinkCodec = struct("struct Link", {
  peer: string,
  protocol: optional(u64),
  outgoing: optional(OutgoingCodec),
  incoming: optional(IncomingCodec),
});
type LinkShape = TypeOf<typeof LinkCodec>;

const HandleCodec: Codec<HandleRow> = record<HandleRow>("struct Handle", {
  process: string,
  holders: array(SessionScope),
  descriptor: DescriptorCodec,
  definition: optional(json),
  status: ProcessStateCodec,
  born: u64,
  ended: optional(u64),
});

const processes = list(string);
const DeletionCodec: Codec<DeletionRow> = record<DeletionRow>("struct Deletion", {
  asked: processes,
  orphaned: processes,
  preserved: processes,
});

/** Outside work that is to end has `call`, a wake `wake`, and what a session is told `text`. */
const OutboxCodec = struct("struct Outbox", {
  key: string,
  call: optional(string),
  wake: optional(WakeDeliveryCodec),
  text: optional(text),
  schedule: optional(string),
  born: u64,
});
type OutboxShape = TypeOf<typeof OutboxCodec>;

const byNumber = (a: { readonly number: number }, b: { readonly number: number }): number => a.number - b.number;

const linkShape = ({ peer, protocol, outgoing, incoming }: LinkRow): LinkShape => ({
  peer,
  ...(protocol !== undefined && { protocol }),
  ...(outgoing && { outgoing: { ...outgoing, unanswered: outgoing.unanswered.values().toSorted(byNumber) } }),
  ...(incoming && {
    incoming: {
      ...incoming,
      answers: [...incoming.answers].map(([number, outcome]) => ({ number, outcome })).toSorted(byNumber),
    },
  }),
});

const linkRow = ({ peer, protocol, outgoing, incoming }: LinkShape): LinkRow => ({
  peer,
  ...(protocol !== undefined && { protocol }),
  ...(outgoing && {
    outgoing: { ...outgoing, unanswered: PersistentMap.of(outgoing.unanswered.map((one) => [one.number, one])) },
  }),
  ...(incoming && {
    incoming: {
      ...incoming,
      answers: PersistentMap.of(incoming.answers.map(({ number, outcome }) => [number, outcome])),
    },
  }),
});

const outboxShape = (row: OutboxRow): OutboxShape => {
  const { key, born } = row;
  switch (row.type) {
    case "wake.deliver":
      return { key, wake: row.wake, born };
    case "session.tell":
      return { key, text: row.text, ...(row.schedule === undefined ? {} : { schedule: row.schedule }), born };
    case "external.cancel":
      return { key, call: row.call, born };
  }
};

const outboxRow = ({ key, call, wake, text: said, schedule, born }: OutboxShape): OutboxRow => {
  if (wake !== undefined) return { type: "wake.deliver", key, wake, born };
  if (said === undefined) return { type: "external.cancel", call: call as CallRef, key, born }; // The call may have left long ago.
  return { type: "session.tell", key, text: said, ...(schedule === undefined ? {} : { schedule }), born };
};

const byPeer = (a: LinkRow, b: LinkRow): number => (a.peer < b.peer ? -1 : 1);
const byBirthAndProcess = (a: HandleRow, b: HandleRow): number => a.born - b.born || (a.process < b.process ? -1 : 1);

/** Several entries may be born of one event. */
const byBirthAndKey = (a: OutboxRow, b: OutboxRow): number => a.born - b.born || (a.key < b.key ? -1 : 1);

const fields = {
  outbox: list(OutboxCodec),
  links: list(LinkCodec),
  handles: list(HandleCodec),
  deletion: optional(DeletionCodec),
};

export const linkSnapshot: SnapshotPart<RecordOf<typeof fields>, LinkRows> = {
  fields,
  write: ({ outbox, links, handles, deletion }) => ({
    outbox: outbox.values().toSorted(byBirthAndKey).map(outboxShape),
    links: links.values().toSorted(byPeer).map(linkShape),
    handles: handles.values().toSorted(byBirthAndProcess),
    ...(deletion === undefined ? {} : { deletion }),
  }),
  read: (shape) => {
    const outbox = PersistentMap.of(shape.outbox.map((row) => [row.key, outboxRow(row)]));
    const links = PersistentMap.of(shape.links.map((link) => [link.peer, linkRow(link)]));
    const handles = PersistentMap.of(shape.handles.map((row) => [row.process, row]));
    const isWhole =
      outbox.size === shape.outbox.length && links.size === shape.links.length && handles.size === shape.handles.length;
    return isWhole ? { outbox, links, handles, deletion: shape.deletion } : undefined;
  },
};
