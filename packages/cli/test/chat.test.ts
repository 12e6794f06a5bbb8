/** `pawl chat` over a journal and over a host: words as they come, approvals with edits, budgets, and leaving. */
import { type Claims, openHost, openRuntime } from "@pawl/driver-node";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hostIn } from "../src/host/module.ts";
import { loadModule } from "../src/module.ts";
import { newFolder } from "./fixture.ts";
import { chatCommand } from "../src/chat/chat.ts";
import { jsonIn, pawl, toldAs } from "./pawl.ts";

const runtimeUrl = new URL("../../runtime/src/index.ts", import.meta.url).href;

/** A module with an agent that pays what it is asked to pay, and says what it was told otherwise. */
const moduleText = `
import { defineTool } from ${JSON.stringify(runtimeUrl)};
const pay = defineTool({
  name: "pay",
  needsApproval: true,
  inputSchema: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
  execute: ({ amount }) => "paid " + amount,
});
const said = (prompt) => JSON.stringify(prompt.at(-1).content);
const ask = async ({ prompt, say, signal }) => {
  const usage = { input_tokens: 5, output_tokens: 5 };
  const text = said(prompt);
  if (prompt.at(-1).role === "user" && text.includes("pay")) {
    const part = { type: "tool-call", id: "c", tool: "pay", args: { amount: 5 } };
    return { pieces: [{ b: 0, part }], finish: { reason: "tool-calls" }, usage };
  }
  const words = text.includes("long") ? Array.from({ length: 500 }, (_, i) => i + " ") : ["You ", "said ", text + "."];
  for (const [i, word] of words.entries()) {
    if (text.includes("long")) await new Promise((resolve) => setTimeout(resolve, 20));
    signal.throwIfAborted();
    say(i === 0 ? { b: 0, type: "text", text: word } : { b: 0, text: word });
  }
  return { pieces: [], finish: { reason: "stop" }, usage };
};
export const tools = [pay];
export const host = {
  models: () => ({ ask }),
  agents: (name) => ({
    routes: [{ provider: "p", model: "m" }],
    ...(name === "tight" ? { limits: { input_tokens: { limit: 5 } } } : {}),
  }),
};
`;

const folder = newFolder();
const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

let count = 0;
const placed = () => {
  const at = join(folder, `chat-${count++}`);
  mkdirSync(at);
  const module = join(at, "agents.mjs");
  writeFileSync(module, moduleText);
  return { module, file: join(at, "journal.db") };
};

/** Lines that are typed when what is printed calls for them. */
const typing = (...lines: readonly (readonly [after: RegExp, line: string])[]) => {
  let printed = "";
  let wake: (() => void) | undefined;
  async function* typed(): AsyncGenerator<string> {
    for (const [after, line] of lines) {
      while (!after.test(printed)) await new Promise<void>((resolve) => (wake = resolve));
      printed = "";
      yield line;
    }
  }
  const onOut = (text: string): void => {
    printed += text;
    wake?.();
  };
  return { lines: typed(), onOut };
};

async function* piped(...lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const everything: Claims = {
  by: "ann",
  scopes: [""],
  rights: ["call", "approve", "observe"],
  expires_at: 4_000_000_000_000,
};

const hostAt = async ({ module, file }: ReturnType<typeof placed>) => {
  const { runtime, close } = openRuntime({ file, ...hostIn(module, await loadModule(module)) });
  const host = await openHost({ runtime, secrets: [new Uint8Array(32).fill(9)] });
  closings.push(close, () => host.close());
  return ["--host", host.url, "--token", host.sign(everything)];
};

describe("pawl chat", () => {
  it("prints what the agent says, over a journal and over a host", async () => {
    const at = placed();
    const local = await pawl(["chat", `${at.file}#alice`, "--agents", at.module], { lines: piped("hello") });
    expect(local).toMatchObject({ code: 0, out: 'You said [{"type":"text","text":"hello"}].\n' });
    const remote = await pawl(["chat", "bob", ...(await hostAt(placed()))], { lines: piped("hello", "and you?") });
    expect(remote.code).toBe(0);
    expect(remote.out.split("\n")[1]).toBe('You said [{"type":"text","text":"and you?"}].');
  });

  it("has a call approved with other arguments, after an edit that did not fit", async () => {
    const at = placed();
    const said = await pawl(["chat", "alice", ...(await hostAt(at))], {
      lines: piped("pay it", "what?", 'e {"amount":"four"}', 'e {"amount":4}'),
    });
    expect(said.err).toContain('needs approval: pay {"amount":5}');
    expect(said.err).toContain("y approves, e {…} approves with other arguments, n <reason> rejects");
    expect(said.out).toContain("paid 4");
    expect(said.code).toBe(0);
  });

  it("rejects a call with a reason that the agent reads", async () => {
    const at = placed();
    const said = await pawl(["chat", `${at.file}#alice`, "--agents", at.module, "--by", "ann"], {
      lines: piped("pay it", "n too much"),
    });
    expect(said.out).toContain("too much");
  });

  it("extends a budget that is reached, or ends the turn", async () => {
    const at = placed();
    const args = ["chat", "alice", "--agent", "tight", ...(await hostAt(at)), "--json"];
    const said = await pawl(args, { lines: piped("pay it", "y", "more", "+ 100") });
    const documents = jsonIn(said);
    for (const document of documents) expect(toldAs(chatCommand, document), JSON.stringify(document)).toBeDefined();
    expect(documents.filter((one) => "asks" in one).at(-1)).toEqual({
      asks: [
        "the budget is reached: input_tokens of the turn (5 of 5)",
        "+ <n> adds so much to each of them, stop ends the turn",
      ],
    });
    expect(documents.at(-1)).toMatchObject({ end: { status: "finished" } });
    const stopped = placed();
    const local = ["chat", `${stopped.file}#alice`, "--agents", stopped.module, "--agent", "tight"];
    const spent = await pawl(local, { lines: piped("pay it", "y", "stop") });
    expect(spent.err).toContain("stopped: budget");
  });

  it("stops a turn in mid-word", async () => {
    const at = placed();
    const { lines, onOut } = typing([/^/u, "a long one"], [/3 /u, "/stop"]);
    const said = await pawl(["chat", "alice", ...(await hostAt(at))], { lines, onOut });
    expect(said.err).toContain("stopped: cancelled");
    expect(said.out.startsWith("0 1 2 3 ")).toBe(true);
  });

  it("leaves a turn that nobody decides on, and finds it again", async () => {
    const at = placed();
    const host = await hostAt(at);
    const left = await pawl(["chat", "alice", ...host], { lines: piped("pay it") });
    expect(left.err).toContain("the turn goes on without you");
    const back = await pawl(["chat", "alice", ...host], { lines: piped("y") });
    expect(back.err).toMatch(/turn chat-\S+ goes on/u);
    expect(back.out).toContain("paid 5");
  });

  it("says who is to answer, where neither a module nor a host is named", async () => {
    const said = await pawl(["chat", "journal.db#alice"], { lines: piped() });
    expect(said).toMatchObject({ code: 2 });
    expect(said.err).toContain("add --agents <module>, or --host <url>");
  });
});
