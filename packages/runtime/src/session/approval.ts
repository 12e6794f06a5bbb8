/** What people are asked: which calls wait for their word, and in which scopes. */
import { pendingApprovals } from "@pawl/sansio-core/driver";
import { type Codec, type Json, json, optional, record, string, u64 } from "@pawl/tool-value";
import type { Access } from "../scope/access.ts";
import { recordedIn } from "../scope/fold.ts";
import type { Journal } from "../journal/journal.ts";

/** A call that waits for a person's word, with what a decision on it names. */
export interface ApprovalWanted {
  readonly call: string;
  readonly tool: string;
  readonly args: Json;
  /** Of the arguments: a decision names it. */
  readonly hash: string;
  /** When the call was asked for, unless retention has taken that line of the log. */
  readonly asked_at?: number;
  /** When the call fails, if nobody has decided by then. */
  readonly expires_at?: number;
}
export const ApprovalWanted: Codec<ApprovalWanted> = record<ApprovalWanted>("ApprovalWanted", {
  call: string,
  tool: string,
  args: json,
  hash: string,
  asked_at: optional(u64),
  expires_at: optional(u64),
});

/** A scope of which calls wait for a person's word. */
export interface ScopeAwaiting {
  readonly scope: string;
  /** How many. */
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

const timeOf = async ({ runner, readLines }: Access, seq: number): Promise<number | undefined> => {
  const [line] = await readLines(seq, seq);
  return line && recordedIn(runner.id, line).at;
};

/** The calls of a scope, oldest first, with their values. */
export const approvalsIn = async (access: Access): Promise<readonly ApprovalWanted[]> => {
  const pending = pendingApprovals(access.runner.state);
  await access.runner.whenDurable();
  const births = [...new Set(pending.map(({ born }) => born))];
  const times = new Map(await Promise.all(births.map(async (seq) => [seq, await timeOf(access, seq)] as const)));
  return access.values.of(
    pending.map(({ born, ...wanted }) => {
      const at = times.get(born);
      return at === undefined ? wanted : { ...wanted, asked_at: at };
    }),
  );
};

/** Scopes of the store, by name, whoever owns them. */
export const scopesAwaiting = async (
  journal: Journal,
  { prefix = "session:", after = "", limit = 100 }: AwaitingPage,
): Promise<readonly ScopeAwaiting[]> =>
  (await journal.awaitingApproval(prefix, after, limit)).map(({ scope, approvals = 0 }) => ({ scope, approvals }));
