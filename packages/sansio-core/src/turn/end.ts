/** The end of a turn: its reply says how, its usage goes to the session, and the next turn begins. */
import { lift } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import { type ProcessAwaitOutput, agentTurn } from "../process/model.ts";
import { valueOf } from "../process/output.ts";
import { replyTurn } from "../request/handlers.ts";
import { added, chargedOf } from "./budget.ts";
import { change, conversationOf, observe, routeOf, usedBy } from "./conversation.ts";
import { type Ending, type ModelCall, type RunningTurn, type TurnEnd, type WaitingTurn, maxUnheard } from "./model.ts";

// The end of a turn that is a process.

const errorOf = (end: Extract<TurnEnd, { readonly status: "failed" }>): ProcessAwaitOutput => {
  const { code, message = code, failure } = end;
  if (failure === undefined) return { type: "failure", class: "execution", code, message };
  return { type: "failure", class: failure.class, code: failure.code, message: failure.message };
};

/** The end of a process, by the end of its turn. */
export const outputOfEnd = (end: TurnEnd): ProcessAwaitOutput => {
  switch (end.status) {
    case "finished": {
      const { text, value, by } = end;
      if (value === undefined) return { type: "success", value: text };
      return { type: "success", value: by === undefined ? lift(value) : valueOf(value) };
    }
    case "stopped": {
      const { because, text } = end;
      if (because === "cancelled") return { type: "cancelled", message: "sub-agent was cancelled" };
      const message = `the sub-agent was stopped: ${because}`;
      const raw = text === undefined ? {} : { raw: text };
      return { type: "failure", class: "resource_limit", code: `agent_${because}`, message, ...raw };
    }
    case "failed":
      return errorOf(end);
    case "joined":
      return { type: "failure", class: "execution", code: "joined", message: `the turn joined \`${end.into}\`` };
  }
};

/** The turn of a process is over: so is the process, and its parent is told what all of its turn has used. */
export const endProcessTurn = (draft: Draft, end: TurnEnd): void => {
  const row = draft.request(agentTurn);
  const waits = row?.phase === "running" ? row.waits : [];
  if (waits.length > 0) draft.raise({ type: "waits.forget", request: agentTurn, keys: waits });
  draft.dropRequest(agentTurn);
  const { used } = conversationOf(draft);
  draft.raise({ type: "process.finish", output: outputOfEnd(end), used: chargedOf(used) });
};

// The end of any turn.

const reply = (draft: Draft, end: TurnEnd, triggers: RunningTurn["triggers"]): void => {
  observe(draft, end.turn, { what: "turn_ended", end });
  if (draft.process?.run === "turn" && end.turn === agentTurn) endProcessTurn(draft, end);
  else replyTurn(draft, end, triggers);
};

export const endTurn = (draft: Draft, row: RunningTurn, ending: Ending): void => {
  const used = usedBy(row, draft.at);
  const conversation = conversationOf(draft);
  change(draft, { running: undefined, used: added(conversation.used, used) });
  reply(draft, { turn: row.request, frame: row.frame, used, ...ending }, row.triggers);
  draft.defer({ type: "turns.next" });
};

/** Ends a turn that never ran. */
export const endWaiting = (draft: Draft, { request }: WaitingTurn, ending: Ending): void =>
  reply(draft, { turn: request, frame: conversationOf(draft).frame, used: {}, ...ending }, []);

/** Keeps in mind that an attempt may still be heard of. */
export const unheard = (draft: Draft, row: RunningTurn, call: ModelCall): void => {
  const { model } = routeOf(row, call.route);
  const one = { request: row.request, n: call.n, attempt: call.attempt, model };
  change(draft, { unheard: [...conversationOf(draft).unheard, one].slice(-maxUnheard) });
};

/** A text of an end; one that is empty is none. */
export const saying = (text: string): { readonly text?: string } => (text === "" ? {} : { text });
