/**
 * The agent's loop: it asks the model, makes the calls that the model wants, and asks again. The model itself is called
 * through a durable tool, so that its answers are recorded: an agent that starts again gets the same answers, and arrives
 * where it was.
 */
import { EffectError, type Session, type ToolDefinition, ToolError, defineTool } from "@pawl/runtime";
import type { Reply } from "@pawl/runtime";
import { type Json, describe, read, valueForProjection } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Message, type Model, type ToolSpec, type Turn, TurnCodec } from "./model.ts";

const maxTurns = 8;

/** Shows an error of the model on the page. Errors that end the body pass through unchanged. */
const modelError = (thrown: unknown): unknown =>
  thrown instanceof Error && !(thrown instanceof EffectError) ? new ToolError(thrown.message) : thrown;

export const askModel = (model: Model, tools: readonly ToolSpec[]): ToolDefinition =>
  defineTool<{ readonly messages: readonly Message[] }>({
    name: "ask_model",
    durable: true,
    execute: async ({ messages }, ctx) => {
      try {
        return await ctx.run("complete", () => model(messages, tools));
      } catch (thrown) {
        throw modelError(thrown);
      }
    },
  });

const turnIn = (reply: Reply | undefined): Turn => {
  const outcome = reply?.output.outcome;
  if (outcome?.status !== "success") throw new Error(outcome?.payload.message ?? "the model did not answer");
  const turn = read(TurnCodec, outcome.payload as Json);
  if (E.isLeft(turn)) throw new Error(`the model's answer has another form: ${describe(turn.left)}`);
  return turn.right;
};

/** Starts a task or continues it; resolves with the last text of the model. */
export const runAgent = async (session: Session, task: string): Promise<string> => {
  const messages: Message[] = [{ role: "user", text: task }];
  for (let n = 1; n <= maxTurns; n++) {
    const args = { messages } as unknown as Json;
    const [reply] = await session.request(`think-${n}`, [{ label: "model", tool: "ask_model", args }]);
    const { text, calls } = turnIn(reply);
    messages.push({ role: "model", text, calls });
    if (calls.length === 0) return text;
    const replies = await session.request(`turn-${n}`, calls);
    for (const [i, { label: id }] of calls.entries()) {
      const answer = replies[i];
      if (answer !== undefined) messages.push({ role: "tool", id, result: valueForProjection(answer.output) });
    }
  }
  return "That took too many turns.";
};
