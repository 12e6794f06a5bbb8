/**
 * The scenarios whose logs are golden, under the names of their files. A scenario is recorded under every protocol; where
 * a rule differs it asks its tape for the protocol.
 */
import * as background from "./scenario-background.ts";
import * as body from "./scenario-body.ts";
import * as call from "./scenario-call.ts";
import * as divergence from "./scenario-divergence.ts";
import * as effect from "./scenario-effect.ts";
import * as flow from "./scenario-flow.ts";
import * as life from "./scenario-life.ts";
import * as process from "./scenario-process.ts";
import * as scope from "./scenario-scope.ts";
import * as turn from "./scenario-turn.ts";
import * as wait from "./scenario-wait.ts";
import { type Tape, underProtocol } from "./tape.ts";

type Scenarios = { readonly [file: string]: () => Tape };

const underEvery: Scenarios = {
  approvals: call.approvals,
  "approval-expires": call.approvalExpires,
  "background-run": background.runOfSession,
  "background-run-lost": background.lostRun,
  "background-run-session": background.sessionOfRun,
  cancel: call.cancel,
  "cancel-one": call.cancelOne,
  catalog: scope.catalog,
  "continue-as": body.continueAs,
  "clean-up": body.cleanUp,
  "crash-loop": body.crashLoop,
  divergence: body.divergence,
  "flow-cancelled": flow.cancelledFlow,
  "flow-failed": flow.failedFlow,
  "flow-loops": flow.loops,
  "flow-parallel": flow.parallel,
  "host-request": body.hostRequest,
  kept: scope.kept,
  moved: scope.moved,
  "nested-batch": body.nestedBatch,
  "owner-lost": body.ownerLost,
  "parallel-and-serial": call.parallelAndSerial,
  pending: call.pending,
  preparation: call.preparation,
  process: process.processOfSession,
  "process-cancelled": process.cancelledProcess,
  "process-cancelled-session": process.cancelledSession,
  "process-handed-session": process.handedSession,
  "process-registered": process.registeredProcess,
  "process-session": process.processSession,
  received: scope.received,
  retry: call.retry,
  selects: body.selects,
  schedules: background.schedules,
  "session-deleted": process.deletedSession,
  "sticky-approvals": call.stickyApprovals,
  tasks: background.tasks,
  suspension: body.suspension,
  "unknown-outcome": body.unknownOutcome,
  waits: body.waits,
};

/** Scenarios of what protocol 2 has brought. */
const since2: Scenarios = {
  "background-run-orphaned": background.orphanedRun,
  divergence: divergence.parkedDivergence,
  "ended-requests": call.endedRequests,
  "effects-end": effect.effectsEnd,
  patches: effect.patches,
  lives: life.lives,
  "lives-upgraded": life.upgradedLives,
  "step-retries": effect.stepRetries,
  "asked-approvals": effect.askedApprovals,
  streams: effect.streams,
  upgraded: scope.upgraded,
  "suspended-chain": wait.suspendedChain,
  "person-asked": wait.personAsked,
  "room-in-link": wait.roomInLink,
  about: scope.about,
  intervals: background.intervals,
  "absent-tool": wait.absentTool,
  turn: turn.toolsAndBudget,
  "turn-attempts": turn.attempts,
  "turn-frames": turn.framesAndChecks,
  "turn-queue": turn.queue,
  "sub-agent": turn.subAgent,
  "sub-agent-session": turn.parentOfAgent,
  "sub-agent-orphaned": turn.orphanedAgent,
  "sub-agent-deleted": turn.deletedParent,
  "waived-approvals": call.waivedApprovals,
  queues: call.queues,
};

export const scenariosOf = (protocol: number): Scenarios =>
  Object.fromEntries(
    Object.entries(protocol === 1 ? underEvery : { ...underEvery, ...since2 }).map(([name, make]) => [
      name,
      () => underProtocol(protocol, make),
    ]),
  );
