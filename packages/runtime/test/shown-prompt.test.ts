/** `session.prompt`: what a model is told now, and was told in a model call that is on record. */
import type { AnswerPart, PromptMessage } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { type ModelAnswer, type ModelCall, ModelError, type ModelPort } from "../src/driver.ts";
import { World } from "./world.ts";

const answer = (...parts: readonly AnswerPart[]): ModelAnswer => ({
  pieces: parts.map((part, b) => ({ b, part })),
  finish: { reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop" },
  usage: { input_tokens: 1, output_tokens: 1 },
});
const look = defineTool({ name: "look", durable: true, needsApproval: true, execute: async () => "a wheel" });
const main = { system: "Be short.", routes: [{ provider: "p", model: "m", settings: { temperature: 0 } }] };

/** A session whose first turn looks once, and then waits for a person. */
const begin = async () => {
  const asked: ModelCall[] = [];
  const port: ModelPort = {
    ask: async (call) => {
      asked.push(call);
      if (asked.length === 1) throw new ModelError("overloaded", "later", { retryAfterMs: 0 });
      const hasSeen = call.prompt.some(({ role }) => role === "tool");
      return hasSeen
        ? answer({ type: "text", text: "A wheel." })
        : answer({ type: "tool-call", id: "c", tool: "look", args: {} });
    },
  };
  const world = new World();
  const { runtime } = world.start([look], {
    host: { models: () => port, agents: (name) => (name === "main" ? main : undefined) },
  });
  const session = await runtime.session("s");
  return { asked, runtime, session };
};
const rolesOf = (messages: readonly PromptMessage[]): string => messages.map(({ role }) => role).join(" ");

describe("a prompt", () => {
  it("is that of a model call on record, to the byte, with the hash of its answer", async () => {
    const { asked, runtime, session } = await begin();
    const turn = session.turn("t1", "What is it?");
    await expect.poll(async () => (await session.approvals()).length).toBe(1);
    const waiting = await session.prompt();
    expect(waiting).toMatchObject({ request: "t1", agent: "main", provider: "p", model: "m" });
    expect(waiting.n).toBeUndefined();
    expect(rolesOf(waiting.messages)).toBe("system user assistant tool");
    await (await session.approvals())[0]?.approve({ by: "ada" });
    await turn;
    for (const [n, call] of [
      [1, asked[1]],
      [2, asked[2]],
    ] as const) {
      const shown = await session.prompt({ request: "t1", n });
      expect(shown).toMatchObject({ request: "t1", n, attempt: n === 1 ? 2 : 1, settings: { temperature: 0 } });
      expect(shown.messages).toEqual(call?.prompt);
      expect(shown.tools).toEqual(call?.tools);
      expect(shown.toolChoice).toEqual(call?.toolChoice);
    }
    const hashes: string[] = [];
    const over = new AbortController();
    for await (const { event } of session.follow(0, over.signal)) {
      if (event.type === "model.answered") hashes.push(event.prompt.hash);
      if (event.type === "reply.acked") over.abort();
    }
    const shown = await Promise.all([1, 2].map((n) => session.prompt({ request: "t1", n })));
    expect(shown.map(({ hash }) => hash)).toEqual(hashes);
    expect(await session.prompt({ request: "t1" })).toEqual(shown[1]);
    expect(rolesOf((await session.prompt()).messages)).toBe("system user assistant tool assistant");
    await runtime.close();
  });

  it("is refused where nothing was asked", async () => {
    const { runtime, session } = await begin();
    await expect(session.prompt()).rejects.toMatchObject({ code: "request_unknown" });
    await expect(session.prompt({ request: "t9", n: 3 })).rejects.toThrow(
      "nothing is on record of model call 3 of turn `t9`",
    );
    await runtime.close();
  });
});
