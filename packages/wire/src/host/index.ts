/** `@pawl/wire/host`: the host's side of the protocol, without a platform: tokens, answers to questions, and errors. */
export { hostErrorOf } from "./error.ts";
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
