/**
 * Approvals: which calls wait for a person's decision, in this scope and in the whole store, and the decision itself. A
 * decision names the arguments it was made on by their hash; edited arguments are checked again before they count.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Decision, pendingApprovals } from "@pawl/sansio-core/driver";
import { type Codec, type Json, json, named, optional, record, stableHash, string, u64 } from "@pawl/tool-value";
import { type Access, decoded, decodedEvent, missingCall, refuse, storedForm } from "../scope/access.ts";
import { eventsOfTypes, recordedIn } from "../scope/history.ts";
import type { Journal } from "../journal/journal.ts";
import type { Event, EventOf, Recorded, State } from "@pawl/sansio-core";
import { Refused, ScopeLost } from "../error.ts";
import type { JsonSchema } from "../tool/argument.ts";
import { checkedNow } from "../tool/check.ts";

/** A call that waits for approval, with what a decision on it names. */
export interface ApprovalWanted {
  readonly call: string;
  readonly tool: string;
  /** The name that whoever asked for it gave it, as a model does. */
  readonly label: string;
  readonly args: Json;
  /** Hash of the arguments, which a decision names. */
  readonly hash: string;
  /** Time of the call, unless retention has taken that line of the log. */
  readonly askedAt?: number;
  /** Time at which the call fails without a decision. */
  readonly expiresAt?: number;
  /** The JSON Schema of edited arguments, where the body of the call asks by `ctx.approve` and gives one. */
  readonly schema?: Json;
}
export const ApprovalWanted: Codec<ApprovalWanted> = record<ApprovalWanted>("ApprovalWanted", {
  call: string,
  tool: string,
  label: named("call_id", string),
  args: json,
  hash: string,
  askedAt: named("asked_at", optional(u64)),
  expiresAt: named("expires_at", optional(u64)),
  schema: optional(json),
});

/** The part of a session that decides. */
export interface Decides<Said extends object = ByWhom> {
  approve(call: string, approval: Said & { readonly hash: string; readonly args?: Json }): Promise<void>;
  reject(call: string, rejecting: Said & { readonly hash: string; readonly reason: string }): Promise<void>;
}

/** A call that waits for approval, and the decision on it: the hash of the arguments that were seen goes along by itself. */
export class PendingApproval<Said extends object = ByWhom> implements ApprovalWanted {
  declare readonly call: string;
  declare readonly tool: string;
  declare readonly label: string;
  declare readonly args: Json;
  declare readonly hash: string;
  declare readonly askedAt?: number;
  declare readonly expiresAt?: number;
  declare readonly schema?: Json;
  readonly #session: Decides<Said>;

  constructor(wanted: ApprovalWanted, session: Decides<Said>) {
    Object.assign(this, wanted);
    this.#session = session;
  }

  /** Lets the call run; with `args`, with these arguments instead of its own. */
  approve(said: Said & { readonly args?: Json }): Promise<void> {
    return this.#session.approve(this.call, { ...said, hash: this.hash });
  }

  /** Ends the call as `approval_rejected`; its caller reads the reason. */
  reject(said: Said & { readonly reason: string }): Promise<void> {
    return this.#session.reject(this.call, { ...said, hash: this.hash });
  }
}

/** A scope with calls that wait for approval. */
export interface ScopeAwaiting {
  readonly scope: string;
  readonly approvals: number;
}
export const ScopeAwaiting: Codec<ScopeAwaiting> = record<ScopeAwaiting>("ScopeAwaiting", {
  scope: string,
  approvals: u64,
});

export interface AwaitingPage {
  /** Only scopes whose names begin so. */
  readonly prefix?: string;
  /** Only those after this one, by name. */
  readonly after?: string;
  readonly limit?: number;
}

/** Births that lie this close are read at once. */
const nearLines = 64;

/** Splits ascending sequences where two lie far apart. */
const stretchesOf = (seqs: readonly number[]): readonly (readonly number[])[] => {
  const stretches: number[][] = [];
  for (const seq of seqs) {
    const last = stretches.at(-1);
    if (last !== undefined && seq - (last.at(-1) ?? seq) <= nearLines) last.push(seq);
    else stretches.push([seq]);
  }
  return stretches;
};

/** Returns the times of events, in few reads; those that retention has taken are left out. */
const timesOf = async (
  { runner, readLines }: Access,
  seqs: ReadonlySet<number>,
): Promise<ReadonlyMap<number, number>> => {
  const times = new Map<number, number>();
  for (const stretch of stretchesOf([...seqs].toSorted((a, b) => a - b))) {
    for (const line of await readLines(stretch[0] ?? 0, stretch.at(-1))) {
      if (seqs.has(line.seq)) times.set(line.seq, recordedIn(runner.id, line).at);
    }
  }
  return times;
};

/** Returns the calls of a scope, or of one request, that wait for approval, oldest first, with their values. */
export const approvalsIn = async (access: Access, request?: string): Promise<readonly ApprovalWanted[]> => {
  const pending = pendingApprovals(access.runner.state, request);
  await access.runner.whenDurable();
  const times = await timesOf(access, new Set(pending.map(({ born }) => born)));
  return access.values.of(
    pending.map(({ born, ...wanted }) => {
      const at = times.get(born);
      return at === undefined ? wanted : { ...wanted, askedAt: at };
    }),
  );
};

