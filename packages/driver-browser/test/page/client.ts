/** Runs in the browser: a page that works with a host elsewhere. */
import { Client, moverOver } from "../../src/client.ts";
import { defineTool } from "@pawl/runtime";
import { openTab } from "../../src/index.ts";

let client: Client;

export const connect = (url: string, token: string): void => {
  client = new Client({ url, token, backoff: { minMs: 5, maxMs: 50 } });
};

export const reconnect = (): void => client.reconnect();

export const call = async (
  request: string,
  tool: string,
  args: { readonly [name: string]: number },
): Promise<unknown> => (await client.session("s").request(request, [{ label: "c", tool, args }]))[0]?.output.outcome;

/** Runs a tool for the host, in this page. */
export const execute = (): void =>
  void client.execute({ tools: { "tool:title": (args) => ({ title: document.title, args }) } });

/** The sequences that were observed. */
export const seen: number[] = [];
export const observe = async (): Promise<void> => {
  for await (const { cursor } of client.session("s").observe({ after: 0, window: 4 })) seen.push(cursor);
};

/** A session of this tab goes on at the host; says what its call came to there. */
export const handOver = async (url: string): Promise<unknown> => {
  let go = "";
  const wait = defineTool({
    name: "wait",
    durable: true,
    execute: async (_, ctx) => {
      const from = await ctx.run("where", () => "tab");
      go = ctx.token("go");
      await ctx.waitFor("go");
      return from;
    },
  });
  const tab = await openTab({ name: "moving", tools: [wait], mover: () => moverOver(client) });
  const runtime = await tab.runtime();
  const session = await runtime.session("moved");
  session.request("r", [{ label: "c", tool: "wait", args: {} }]).catch(() => undefined); // It moves away.
  const signal = AbortSignal.timeout(30_000);
  for await (const { event } of tab.follow("session:moved", 0, signal))
    if (event.type === "effect.requested" && event.effect.kind === "wait") break;
  await runtime.move("session:moved", url);
  const there = client.session("moved");
  await there.resolve(go, { status: "ok", payload: null });
  return (await there.replies("r"))[0]?.output.outcome;
};

interface Returned {
  readonly left: readonly string[];
  readonly behind: readonly string[];
  readonly back: readonly string[];
}

/** A session of this tab goes to the host and comes back: what who follows it sees until it leaves, and then. */
export const thereAndBack = async (url: string): Promise<Returned> => {
  const tab = await openTab({ name: "returning", tools: [], mover: () => moverOver(client) });
  const runtime = await tab.runtime();
  const { seq } = (await runtime.session("back")).state;
  const followed = async (after: number, to = Infinity): Promise<readonly string[]> => {
    const types: string[] = [];
    const tooLong = AbortSignal.timeout(10_000);
    for await (const recorded of tab.follow("session:back", after, tooLong)) {
      types.push(recorded.event.type);
      if (recorded.seq === to) return types;
    }
    return tooLong.aborted ? [...types, "and on"] : types;
  };
  const leaving = followed(0);
  const address = await client.receive("returning", () => runtime.moves.arrivals);
  await runtime.move("session:back", url);
  const left = await leaving;
  const behind = await followed(seq + 2);
  await client.session("back").move(address);
  const { state } = await runtime.session("back");
  return { left, behind, back: await followed(0, state.seq) };
};
