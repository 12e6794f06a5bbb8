/** `@pawl/wire/host`: the host's side of the protocol, without a platform: tokens, answers to questions, and errors. */
export { type ConnectionPort, type Forwards, HostConnection } from "./connection.ts";
export { hostErrorOf } from "./error.ts";
export { type HostLimits, checkedLimits, defaultHostLimits, longestTimerMs } from "./limits.ts";
export { Receivers } from "./move.ts";
export { type HostClock, type HostSocket, SendTurns } from "./outgoing.ts";
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
