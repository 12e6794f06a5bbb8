/** What only some logs need of the core: what calls seldom come to; flows; processes, and all that goes between scopes. */
import { beforeHooks, askProjection, runAfterHooks } from "./call/hook.ts";
import { askTool, begun, unapproved } from "./call/park.ts";
import { lose } from "./call/recover.ts";
import { afterAttempt, onEditChecked, pendingOn } from "./call/seldom-step.ts";
import { stopLeft } from "./call/stop.ts";
import { onDue, onSeldomEvent, onSeldomSignal } from "./core-seldom.ts";
import { writeSeldom } from "./digest-seldom.ts";
import { seldomDuties } from "./duty-seldom.ts";
import { onAsked } from "./effect/seldom.ts";
import { decideSelect } from "./effect/select.ts";
import { outstandingOfFlows } from "./flow/recovery.ts";
import { onStepEnded } from "./flow/step.ts";
import { outstandingAmong, owesAmong } from "./recovery-among.ts";
import { outstandingOfCall, outstandingOfOutbox, repliesToRecord } from "./recovery-seldom.ts";

export const lateCode = {
  afterAttempt,
  askProjection,
  askTool,
  beforeHooks,
  begun,
  decideSelect,
  lose,
  onAsked,
  onDue,
  onEditChecked,
  onSeldomEvent,
  onSeldomSignal,
  onStepEnded,
  outstandingAmong,
  outstandingOfCall,
  outstandingOfFlows,
  outstandingOfOutbox,
  owesAmong,
  pendingOn,
  repliesToRecord,
  runAfterHooks,
  seldomDuties,
  stopLeft,
  unapproved,
  writeSeldom,
};
