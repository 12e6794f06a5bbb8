/** The client for models behind an endpoint. */
import { afterEach, describe, expect, it } from "vitest";
import { endpointModel } from "../src/agent/endpoint.ts";
import type { Message } from "../src/agent/model.ts";
import { type Answer, type FakeEndpoint, openFakeEndpoint } from "./fake-endpoint.ts";

const tools = [{ name: "book", description: "Books.", parameters: { type: "object", properties: {} } }];
const talk: readonly Message[] = [
  { role: "user", text: "Book it." },
  { role: "model", text: "", calls: [{ label: "c1", tool: "book", args: { seats: 2n ** 60n } as never }] },
  { role: "tool", id: "c1", result: { booked: true } },
];

describe("a model behind an endpoint", () => {
  let endpoint: FakeEndpoint | undefined;
  afterEach(() => endpoint?.close());

  const ask = async (answer: Answer, withinMs = 60_000) => {
    endpoint = await openFakeEndpoint([answer]);
    return endpointModel({ url: `${endpoint.url}/`, model: "small", key: "k" }, withinMs)(talk, tools);
  };

  it("gets the whole conversation and the tools, with exact numbers", async () => {
    expect(await ask({ type: "plain", text: "Done." })).toEqual({ text: "Done.", calls: [] });
    const [asked] = endpoint?.asked ?? [];
    expect(asked?.authorization).toBe("Bearer k");
    expect(asked?.body).toMatchObject({ model: "small", tools: [{ type: "function", function: { name: "book" } }] });
    expect(asked?.body.messages).toEqual([
      { role: "user", content: "Book it." },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "book", arguments: '{"seats":1152921504606846976}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: '{"booked":true}' },
    ]);
  });

  const calls = [
    { id: "a", name: "book", args: '{"seats":3}' },
    { id: "a", name: "book", args: "" },
    { id: "", name: "book", args: "no json" },
  ];

  it.each(["plain", "stream"] as const)("wants calls in a %s answer, each under a name of its own", async (type) => {
    const text = type === "plain" ? null : "I will.";
    expect(await ask({ type, text, calls })).toEqual({
      text: text ?? "",
      calls: [
        { label: "a", tool: "book", args: { seats: 3 } },
        { label: "call-2", tool: "book", args: {} },
        { label: "call-3", tool: "book", args: "no json" },
      ],
    });
  });

  it("reports an error, an answer of another form, a timeout, and an unreachable endpoint", async () => {
    await expect(ask({ type: "error", status: 503, text: "overloaded" })).rejects.toThrow("answered 503: overloaded");
    await expect(ask({ type: "error", status: 200, text: "<html>" })).rejects.toThrow("has another form");
    await expect(ask({ type: "silent" }, 50)).rejects.toThrow("did not answer within 0.05 s");
    await endpoint?.close();
    const gone = endpointModel({ url: endpoint?.url ?? "", model: "m", key: "" });
    await expect(gone(talk, tools)).rejects.toThrow("could not be reached");
  });
});
