/** The end of a turn: its reply says how, its usage goes to the session, and the next turn begins. */
import type { Draft } from "../kernel/draft.ts";
import { replyTurn } from "../request/handlers.ts";
import { added } from "./budget.ts";
import { change, conversationOf, observe, routeOf, usedBy } from "./conversation.ts";
import { type Ending, type ModelCall, type RunningTurn, type TurnEnd, type WaitingTurn, maxUnheard } from "./model.ts";

const reply = (draft: Draft, end: TurnEnd, triggers: RunningTurn["triggers"]): void => {
  observe(draft, end.turn, { what: "turn_ended", end });
  replyTurn(draft, end, triggers);
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