/** Returns scopes of the store, by name, whoever owns them. */
export const scopesAwaiting = async (
  journal: Journal,
  { prefix = "session:", after = "", limit = 100 }: AwaitingPage,
): Promise<readonly ScopeAwaiting[]> =>
  (await journal.awaitingApproval(prefix, after, limit)).map(({ scope, approvals = 0 }) => ({ scope, approvals }));

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
export class ApprovalEdits {
  #watches: Watch[] = [];

  /** Resolves with the event that ends the check of a call's edited arguments. */
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

  abandon(why: string): void {
    for (const { lost } of this.#watches) lost(new ScopeLost(why));
    this.#watches = [];
  }
}

/** A decision also holds for later calls of the tool, or for those too that are parked now. */
export type Stickiness = "later" | "parked_too";

/** The person who decides on a call, and for how long the decision holds. */
export interface ByWhom {
  readonly by: string;
  readonly sticky?: Stickiness;
  /** The decider's own name for the decision. */
  readonly id?: string;
  /** The decision may have been taken before, and its answer lost: then that is the answer. */
  readonly again?: boolean;
}
interface Decided extends ByWhom {
  /** Hash of the arguments that the decider saw. */
  readonly hash: string;
}
export interface Approval extends Decided {
  /** Instead of the arguments that the decider saw. */
  readonly args?: Json;
}
export interface Rejecting extends Decided {
  readonly reason: string;
}

const problemOf = (call: string, event: Event): { readonly code: string; readonly message: string } | undefined => {
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

/** Waits until edited arguments are checked, and refuses invalid ones. */
const awaitCheck = async ({ runner }: Access, edits: ApprovalEdits, call: string, checked?: Event): Promise<void> => {
  const verdict = checked ?? (isEditing(runner.state, call) ? await edits.over(call) : undefined);
  const problem = verdict === undefined ? undefined : problemOf(call, verdict);
  await runner.whenDurable();
  if (problem !== undefined) throw new Refused(problem.code, problem.message);
};

type Decisive = EventOf<"approval.decided">;

const decisiveTypes = new Set<Event["type"]>(["approval.decided", "args.checked"]);

/** Returns this decision and the events after it, if the log already has it. */
const takenBefore = async (access: Access, call: string, { by, id, again }: Decided): Promise<readonly Recorded[]> => {
  if (again !== true || id === undefined) return [];
  const isIt = (event: Event): event is Decisive =>
    event.type === "approval.decided" && event.call === call && event.by === by && event.decision_id === id;
  const recorded = await eventsOfTypes(access, decisiveTypes);
  const at = recorded.findIndex(({ event }) => isIt(event));
  return at === -1 ? [] : recorded.slice(at);
};

/** Answers a decision that is in the log already, as its decider would have heard it. */
const answerAgain = async (
  access: Access,
  edits: ApprovalEdits,
  call: string,
  [taken, ...later]: readonly Recorded[],
): Promise<void> => {
  const isEdit = taken?.event.type === "approval.decided" && taken.event.decision.type === "approve_edited";
  if (!isEdit) return access.runner.whenDurable();
  const checked = later.find(({ event }) => event.type === "args.checked" && event.call === call);
  return awaitCheck(access, edits, call, checked?.event);
};

const decide = async (
  access: Access,
  edits: ApprovalEdits,
  call: string,
  decision: Decision,
  by: Decided,
): Promise<void> => {
  const { runner } = access;
  const before = await takenBefore(access, call, by);
  if (before.length > 0) return answerAgain(access, edits, call, before);
  const { hash: args_hash, sticky, id } = by;
  const decided: Event = {
    type: "approval.decided",
    call,
    decision,
    args_hash,
    by: by.by,
    ...(sticky === undefined ? {} : { sticky }),
    ...(id === undefined ? {} : { decision_id: id }),
  };
  const admissible = decodedEvent(decided);
  const stored = decision.type === "approve_edited" ? await storedForm(access, admissible) : undefined;
  const told = runner.apply(admissible, stored);
  if (E.isLeft(told))
    return told.left.code === "call_unknown" ? missingCall(access, call, told.left) : refuse(access, told.left);
  return awaitCheck(access, edits, call);
};

/** Refuses edited arguments that do not fit the schema of a body's question. Those of a call are checked by its tool. */
const admitEdit = async ({ runner, values }: Access, call: string, args: Json): Promise<void> => {
  const asked = pendingApprovals(runner.state).find((one) => one.call === call);
  if (asked?.schema === undefined) return;
  const checked = checkedNow((await values.of(asked.schema)) as unknown as JsonSchema, args, "arguments");
  if (E.isLeft(checked)) throw new Refused("invalid_tool_args", checked.left);
};

export const approve = async (access: Access, edits: ApprovalEdits, call: string, said: Approval): Promise<void> => {
  if (said.args === undefined) return decide(access, edits, call, { type: "approve" }, said);
  const args = decoded(json, said.args, "args");
  await admitEdit(access, call, args);
  return decide(access, edits, call, { type: "approve_edited", args, args_hash: stableHash(args) }, said);
};

export const reject = (access: Access, edits: ApprovalEdits, call: string, rejecting: Rejecting): Promise<void> =>
  decide(access, edits, call, { type: "reject", reason: rejecting.reason }, rejecting);
