/**
 * Scopes: their owner, protocol and options, and their moves. `admit` looks at the envelope of every event: its place in
 * the log, its time, and whether the scope takes events.
 */
import { type Codec, array, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import type { Concern } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { Envelope, EventOf, EventType, State } from "../kernel/vocabulary.ts";
import { Options, defaultOptions, invalidOption, youngOption } from "../kernel/options.ts";
import { isKnownProtocol, unknownProtocol } from "../kernel/protocol.ts";
import { type ContinuedCall, type OwnerEnd, type ScopeEvent, type ScopeRows, VersionsCodec } from "./model.ts";

const whileMoving: ReadonlySet<EventType> = new Set(["scope.opened", "scope.received", "scope.moved", "scope.kept"]);

const problemOfStatus = ({ scope }: State, type: EventType): Rejection | undefined => {
  if (scope.epoch === 0) {
    if (type === "scope.opened") return undefined;
    return reject("scope_not_opened", `the first event of a log is scope.opened, found ${type}`);
  }
  if (scope.status.type === "moved") {
    return reject("scope_has_moved", `this copy of the scope moved away and is read-only, found ${type}`);
  }
  if (scope.status.type === "moving" && !whileMoving.has(type)) {
    return reject("scope_is_moving", `the scope moves to ${scope.status.to} and accepts nothing more, found ${type}`);
  }
  return undefined;
};

export const admit = (state: State, { seq, at, event }: Envelope): Rejection | undefined => {
  if (seq !== state.seq + 1) return reject("sequence_mismatch", `expected sequence ${state.seq + 1}, found ${seq}`);
  if (at < state.at) return reject("time_went_back", `scope time is ${state.at}, found the earlier ${at}`);
  return problemOfStatus(state, event.type);
};

/** Why nothing more is taken, if the session is deleted. */
export const problemOfDeleted = ({ deletion, scope }: Draft): Rejection | undefined =>
  deletion === undefined ? undefined : reject("session_deleted", `\`${scope.id}\` was deleted`);

export const checkS1Change = (before: State, after: State): string | undefined =>
  after.scope.epoch >= before.scope.epoch ? undefined : `S1: epoch ${after.scope.epoch} after ${before.scope.epoch}`;

export const checkS2Change = (before: State, after: State): string | undefined =>
  after.scope.protocol >= before.scope.protocol
    ? undefined
    : `S2: protocol ${after.scope.protocol} after ${before.scope.protocol}`;

/** While a move is under way, and for ever after it, the work stands still. */
export const checkS3Change = (before: State, after: State): string | undefined => {
  if (before.scope.status.type === "open" || after.scope.status.type === "open") return undefined;
  const isStill =
    before.calls === after.calls &&
    before.batches === after.batches &&
    before.requests === after.requests &&
    before.waits === after.waits &&
    before.outbox === after.outbox &&
    before.sticky === after.sticky &&
    before.catalog === after.catalog;
  return isStill ? undefined : `S3: something changed while the scope is ${before.scope.status.type}`;
};

export const checkS4Change = (before: State, after: State): string | undefined => {
  if (after.seq !== before.seq + 1) return `S4: sequence ${after.seq} after ${before.seq}`;
  return after.at >= before.at ? undefined : `S4: time ${after.at} after ${before.at}`;
};

export const scopeChangeChecks = [checkS1Change, checkS2Change, checkS3Change, checkS4Change] as const;

/** The bound of a step that changes the options as well: its time passes under those of before. */
export const mostOf = (
  bound: "max_runs" | "max_ended_tasks" | "max_schedules" | "max_ended_handles",
  before: State,
  after: State,
): number => Math.max(before.scope.options[bound], after.scope.options[bound]);

const problemOfOptions = (protocol: number, options: Options): Rejection | undefined => {
  const invalid = invalidOption(options);
  return invalid === undefined ? youngOption(protocol, options) : reject("invalid_option", invalid);
};

/** Loses what older owners ran, and offers what they could not run. */
const newOwner = (draft: Draft, went: OwnerEnd): void => {
  draft.raise({ type: "owners.lost", owners: "older", went });
  if (draft.state.conversation.running !== undefined) draft.raise({ type: "turn.lost", isCrash: went === "lost" });
  if (draft.scope.versions !== undefined) draft.raise({ type: "versions.changed" });
};

const onOpened = (draft: Draft, event: EventOf<"scope.opened">): Rejection | undefined => {
  const { scope } = draft;
  if (event.epoch <= scope.epoch) return reject("stale_epoch", `the epoch is ${scope.epoch}, found ${event.epoch}`);
  if (!isKnownProtocol(event.protocol)) {
    return reject("newer_protocol", unknownProtocol(event.protocol));
  }
  if (scope.epoch > 0 && event.protocol !== scope.protocol) {
    const message = `the scope is of protocol ${scope.protocol}, found ${event.protocol}: only scope.upgraded changes it`;
    return reject("not_an_upgrade", message);
  }
  const { epoch, owner, protocol, options, versions, last_owner: went = "lost" } = event;
  const problem = problemOfOptions(protocol, options);
  if (problem !== undefined) return problem;
  const { id, status } = scope;
  const isMoving = status.type === "moving";
  draft.setScope({
    id,
    epoch,
    owner,
    protocol,
    options,
    status: isMoving ? { ...status, reopened: true } : status,
    ...(versions === undefined ? {} : { versions }),
  });
  if (scope.epoch > 0 && !isMoving) newOwner(draft, went);
  if (options.max_unanswered > scope.options.max_unanswered) draft.raise({ type: "link.freed" });
  return undefined;
};

const onConfigured = (draft: Draft, { options }: EventOf<"scope.configured">): Rejection | undefined => {
  const problem = problemOfOptions(draft.scope.protocol, options);
  if (problem !== undefined) return problem;
  const isRoomier = options.max_unanswered > draft.options.max_unanswered;
  draft.setScope({ ...draft.scope, options });
  draft.raise({ type: "batches.review" });
  if (isRoomier) draft.raise({ type: "link.freed" });
  return undefined;
};

const onUpgraded = (draft: Draft, event: EventOf<"scope.upgraded">): Rejection | undefined => {
  const { scope } = draft;
  if (!isKnownProtocol(event.to)) return reject("newer_protocol", unknownProtocol(event.to));
  if (event.to <= scope.protocol) return reject("not_an_upgrade", `the scope is of protocol ${scope.protocol} already`);
  draft.setScope({ ...scope, protocol: event.to });
  draft.raise({ type: "calls.upgraded", continued: event.continued ?? [] });
  return undefined;
};

export const onReceived = (draft: Draft, event: EventOf<"scope.received">): Rejection | undefined => {
  const { scope } = draft;
  const { status } = scope;
  if (status.type !== "moving") return reject("scope_is_not_moving", "only a scope that was moving can be received");
  if (status.nonce !== event.nonce)
    return reject("nonce_mismatch", `expected nonce ${status.nonce}, found ${event.nonce}`);
  if (event.epoch <= scope.epoch) return reject("stale_epoch", `the epoch is ${scope.epoch}, found ${event.epoch}`);
  const { versions: _, ...rest } = scope;
  const { epoch, owner, versions } = event;
  draft.setScope({ ...rest, epoch, owner, status: { type: "open" }, ...(versions === undefined ? {} : { versions }) });
  newOwner(draft, "released");
  return undefined;
};

/** The source's own word on the end of a move. */
const onMoveEnded = (draft: Draft, event: EventOf<"scope.moved" | "scope.kept">): Rejection | undefined => {
  const { scope } = draft;
  const { status } = scope;
  if (status.type !== "moving") return reject("scope_is_not_moving", `no move is under way, found ${event.type}`);
  if (status.nonce !== event.nonce)
    return reject("nonce_mismatch", `expected nonce ${status.nonce}, found ${event.nonce}`);
  const moved = event.type === "scope.moved";
  const { to, nonce } = status;
  draft.setScope({ ...scope, status: moved ? { type: "moved", to, nonce } : { type: "open" } });
  if (!moved && status.reopened) newOwner(draft, "released");
  return undefined;
};

const onOwnerLost = (draft: Draft, { owner, went = "lost" }: EventOf<"owner.lost">): Rejection | undefined => {
  const isKnown = draft.calls().some((row) => row.phase === "running" && row.owner === owner);
  if (!isKnown) return reject("owner_unknown", `nothing here is run by \`${owner}\``);
  draft.raise({ type: "owners.lost", owners: [owner], went });
  return undefined;
};

const onMoving = (draft: Draft, { to, nonce }: EventOf<"scope.moving">): undefined => {
  draft.setScope({ ...draft.scope, status: { type: "moving", to, nonce, reopened: false } });
};

const ownerEnd = oneOf<OwnerEnd>("the end of an owner", "released", "lost");

const ContinuedCallCodec: Codec<ContinuedCall> = record<ContinuedCall>("struct ContinuedCall", {
  call: string,
  args_hash: string,
});

export const scope: Concern<ScopeRows, ScopeEvent["type"]> = {
  name: "scope",
  events: {
    "scope.opened": {
      fields: {
        epoch: u64,
        owner: string,
        protocol: u64,
        options: Options,
        last_owner: optional(ownerEnd),
        versions: optional(VersionsCodec),
      },
      fieldsSince: { last_owner: "crash_loops", versions: "parked_divergence" },
      on: onOpened,
    },
    "clock.ticked": { fields: {}, on: () => undefined },
    "scope.configured": { fields: { options: Options }, on: onConfigured },
    "scope.upgraded": { fields: { to: u64, continued: optional(array(ContinuedCallCodec)) }, on: onUpgraded },
    "scope.moving": { fields: { to: string, nonce: string }, on: onMoving },
    "scope.received": {
      fields: { nonce: string, epoch: u64, owner: string, versions: optional(VersionsCodec) },
      fieldsSince: { versions: "parked_divergence" },
      on: onReceived,
    },
    "scope.moved": { fields: { nonce: string }, on: onMoveEnded },
    "scope.kept": { fields: { nonce: string }, on: onMoveEnded },
    "owner.lost": {
      fields: { owner: string, went: optional(ownerEnd) },
      fieldsSince: { went: "crash_loops" },
      on: onOwnerLost,
    },
  },
  signals: {},
  commands: {},
  isAtWork: ({ scope: { status } }) => status.type === "moving",
  checks: [],
  rows: { scope: { id: "", epoch: 0, owner: "", protocol: 0, options: defaultOptions, status: { type: "open" } } },
};
