/** Moves scopes to the host of a client, for a runtime that they move away from. */
import type { MoveAnswer, Mover } from "@pawl/runtime";
import type { Asked } from "./pending-questions.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { type WithoutId, unexpected } from "./session.ts";

type MoveQuestion = Extract<Asked, { readonly type: "move_part" | "decline_move" }>;

/** The token of the client takes the right `move`. Who gives a client to a runtime closes it. */
export const moverOver = (client: {
  readonly ask: (question: WithoutId<MoveQuestion>) => Promise<HostFrame>;
}): Mover => {
  const ask = async (question: WithoutId<MoveQuestion>): Promise<MoveAnswer> => {
    const frame = await client.ask(question);
    if (frame.type === "move_answered") return frame.answer;
    throw unexpected(frame, "move_answered");
  };
  return {
    send: ({ scope, nonce, part, parts, text }) => ask({ type: "move_part", scope, nonce, part, parts, text }),
    decline: (scope, nonce) => ask({ type: "decline_move", scope, nonce }),
  };
};
