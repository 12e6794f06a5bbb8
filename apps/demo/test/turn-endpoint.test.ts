/** A turn's model behind an endpoint, over HTTP. */
import type { Piece } from "@pawl/sansio-core/driver";
import type { ModelAnswer, ModelCall } from "@pawl/runtime/driver";
import { afterEach, describe, expect, it } from "vitest";
import { endpointPort } from "../src/turn/endpoint-port.ts";
import { type Answer, type FakeEndpoint, openFakeEndpoint } from "./fake-endpoint.ts";

const prompt: ModelCall["prompt"] = [
  { role: "system", content: "Be short." },
  { role: "user", content: [{ type: "text", text: "Book it." }] },
  { role: "assistant", content: [{ type: "tool-call", id: "c1", tool: "book", args: { seats: 2 } }] },
  {
    role: "tool",
    content: [{ type: "tool-result", id: "c1", tool: "book", output: { type: "text", text: "booked" } }],
  },
];

describe("a turn's model behind an endpoint", () => {
  let endpoint: FakeEndpoint | undefined;
  let said: Piece[] = [];
  afterEach(() => endpoint?.close());

  const ask = async (answer: Answer): Promise<ModelAnswer> => {
    said = [];
    endpoint = await openFakeEndpoint([answer]);
    return endpointPort({ url: endpoint.url, model: "small", key: "k" }).ask({
      request: "t",
      n: 1,
      prompt,
      tools: [{ name: "book", input_schema: { type: "object" } }],
      toolChoice: "auto",
      settings: {},
      key: "s/t:model:1.0",
      attempt: 1,
      signal: new AbortController().signal,
      say: (piece) => void said.push(piece),
      identified: () => undefined,
      bytes: () => Promise.reject(new Error("the prompt has no files")),
      keep: () => Promise.reject(new Error("the answer has no files")),
    });
  };
  const heard = (): string => said.map(({ text }) => text ?? "").join("");

  it("gets the prompt, and says the words of a stream with its calls behind", async () => {
    const answer = await ask({
      type: "stream",
      text: "One more.",
      calls: [{ id: "c2", name: "book", args: '{"seats":1}' }],
    });
    expect(heard()).toBe("One more.");
    expect(said.map(({ b, type }) => [b, type])[0]).toEqual([0, "text"]);
    expect(answer.pieces).toEqual([{ b: 1, part: { type: "tool-call", id: "c2", tool: "book", args: { seats: 1 } } }]);
    expect(answer.finish.reason).toBe("tool-calls");
    expect(endpoint?.asked[0]?.authorization).toBe("Bearer k");
    expect(endpoint?.asked[0]?.body.messages).toEqual([
      { role: "system", content: "Be short." },
      { role: "user", content: "Book it." },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c1", type: "function", function: { name: "book", arguments: '{"seats":2}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "booked" },
    ]);
  });

  it("takes an answer that comes whole", async () => {
    expect(await ask({ type: "plain", text: "Done." })).toMatchObject({ pieces: [], finish: { reason: "stop" } });
    expect(heard()).toBe("Done.");
  });

  it.each([
    [429, "rate_limit"],
    [401, "auth"],
    [503, "provider"],
    [400, "invalid_request"],
  ])("names status %i as %s", async (status, kind) => {
    await expect(ask({ type: "error", status, text: "no" })).rejects.toMatchObject({ name: "ModelError", kind });
  });
});
