/** A chat as pages of the SDK see it: unchanged `Chat`s with the SDK's own transports. */
import { tool } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Chat, readOf } from "./page.ts";
import { Gate, type Saying, ScriptedModel, World } from "./world.ts";

const worlds: World[] = [];
const worldOf = (...given: ConstructorParameters<typeof World>): World => {
  const world = new World(...given);
  worlds.push(world);
  return world;
};
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.restart();
});

const heard = (page: Chat): string => page.messages.map((message) => `${message.role}: ${readOf(message)}`).join("\n");
const lastText = (page: Chat): string => {
  const last = page.messages.at(-1);
  return last === undefined ? "" : readOf(last);
};

const refunds: unknown[] = [];
const refund = tool({
  description: "Refunds an order.",
  inputSchema: z.object({ cents: z.number() }),
  needsApproval: ({ cents }) => cents > 10,
  execute: ({ cents }) => {
    refunds.push(cents);
    return `refunded ${cents}`;
  },
});
const refunding: (cents: number) => ConstructorParameters<typeof ScriptedModel>[0] =
  (cents) =>
  ({ prompt }): Saying =>
    prompt.at(-1)?.role === "user"
      ? { words: ["Let me ", "see."], calls: [{ id: "call_1", name: "refund", input: { cents } }] }
      : { words: ["Done: ", JSON.stringify(prompt.at(-1)?.content)] };

const closed = (): never => {
  throw new Error("the till is closed");
};

afterEach(() => void refunds.splice(0));

describe("a turn", () => {
  it("is shown word by word, and is the message that the tool returns", async () => {
    const gate = new Gate();
    const pace = (word: number): Promise<void> | undefined => (word === 2 ? gate.pass() : undefined);
    const model = new ScriptedModel(() => ({ words: ["Hel", "lo ", "world"], pace }));
    const world = worldOf({ model });
    const page = world.page();
    const sent = page.sendMessage({ text: "Hi" });
    await expect.poll(() => lastText(page), { timeout: 5000 }).toBe("Hello ");
    gate.open();
    await sent;
    expect(heard(page)).toBe("user: Hi\nassistant: Hello world");
    expect(page.status).toBe("ready");
    const session = await world.runtime.session("c1");
    await expect.poll(async () => (await session.requests())[0]?.state, { timeout: 5000 }).toBe("done");
    const [done] = await session.requests();
    const [reply] = await session.replies(done?.request ?? "");
    const message = reply?.output.outcome.payload as unknown as Chat["messages"][number];
    expect([message.id, readOf(message)]).toEqual([page.messages.at(-1)?.id, "Hello world"]);
  });

  it("runs tools of the SDK once each, by the model's ids", async () => {
    const model = new ScriptedModel(refunding(5));
    const world = worldOf({ model, tools: { refund } });
    const page = world.page();
    await page.sendMessage({ text: "Hi" });
    expect(refunds).toEqual([5]);
    expect(lastText(page)).toMatch(
      /^Let me see\.\[refund {"cents":5} output-available "refunded 5"\]Done: .*refunded 5/,
    );
    expect(model.asked).toBe(2);
  });

  it("goes on where a tool fails: the model is told", async () => {
    const model = new ScriptedModel(refunding(5));
    const page = worldOf({ model, tools: { refund: { ...refund, execute: closed } } }).page();
    await page.sendMessage({ text: "Hi" });
    expect(lastText(page)).toMatch(/\[refund {"cents":5} output-error An error occurred\.\]Done: .*the till is closed/);
  });

  it("that is posted twice is one turn, and one that is asked for again is another", async () => {
    const model = new ScriptedModel((_, asked) => ({ words: [`answer ${asked}`] }));
    const world = worldOf({ model });
    const [one, two] = [world.page(), world.page()];
    await Promise.all([one.sendMessage({ text: "Hi" }), two.sendMessage({ text: "Hi" })]);
    expect([lastText(one), lastText(two), model.asked]).toEqual(["answer 1", "answer 1", 1]);
    await one.regenerate();
    expect([lastText(one), model.asked]).toEqual(["answer 2", 2]);
    await one.sendMessage({ text: "More" });
    expect(heard(one)).toBe("user: Hi\nassistant: answer 2\nuser: More\nassistant: answer 3");
  });

  it("tells its page of an error, and its host what it was", async () => {
    const model = new ScriptedModel(() => ({ words: ["so"], breaks: new Error("the model is gone") }));
    const world = worldOf({ model });
    const page = world.page();
    await page.sendMessage({ text: "Hi" });
    expect([page.status, page.error?.message]).toEqual(["error", "An error occurred."]);
    const session = await world.runtime.session("c1");
    await expect.poll(async () => (await session.requests())[0]?.state, { timeout: 5000 }).toBe("failed");
  });
});

