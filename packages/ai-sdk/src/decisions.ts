/**
 * Decisions of a page on what a turn asked, as the SDK has them: parts of the last message in the state
 * `approval-responded`. A part whose `input` the page has changed is approved with that input.
 */
import type { PendingApproval, Session } from "@pawl/runtime";
import { type Json, isObject } from "@pawl/tool-value";
import { type UIMessage, isToolUIPart } from "ai";
import { type Turn, afterAsking } from "./turn.ts";
import { isTitleOf, partOfApproval } from "./page.ts";

interface Decision {
  readonly toolCallId: string;
  readonly part: number;
  readonly approved: boolean;
  readonly reason: string | undefined;
  readonly input: unknown;
}

const decisionsIn = (messages: readonly UIMessage[]): readonly Decision[] => {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [];
  return last.parts.flatMap((part) => {
    if (!isToolUIPart(part) || part.state !== "approval-responded") return [];
    const { toolCallId, input, approval } = part;
    const { id, approved, reason } = approval;
    const asking = partOfApproval(id);
    return asking === undefined ? [] : [{ toolCallId, part: asking, approved, reason, input }];
  });
};

export const hasDecisions = (messages: readonly UIMessage[]): boolean => decisionsIn(messages).length > 0;

const take = async (asked: PendingApproval, { approved, reason, input }: Decision, by: string): Promise<void> => {
  if (!approved) return asked.reject({ by, reason: reason ?? "denied" });
  const isEdited = JSON.stringify(input) !== JSON.stringify(asked.args) && isObject(input);
  return asked.approve({ by, ...(isEdited ? { args: input as Json } : {}) });
};

/**
 * Takes the decisions of a page. Returns the part of the turn that goes on after them; undefined where this turn asked
 * nothing of the kind. A decision that was taken before counts as it was taken.
 */
export const decideOn = async (
  session: Session,
  turn: Turn,
  messages: readonly UIMessage[],
  by: string,
): Promise<number | undefined> => {
  const decisions = decisionsIn(messages);
  const part = Math.max(...decisions.map((decision) => decision.part));
  const open = decisions.filter((decision) => decision.part === part);
  const askedOf = async ({ toolCallId }: Decision): Promise<PendingApproval | undefined> =>
    (await session.approvals()).find(({ label }) => isTitleOf(label, toolCallId));
  for (const decision of open) {
    if (!turn.isLive) break;
    const isAsked = async (): Promise<boolean> => (await askedOf(decision)) !== undefined;
    if ((await afterAsking(session, turn, part, isAsked)) === "decided") continue;
    const asked = await askedOf(decision);
    if (asked !== undefined) await take(asked, decision, by);
  }
  return part + 1;
};
