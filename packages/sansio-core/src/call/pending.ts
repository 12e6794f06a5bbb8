/** What a person is asked, as the state has it. */
import type { Json } from "@pawl/tool-value";
import { awaitsApproval, byBirth } from "./model.ts";
import type { CallRef } from "../kernel/ids.ts";
import type { State } from "../kernel/state.ts";

/** A call that waits for a person's word. */
export interface PendingApproval {
  readonly call: CallRef;
  readonly tool: string;
  readonly args: Json;
  /** Of the arguments: a decision names it. */
  readonly hash: string;
  /** The event that asked for the call. */
  readonly born: number;
  /** When nobody need decide any more: the call fails then. */
  readonly expires_at?: number;
}

/** In the order in which the calls were asked for. */
export const pendingApprovals = ({ calls }: State): readonly PendingApproval[] =>
  calls
    .rows()
    .filter(awaitsApproval)
    .toSorted(byBirth)
    .map(({ call: { ref, born }, tool, args, approval, due }) => ({
      call: ref,
      tool,
      args,
      hash: approval.argsHash,
      born,
      ...(due === undefined ? {} : { expires_at: due.at }),
    }));
