/** `@pawl/wire/host`: the host's side of the protocol, without a platform: tokens, answers to questions, connections over any socket. */
export { HostConnection } from "./connection.ts";
export { hostErrorOf } from "./error.ts";
export { type HostLimits, checkedLimits, defaultHostLimits, longestTimerMs } from "./limits.ts";
export { Receivers } from "./move.ts";
export { SendTurns } from "./outgoing.ts";
export type { ConnectionPort, Forwards, HostClock, HostSocket } from "./port.ts";
export {
  type Requester,
  answer,
  awaitingApproval,
  refuseUnknown,
  rights,
  scopeOf,
  sessionOf,
  signal,
} from "./question.ts";
export {
  Claims,
  Right,
  type Secrets,
  checkSecrets,
  claimsOf,
  missingRight,
  scopePrefixProblem,
  signToken,
} from "./token.ts";
