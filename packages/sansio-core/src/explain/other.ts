/** What is not done and is no call: replies, messages, a process's own work, a move. */
import { lambdasOf } from "../flow/read.ts";
import { sendingsOf } from "../link/model.ts";
import type { State } from "../kernel/state.ts";
import { longReasons } from "./long.ts";
import type { OtherReason } from "./model.ts";

const ofScope = ({ scope: { status } }: State): readonly OtherReason[] => {
  switch (status.type) {
    case "open":
      return [];
    case "moving": {
      const { to, nonce } = status;
      return [{ what: { type: "move", to, nonce }, movedBy: ["scope.moved", "scope.kept"] }];
    }
    case "moved":
      return [{ what: { type: "moved" }, movedBy: [] }];
  }
};

const ofRequests = (state: State): readonly OtherReason[] =>
  state.requests
    .rows()
    .flatMap(({ phase, request }): readonly OtherReason[] =>
      phase === "replying" ? [{ what: { type: "reply", request }, movedBy: ["reply.acked"] }] : [],
    );

const ofFlows = (state: State): readonly OtherReason[] =>
  state.flows
    .values()
    .flatMap(lambdasOf)
    .map(({ born, command: { request, id, name } }) => ({
      what: { type: "lambda", request, id, name },
      since: born,
      movedBy: ["lambda.applied"],
    }));

const ofOutbox = (state: State): readonly OtherReason[] =>
  state.outbox.values().map(({ type, key, born: since }): OtherReason => {
    switch (type) {
      case "external.cancel":
        return { what: { type: "external_cancel", key }, since, movedBy: ["external.cancel_acked"] };
      case "wake.deliver":
        return { what: { type: "wake", key }, since, movedBy: ["wake.acked"] };
      case "session.tell":
        return { what: { type: "telling", key }, since, movedBy: ["session.told"] };
    }
  });

const ofLinks = (state: State): readonly OtherReason[] =>
  state.links
    .values()
    .flatMap(sendingsOf)
    .map(({ to, link, number, message, born }) => ({
      what: { type: "message", to, link, number, message: message.type },
      since: born,
      movedBy: ["message.answered"],
    }));

const ofProcess = ({ process: row }: State): readonly OtherReason[] => {
  if (row === undefined) return [];
  const { id: process, env_ref: envRef = "" } = row.registration;
  const reasons: OtherReason[] = [];
  if (row.run === "env")
    reasons.push({ what: { type: "environment", process, envRef }, movedBy: ["catalog.published"] });
  if (row.run === "engine") {
    const what = { type: "engine", process, isCancelled: row.cancelled } as const;
    reasons.push({ what, movedBy: ["process.event_appended"] });
  }
  if (row.wait !== undefined) {
    const { name, key } = row.wait.kind;
    reasons.push({ what: { type: "signal", process, name, key }, movedBy: ["process.event_appended"] });
  }
  return reasons;
};

const textOf = ({ what }: OtherReason): string => JSON.stringify(what);
const byAge = (a: OtherReason, b: OtherReason): number =>
  (a.since ?? 0) - (b.since ?? 0) || (textOf(a) < textOf(b) ? -1 : 1);

export const otherReasons = (state: State): readonly OtherReason[] => [
  ...ofScope(state),
  ...[
    ...ofRequests(state),
    ...ofFlows(state),
    ...longReasons(state),
    ...ofProcess(state),
    ...ofOutbox(state),
    ...ofLinks(state),
  ].toSorted(byAge),
];
