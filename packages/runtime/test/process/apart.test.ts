/** A session and its process in two stores: what they say to each other waits until they are in one store again. */
import { describe, expect, it } from "vitest";
import { type Journal, Runtime, type ToolDefinition, memoryJournal } from "../../src/index.ts";
import { TestPlatform } from "../world.ts";
import { eventType, program, toolCall } from "./world.ts";

/** Two hosts with stores of their own, and one clock. */
class Apart {
  readonly platform = new TestPlatform();
  readonly journals: { readonly [name: string]: Journal } = { a: memoryJournal(), b: memoryJournal() };
  readonly #runtimes: { readonly [name: string]: Runtime };

  constructor(tools: readonly ToolDefinition[]) {
    this.#runtimes = { a: this.#start("a", tools), b: this.#start("b", tools) };
  }

  #start(name: string, tools: readonly ToolDefinition[]): Runtime {
    return new Runtime({
      journal: this.journals[name] as Journal,
      platform: this.platform,
      tools,
      instance: name,
      roots: { newest: { kid: name, secret: new Uint8Array(32).fill(name.charCodeAt(0)) } },
      mover: (to) => this.at(to).moves.arrivals,
    });
  }

  at(name: string): Runtime {
    return this.#runtimes[name] as Runtime;
  }

  async quiet(): Promise<void> {
    for (let i = 0; i < 60; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Long enough for whoever looks again after a while. */
  async later(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      this.platform.advance(31_000);
      await this.quiet();
    }
  }

  async lines(name: string, scope: string): Promise<number> {
    return (await this.journals[name]?.read(scope, 1))?.length ?? 0;
  }
  async letters(name: string, scope: string): Promise<number> {
    return (await this.journals[name]?.inbox(scope))?.length ?? 0;
  }
}

const work = program("work", async ({ processEvents }) => [
  await processEvents.awaitSignal("go"),
  await processEvents.awaitSignal("go"),
]);
const start = program("start", ({ processes }) =>
  processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] }),
);
const signal = program("signal", ({ processes }) => processes.signal("p", "go", "hello", "s1"));
const end = program("end", ({ processes }) => processes.await("p"));
const other = program("other", async ({ processes }) => {
  await processes.start({ id: "q", input: toolCall("short") });
  return processes.await("q");
});
const short = program("short", async () => "short");
const tools = [work, start, signal, end, other, short];
const use = (tool: string) => [{ label: "c", tool, args: {} }];
const outcomes = (replies: readonly { readonly output: { readonly outcome: unknown } }[]) =>
  replies.map(({ output }) => output.outcome);

describe("a session that moved without its process", () => {
  it("makes no second process of its name where it is: what it says waits until the process is there too", async () => {
    const apart = new Apart(tools);
    await (await apart.at("a").session("s")).request("r1", use("start"));
    await apart.at("a").move("session:s", "b");
    const session = await apart.at("b").session("s");
    const signalled = session.request("r2", use("signal"));
    const ended = session.request("r3", use("end"));
    await apart.quiet();
    await apart.later();
    expect([await apart.lines("b", "process:p"), await apart.letters("b", "process:p")]).toEqual([0, 2]);
    await apart.at("a").move("process:p", "b");
    await apart.later();
    expect(outcomes(await signalled)).toMatchObject([{ status: "success" }]);
    await apart.at("b").processes.signal("p", { name: "go", payload: "again", signalId: "s2" });
    expect(outcomes(await ended)).toMatchObject([{ payload: { value: ["hello", "again"] } }]);
  });

  it("starts other processes where it is, and they tell it of their ends", async () => {
    const apart = new Apart(tools);
    await (await apart.at("a").session("s")).request("r1", use("start"));
    await apart.at("a").move("session:s", "b");
    const replies = (await apart.at("b").session("s")).request("r2", use("other"));
    expect(outcomes(await replies)).toMatchObject([{ payload: { value: "short" } }]);
  });
});

describe("a process that moved without its session", () => {
  it("makes no second session of its name where it ends: the session hears of it when it is there too", async () => {
    const apart = new Apart(tools);
    const session = await apart.at("a").session("s");
    await session.request("r1", use("start"));
    const lost = session.request("r2", use("end"), { keep: true });
    lost.catch(() => undefined);
    await apart.quiet();
    await apart.at("a").move("process:p", "b");
    for (const id of ["s1", "s2"]) await apart.at("b").processes.signal("p", { name: "go", payload: id, signalId: id });
    await apart.quiet();
    await apart.later();
    expect(await apart.lines("b", "session:s")).toBe(0);
    expect(await apart.letters("b", "session:s")).toBeGreaterThan(0);
    await apart.at("a").move("session:s", "b");
    await apart.later();
    const replies = await (await apart.at("b").session("s")).replies("r2");
    expect(outcomes(replies)).toMatchObject([{ payload: { value: ["s1", "s2"] } }]);
  });
});

describe("a process that nobody has registered", () => {
  it("is not made by whoever asks for it", async () => {
    const apart = new Apart(tools);
    const { processes } = apart.at("a");
    const unknown = { name: "Refused", code: "process_unknown", message: "unknown process `nobody`" };
    await expect(processes.read("nobody")).rejects.toMatchObject(unknown);
    await expect(processes.await("nobody")).rejects.toMatchObject(unknown);
    await expect(processes.cancel("nobody", null)).rejects.toMatchObject(unknown);
    const go = { name: "go", payload: 1, signalId: "s1" };
    await expect(processes.signal("nobody", go)).rejects.toMatchObject(unknown);
    expect(await apart.journals["a"]?.scopes("", "", 9)).toEqual([]);
  });
});
