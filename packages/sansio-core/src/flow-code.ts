/** What the core needs of flows only where there is one. */
import { misfitOfProgram } from "./flow/program.ts";
import { outstandingOfFlows } from "./flow/recovery.ts";
import { onFlowEvent, onFlowSignal, onStepEnded } from "./flow/step.ts";

export const flowCode = { misfitOfProgram, onFlowEvent, onFlowSignal, onStepEnded, outstandingOfFlows };