/** A model that stands still after two words, until its process is another one. */
const halting = (again: readonly string[]) => {
  const model = new ScriptedModel((_, asked) =>
    asked === 1
      ? { words: ["Hel", "lo wor", "ld"], pace: (word) => (word === 2 ? new Promise(() => undefined) : undefined) }
      : { words: again },
  );
  return model;
};

describe("a server that ends in mid-word", () => {
  it("is asked to answer again by a page that lost it, and has the one turn that is under way", async () => {
    const gate = new Gate();
    const model = new ScriptedModel((_, asked) => ({ words: [`answer ${asked}`], pace: gate.pass }));
    const world = worldOf({ model });
    const page = world.page();
    void page.sendMessage({ text: "Hi" });
    await expect.poll(() => model.asked, { timeout: 5000 }).toBe(1);
    await world.restart();
    await expect.poll(() => page.status, { timeout: 5000 }).toBe("error");
    const again = page.regenerate();
    await expect.poll(() => model.asked, { timeout: 5000 }).toBe(2);
    await expect.poll(() => page.status, { timeout: 10_000 }).toBe("streaming"); // The page has joined the turn.
    gate.open();
    await again;
    expect([lastText(page), model.asked]).toEqual(["answer 2", 2]);
    expect(await (await world.runtime.session("c1")).requests()).toHaveLength(1);
  });

  it.each([
    ["the same answer", ["Hel", "lo wor", "ld"]],
    ["another answer", ["Hel", "p is ", "near"]],
  ])("goes on with %s: a page that comes back has it whole", async (_, again) => {
    const model = halting(again);
    const world = worldOf({ model });
    const page = world.page();
    void page.sendMessage({ text: "Hi" });
    await expect.poll(() => lastText(page), { timeout: 5000 }).toBe("Hello wor");
    await new Promise((resolve) => setTimeout(resolve, 300)); // The words are on record.
    await world.restart();
    const other = world.page();
    await other.resumeStream();
    expect(lastText(other)).toBe(again.join(""));
    expect(model.asked).toBe(2);
  });

  it.each([
    ["the same answer", ["Hel", "lo wor", "ld"]],
    ["another answer", ["Hel", "p is ", "near"]],
  ])("goes on with %s for a page that counts chunks, which asks again by itself", async (_, again) => {
    const model = halting(again);
    const world = worldOf({ model });
    const page = world.page("c2", "workflow");
    const sent = page.sendMessage({ text: "Hi" });
    await expect.poll(() => lastText(page), { timeout: 5000 }).toBe("Hello wor");
    await world.restart();
    await sent;
    expect(lastText(page)).toBe(again.join(""));
    expect(world.requests[1]).toMatch(/^GET \/api\/chat\/c2-1\/stream\?startIndex=[45]$/);
    expect(model.asked).toBe(2);
  });
});

const asking = async (world: World) => {
  const page = world.page();
  await page.sendMessage({ text: "Refund me" });
  expect(lastText(page)).toBe('Let me see.[refund {"cents":50} approval-requested]');
  expect([page.status, refunds]).toEqual(["ready", []]);
  const part = page.messages.at(-1)?.parts.find(({ type }) => type === "tool-refund") as {
    readonly approval: { readonly id: string };
  };
  return { page, id: part.approval.id };
};
const settled = async (page: Chat): Promise<void> => {
  await expect.poll(() => page.status, { timeout: 5000 }).not.toBe("ready");
  await expect.poll(() => page.status, { timeout: 10_000 }).toBe("ready");
};

