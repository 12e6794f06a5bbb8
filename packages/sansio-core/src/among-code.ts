/** What the core needs of processes, and of all that goes between scopes, only where there is some of it. */
import { onBackgroundEvent, onBackgroundSignal } from "./background/step.ts";
import { handleMisfit } from "./handle/read.ts";
import { onHandleEvent, onHandleSignal } from "./handle/step.ts";
import { onLinkEvent, onLinkSignal } from "./link/step.ts";
import { outstandingAmong, owesAmong } from "./recovery-among.ts";
import { requestOfEffect, resultOfEvent, resultOfOutcome, resultOfUnsent } from "./process/read.ts";
import { onProcessEvent, onProcessSignal } from "./process/step.ts";
import { onScheduleDue, onScheduleEvent, onScheduleSignal } from "./schedule/step.ts";

export const amongCode = {
  handleMisfit,
  onBackgroundEvent,
  onBackgroundSignal,
  onHandleEvent,
  onHandleSignal,
  onLinkEvent,
  onLinkSignal,
  onProcessEvent,
  onProcessSignal,
  onScheduleDue,
  onScheduleEvent,
  onScheduleSignal,
  outstandingAmong,
  owesAmong,
  requestOfEffect,
  resultOfEvent,
  resultOfOutcome,
  resultOfUnsent,
};
