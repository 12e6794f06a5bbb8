/** Who owns the scope, under which protocol and options, and where it moves. */
import { type Rejection, reject } from "../error.ts";
import type { Draft } from "../draft.ts";
import { isKnownProtocol } from "../protocol.ts";
import type { EventOf } from "../event.ts";
import { invalidOption } from "../options.ts";

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
