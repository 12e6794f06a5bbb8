/**
 * An agent: it asks its model, has the calls made that the model wants, and asks again. The model is asked by a tool,
 * so that what it said is on record: an agent that begins again hears the same, and comes to where it was.
 */
import { EffectError, type Session, type ToolDefinition, ToolError, defineTool } from "@pawl/runtime";
import type { Reply } from "@pawl/sansio-core";
import { type Json, describe, read, valueForProjection } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Message, type Model, type ToolSpec, type Turn, TurnCodec } from "./model.ts";

const mostTurns = 8;

/** What went wrong with a model is for whoever looks at the page. What ends a body is none of that. */
const failed = (thrown: unknown): unknown =>
  thrown instanceof EffectError && thrown.code === "durable_step_failed" ? new ToolError(thrown.message) : thrown;

export const askModel = (model: Model, tools: readonly ToolSpec[]): ToolDefinition =>
  defineTool<{ readonly messages: readonly Message[] }>({
    name: "ask_model",
    durable: true,
    execute: async ({ messages }, ctx) => {
      try {
        return await ctx.runJson("complete", {}, () => model(messages, tools));
      } catch (thrown) {
        throw failed(thrown);
      }
    },
  });

const turnIn = (reply: Reply | undefined): Turn => {
  const outcome = reply?.output.outcome;
  if (outcome?.status !== "success") throw new Error(outcome?.payload.message ?? "the model did not answer");
  const turn = read(TurnCodec, outcome.payload as Json);
  if (E.isLeft(turn)) throw new Error(`the model answered otherwise: ${describe(turn.left)}`);
  return turn.right;
};

/** Goes on with a task, or begins it; says the last words of the model. */
export const runAgent = async (session: Session, task: string): Promise<string> => {
  const messages: Message[] = [{ role: "user", text: task }];
  for (let n = 1; n <= mostTurns; n++) {
    const args = { messages } as unknown as Json;
    const [reply] = await session.call(`think-${n}`, [{ id: "model", tool: "ask_model", args }]);
    const { text, calls } = turnIn(reply);
    messages.push({ role: "model", text, calls });
    if (calls.length === 0) return text;
    const replies = await session.call(`turn-${n}`, calls);
    for (const [i, { id }] of calls.entries()) {
      const answer = replies[i];
      if (answer !== undefined) messages.push({ role: "tool", id, result: valueForProjection(answer.output) });
    }
  }
  return "That took too many turns.";
};
