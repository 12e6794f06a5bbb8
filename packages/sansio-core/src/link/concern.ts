/** Messages between scopes, who may use which process, and what waits to be heard outside. */
import { array, boolean, optional, string, u64 } from "@pawl/tool-value";
import { SessionScope } from "../identity/scope.ts";
import { observed, toCaller, untilAcked } from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { grantedFields, MessageCodec, OutcomeCodec } from "../message/message.ts";
import { handleChecks, linkChecks, outboxChecks } from "./check.ts";
import {
  type HandleEvent,
  onDeleted,
  onEnded,
  onGrant,
  onGranted,
  onReleased,
  onRevoked,
  onTransferred,
} from "./handle.ts";
import { type OutboxEvent, hasWords, onAcked, outstandingOfLinks } from "./outbox.ts";
import { linkSnapshot } from "./snapshot.ts";
import { onAnswered, onJudged, onReceived, onRetired, onSend } from "./handlers.ts";
import type { LinkCommand, LinkEvent, LinkRows, LinkSignal } from "./model.ts";
import type { Concern } from "../concern.ts";

const place = { link: u64, number: u64 };

export const link: Concern<
  LinkRows,
  LinkEvent["type"] | HandleEvent["type"] | OutboxEvent["type"],
  LinkSignal["type"],
  LinkCommand["type"]
> = {
  name: "link",
  events: {
    "message.received": {
      fields: {
        from: string,
        ...place,
        heard: u64,
        message: MessageCodec,
        protocol: optional(u64),
        invalid: optional(string),
        known: optional(boolean),
      },
      fieldsSince: { protocol: "link_protocols" },
      on: onReceived,
    },
    "message.answered": {
      fields: { to: string, ...place, outcome: OutcomeCodec, protocol: optional(u64) },
      fieldsSince: { protocol: "link_protocols" },
      on: onAnswered,
    },
    "link.retired": { fields: { peer: string }, on: onRetired },
    "external.cancel_acked": { fields: { key: string }, on: onAcked },
    "wake.acked": { fields: { key: string }, on: onAcked },
    "session.told": { fields: { key: string }, on: onAcked },
    "handle.granted": { fields: grantedFields, on: onGranted },
    "handles.transferred": {
      fields: { from: SessionScope, to: SessionScope, processes: array(string) },
      on: onTransferred,
    },
    "handles.revoked": { fields: { holder: SessionScope, processes: optional(array(string)) }, on: onRevoked },
    "session.deleted": { fields: {}, on: onDeleted },
  },
  signals: {
    "messages.send": { raises: [], on: onSend },
    "message.judged": { raises: [], on: onJudged },
    "handle.grant": { raises: ["messages.send"], on: onGrant },
    "handle.released": { raises: [], on: onReleased },
    "handle.ended": { raises: [], on: onEnded },
  },
  commands: {
    send: {
      tag: 15,
      duty: untilAcked("message.answered"),
      digest: (lanes, command) =>
        lanes
          .text(command.to)
          .number(command.link)
          .number(command.number)
          .number(command.heard)
          .text(command.message.type),
    },
    "message.answer": {
      tag: 16,
      duty: toCaller,
      digest: (lanes, command) =>
        lanes.text(command.to).number(command.link).number(command.number).text(command.outcome.status),
    },
    "external.cancel": {
      tag: 11,
      duty: untilAcked("external.cancel_acked"),
      digest: (lanes, command) => lanes.text(command.call).text(command.key),
    },
    "wake.deliver": {
      tag: 17,
      duty: untilAcked("wake.acked"),
      digest: (lanes, command) =>
        lanes
          .text(command.key)
          .text(command.wake.process_id)
          .number(command.wake.sequence)
          .text(command.wake.event_type),
    },
    "session.tell": {
      tag: 44,
      duty: untilAcked("session.told"),
      digest: (lanes, command) => lanes.text(command.key).optional(command.schedule),
    },
    "deletion.report": {
      tag: 22,
      duty: observed,
      digest: (lanes, command) => lanes.texts(command.orphaned).texts(command.preserved),
    },
  },
  outstanding: outstandingOfLinks,
  isAtWork: hasWords,
  checks: [...outboxChecks, ...linkChecks, ...handleChecks],
  snapshot: linkSnapshot,
  rows: {
    outbox: PersistentMap.empty(),
    links: PersistentMap.empty(),
    handles: PersistentMap.empty(),
    deletion: undefined,
  },
};