describe("a tool that needs approval", () => {
  it("waits for the page over a restart, and runs once", async () => {
    const model = new ScriptedModel(refunding(50));
    const world = worldOf({ model, tools: { refund } });
    const { page, id } = await asking(world);
    await world.restart();
    await page.addToolApprovalResponse({ id, approved: true });
    await settled(page);
    expect(refunds).toEqual([50]);
    expect(lastText(page)).toMatch(
      /^Let me see\.\[refund {"cents":50} output-available "refunded 50"\]Done: .*refunded 50/,
    );
    expect(model.asked).toBe(2);
    const other = world.page();
    await other.resumeStream();
    expect(other.messages).toEqual([]); // The turn is over.
  });

  it("is not run when it is denied, and the model is told as the SDK tells it", async () => {
    const model = new ScriptedModel(refunding(50));
    const world = worldOf({ model, tools: { refund } });
    const { page, id } = await asking(world);
    await page.addToolApprovalResponse({ id, approved: false, reason: "too much" });
    await settled(page);
    expect(refunds).toEqual([]);
    expect(lastText(page)).toMatch(/\[refund {"cents":50} output-denied\]Done: .*"execution-denied".*too much/);
  });

  it("runs with the arguments that the page has edited", async () => {
    const model = new ScriptedModel(refunding(50));
    const world = worldOf({ model, tools: { refund } });
    const { page, id } = await asking(world);
    page.messages = page.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-refund" ? ({ ...part, input: { cents: 40 } } as typeof part) : part,
      ),
    }));
    await page.addToolApprovalResponse({ id, approved: true });
    await settled(page);
    expect(refunds).toEqual([40]);
    expect(lastText(page)).toContain('[refund {"cents":40} output-available "refunded 40"]');
  });

  it("is shown to a page that comes back, which decides", async () => {
    const model = new ScriptedModel(refunding(50));
    const world = worldOf({ model, tools: { refund } });
    await asking(world);
    const other = world.page();
    await other.resumeStream();
    expect(lastText(other)).toBe('Let me see.[refund {"cents":50} approval-requested]');
  });

  it("may be decided elsewhere: a page that comes back has it all", async () => {
    const gate = new Gate();
    const script = refunding(50);
    const model = new ScriptedModel(async (params, asked) => {
      if (asked === 2) await gate.pass();
      return script(params, asked);
    });
    const world = worldOf({ model, tools: { refund } });
    await asking(world);
    const session = await world.runtime.session("c1");
    for (const one of await session.approvals()) await one.approve({ by: "ann" });
    const other = world.page();
    const resumed = other.resumeStream();
    await expect.poll(() => lastText(other), { timeout: 5000 }).toContain("refunded 50");
    gate.open();
    await resumed;
    expect(lastText(other)).toMatch(/^Let me see\.\[refund .* output-available "refunded 50"\]Done: /);
  });
});

describe("a page that leaves, and one that stops", () => {
  it("leaves the turn alone, or ends it", async () => {
    const stopped: boolean[] = [];
    const model = new ScriptedModel((params) => ({
      words: ["one ", "two ", "three"],
      pace: (word) =>
        word < 2
          ? undefined
          : new Promise((_resolve, reject) =>
              params.abortSignal?.addEventListener("abort", () => {
                stopped.push(true);
                reject(params.abortSignal?.reason as Error);
              }),
            ),
    }));
    const world = worldOf({ model });
    const page = world.page();
    const sent = page.sendMessage({ text: "Hi" });
    await expect.poll(() => lastText(page), { timeout: 5000 }).toBe("one two ");
    await page.stop();
    await sent;
    expect(stopped).toEqual([]);
    const other = world.page();
    const resumed = other.resumeStream();
    await expect.poll(() => lastText(other), { timeout: 5000 }).toBe("one two ");
    const response = await world.fetch("/api/chat/c1", { method: "DELETE" });
    expect(response.status).toBe(204);
    await resumed;
    expect([other.status, lastText(other)]).toEqual(["ready", "one two "]);
    await expect.poll(() => stopped, { timeout: 5000 }).toEqual([true]);
    const session = await world.runtime.session("c1");
    await expect.poll(async () => (await session.requests())[0]?.state, { timeout: 5000 }).toBe("cancelled");
  });
});

const post = (body: string): RequestInit => ({ method: "POST", body });

describe("a request", () => {
  it("that is none is refused with what was expected, and a chat of somebody else is not there", async () => {
    const world = worldOf({ model: new ScriptedModel(() => ({})) }, [], {
      session: ({ id }) => (id === "mine" ? "mine" : undefined),
    });
    const said = async (path: string, init: RequestInit): Promise<unknown> => {
      const response = await world.fetch(path, init);
      return [response.status, response.body === null ? "" : await response.json()];
    };
    expect(await said("/api/chat", post("{"))).toEqual([400, { error: expect.stringContaining("expected JSON") }]);
    expect(await said("/api/chat", post('{"messages":[{}]}'))).toEqual([
      400,
      { error: expect.stringContaining("`id`") },
    ]);
    const yours = JSON.stringify({ id: "yours", messages: [{ id: "1", role: "user", parts: [] }] });
    expect(await said("/api/chat", post(yours))).toEqual([404, { error: expect.stringContaining("yours") }]);
    expect(await said("/api/chat/yours/stream", {})).toEqual([404, { error: expect.any(String) }]);
    expect(await said("/api/chat/mine/stream", {})).toEqual([204, ""]);
    expect(await said("/api/chat/mine", { method: "DELETE" })).toEqual([204, ""]);
  });
});
