/** Who owns the scope, under which protocol and options, and where it moves. */
import { type Rejection, reject } from "../kernel/error.ts";
import type { Draft } from "../kernel/draft.ts";
import { isKnownProtocol } from "../kernel/protocol.ts";
import type { EventOf } from "../kernel/event.ts";
import { invalidOption } from "../kernel/options.ts";

export const onOpened = (draft: Draft, event: EventOf<"scope.opened">): Rejection | undefined => {
  const { scope } = draft;
  if (event.epoch <= scope.epoch) return reject("stale_epoch", `the epoch is ${scope.epoch}, found ${event.epoch}`);
  if (!isKnownProtocol(event.protocol)) {
    return reject("newer_protocol", `this core does not know protocol ${event.protocol}: update it first`);
  }
  if (scope.epoch > 0 && event.protocol !== scope.protocol) {
    const message = `the scope is of protocol ${scope.protocol}, found ${event.protocol}: only scope.upgraded changes it`;
    return reject("not_an_upgrade", message);
  }
  const { epoch, owner, protocol, options } = event;
  const invalid = invalidOption(options);
  if (invalid !== undefined) return reject("invalid_option", invalid);
  const { status } = scope;
  const isMoving = status.type === "moving";
  draft.setScope({
    ...scope,
    epoch,
    owner,
    protocol,
    options,
    status: isMoving ? { ...status, reopened: true } : status,
  });
  if (scope.epoch > 0 && !isMoving) draft.raise({ type: "owners.lost", owners: "older" });
  return undefined;
};

export const onConfigured = (draft: Draft, { options }: EventOf<"scope.configured">): Rejection | undefined => {
  const invalid = invalidOption(options);
  if (invalid !== undefined) return reject("invalid_option", invalid);
  draft.setScope({ ...draft.scope, options });
  draft.raise({ type: "batches.review" });
  return undefined;
};

export const onUpgraded = (draft: Draft, event: EventOf<"scope.upgraded">): Rejection | undefined => {
  const { scope } = draft;
  if (!isKnownProtocol(event.to)) return reject("newer_protocol", `this core does not know protocol ${event.to}`);
  if (event.to <= scope.protocol) return reject("not_an_upgrade", `the scope is of protocol ${scope.protocol} already`);
  draft.setScope({ ...scope, protocol: event.to });
  return undefined;
};

export const onReceived = (draft: Draft, event: EventOf<"scope.received">): Rejection | undefined => {
  const { scope } = draft;
  const { status } = scope;
  if (status.type !== "moving") return reject("scope_is_not_moving", "only a scope that was moving can be received");
  if (status.nonce !== event.nonce)
    return reject("nonce_mismatch", `expected nonce ${status.nonce}, found ${event.nonce}`);
  if (event.epoch <= scope.epoch) return reject("stale_epoch", `the epoch is ${scope.epoch}, found ${event.epoch}`);
  draft.setScope({ ...scope, epoch: event.epoch, owner: event.owner, status: { type: "open" } });
  draft.raise({ type: "owners.lost", owners: "older" });
  return undefined;
};

/** The source's own word on the end of a move. */
export const onMoveEnded = (draft: Draft, event: EventOf<"scope.moved" | "scope.kept">): Rejection | undefined => {
  const { scope } = draft;
  const { status } = scope;
  if (status.type !== "moving") return reject("scope_is_not_moving", `no move is under way, found ${event.type}`);
  if (status.nonce !== event.nonce)
    return reject("nonce_mismatch", `expected nonce ${status.nonce}, found ${event.nonce}`);
  const moved = event.type === "scope.moved";
  const { to, nonce } = status;
  draft.setScope({ ...scope, status: moved ? { type: "moved", to, nonce } : { type: "open" } });
  if (!moved && status.reopened) draft.raise({ type: "owners.lost", owners: "older" });
  return undefined;
};

export const onOwnerLost = (draft: Draft, { owner }: EventOf<"owner.lost">): Rejection | undefined => {
  const isKnown = draft.calls().some((row) => row.phase === "running" && row.owner === owner);
  if (!isKnown) return reject("owner_unknown", `nothing here is run by \`${owner}\``);
  draft.raise({ type: "owners.lost", owners: [owner] });
  return undefined;
};

export const onMoving = (draft: Draft, { to, nonce }: EventOf<"scope.moving">): undefined => {
  draft.setScope({ ...draft.scope, status: { type: "moving", to, nonce, reopened: false } });
};
