/**
 * The code that many pages never need: what bodies ask for besides steps; flows; processes, and all that goes between
 * scopes; executors; what hosts say of calls that are under way, and are asked around them; states as they are stored,
 * and moves. It is one file, since bundlers split what several would have in common with the page's own.
 */
export { fillAll } from "@pawl/sansio-core";
export { PendingCompletion } from "@pawl/tool-value";
export { hostRunRequest } from "./background/host-run.ts";
export { LongWorkVerbs } from "./background/long-work-verbs.ts";
export {
  type ApprovalWanted,
  type AwaitingPage,
  type ScopeAwaiting,
  approvalsIn,
  scopesAwaiting,
} from "./approvals.ts";
export { type Target, cancel } from "./cancel.ts";
export { type ConnectionAnswer } from "./connection.ts";
export { answerOfHost } from "./connection-answer.ts";
export { seldomFacets } from "./context/seldom.ts";
export { type Approval, type Rejecting, approve, reject } from "./decide.ts";
export { cancelExternal } from "./external.ts";
export { type FlowSubmission, flowSubmitted, lambdaApplied } from "./flow.ts";
export { hookedCall, runHooks } from "./hook.ts";
export { Arrivals } from "./move-arrival.ts";
export { Departures } from "./move-departure.ts";
export { Executors } from "./executor.ts";
export { observePast } from "./observe-past.ts";
export { observedIn } from "./observed.ts";
export { Offers } from "./offer.ts";
export { ParkedCalls } from "./parked-call.ts";
export { ProcessVerbs } from "./process-verbs.ts";
export { projectResult } from "./project.ts";
export { type Resolved, resolveKey, resolveToken } from "./resolve.ts";
export { resolvedIn, seldomResult } from "./seldom-value.ts";
export { admitSeldomOptions } from "./seldom-option.ts";
export { ScopeWork } from "./scope-work.ts";
export { shortened } from "./shorten.ts";
export { restored, snapshotText } from "./stored-state.ts";
export { sweepFromTimeToTime } from "./sweep.ts";
export { resolveOutcome } from "./unknown-outcome.ts";
export { withoutValue } from "./without-value.ts";
