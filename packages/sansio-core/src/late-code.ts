/** What only some logs need of the core: flows; processes, and all that goes between scopes. */
import { onBackgroundEvent, onBackgroundSignal } from "./background/step.ts";
import { misfitOfProgram } from "./flow/program.ts";
import { outstandingOfFlows } from "./flow/recovery.ts";
import { onFlowEvent, onFlowSignal, onStepEnded } from "./flow/step.ts";
import { handleMisfit } from "./handle/read.ts";
import { onHandleEvent, onHandleSignal } from "./handle/step.ts";
import { onLinkEvent, onLinkSignal } from "./link/step.ts";
import { outstandingAmong, owesAmong } from "./recovery-among.ts";
import { requestOfEffect, resultOfEvent, resultOfOutcome, resultOfUnsent } from "./process/read.ts";
import { onProcessEvent, onProcessSignal } from "./process/step.ts";
import { onScheduleDue, onScheduleEvent, onScheduleSignal } from "./schedule/step.ts";

export const lateCode = {
  handleMisfit,
  misfitOfProgram,
  onBackgroundEvent,
  onBackgroundSignal,
  onFlowEvent,
  onFlowSignal,
  onHandleEvent,
  onHandleSignal,
  onLinkEvent,
  onLinkSignal,
  onProcessEvent,
  onProcessSignal,
  onScheduleDue,
  onScheduleEvent,
  onScheduleSignal,
  onStepEnded,
  outstandingAmong,
  outstandingOfFlows,
  owesAmong,
  requestOfEffect,
  resultOfEvent,
  resultOfOutcome,
  resultOfUnsent,
};
