/** A person's word on a parked call. What a person decided on is named by its hash; edited arguments are checked again. */
import type { Decision, Event, State } from "@pawl/sansio-core";
import { type Json, json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Access, admitted, missingCall, refuse } from "./access.ts";
import { Refused, ScopeLost } from "./error.ts";

/** Whether a decision holds for later calls of the tool, or for those too that are parked now. */
export type Stickiness = "later" | "parked_too";

interface Decided {
  /** Of the arguments that the decider saw. */
  readonly hash: string;
  readonly by: string;
  readonly sticky?: Stickiness;
}
export interface Approval extends Decided {
  /** Instead of the arguments that the decider saw. */
  readonly args?: Json;
}
export interface Rejecting extends Decided {
  readonly reason: string;
}

interface Watch {
  readonly call: string;
  readonly over: (event: Event) => void;
  readonly lost: (error: Error) => void;
}

const isEditing = (state: State, call: string): boolean => {
  const row = state.calls.at(call);
  return row?.phase === "awaiting_approval" && row.approval.edited !== undefined;
};

/** Edits whose arguments are being checked, and who waits for the verdict. */
export class Edits {
  #watches: Watch[] = [];

  /** The event with which the check of a call's edited arguments is over. */
  over(call: string): Promise<Event> {
    return new Promise((over, lost) => this.#watches.push({ call, over, lost }));
  }

  get isEmpty(): boolean {
    return this.#watches.length === 0;
  }

  stepped(state: State, event: Event): void {
    if (this.#watches.length === 0) return;
    const ended = this.#watches.filter(({ call }) => !isEditing(state, call));
    this.#watches = this.#watches.filter((watch) => !ended.includes(watch));
    for (const { over } of ended) over(event);
  }

  lose(why: string): void {
    for (const { lost } of this.#watches) lost(new ScopeLost(why));
    this.#watches = [];
  }
}

const misfitOf = (call: string, event: Event): { readonly code: string; readonly message: string } | undefined => {
  if (event.type !== "args.checked" || event.call !== call)
    return { code: "call_ended", message: `call \`${call}\` was over before its edited arguments were checked` };
  switch (event.verdict.verdict) {
    case "valid":
      return undefined;
    case "invalid":
      return { code: "invalid_tool_args", message: event.verdict.message };
    case "no_contract":
      return { code: "tool_contract_unavailable", message: "Tool contract is unavailable in this session" };
  }
};

const decide = async (access: Access, edits: Edits, call: string, decision: Decision, by: Decided): Promise<void> => {
  const { runner } = access;
  const { hash: args_hash, sticky } = by;
  const event = { type: "approval.decided", call, decision, args_hash, by: by.by } as const;
  const told = runner.tell(sticky === undefined ? event : { ...event, sticky });
  if (E.isLeft(told))
    return told.left.code === "call_unknown" ? missingCall(access, call, told.left) : refuse(access, told.left);
  const misfit = isEditing(runner.state, call) ? misfitOf(call, await edits.over(call)) : undefined;
  await runner.settled();
  if (misfit !== undefined) throw new Refused(misfit.code, misfit.message);
};

export const approve = (access: Access, edits: Edits, call: string, approval: Approval): Promise<void> => {
  if (approval.args === undefined) return decide(access, edits, call, { type: "approve" }, approval);
  const args = admitted(json, approval.args, "args");
  return decide(access, edits, call, { type: "approve_edited", args, args_hash: stableHash(args) }, approval);
};

export const reject = (access: Access, edits: Edits, call: string, rejecting: Rejecting): Promise<void> =>
  decide(access, edits, call, { type: "reject", reason: rejecting.reason }, rejecting);
