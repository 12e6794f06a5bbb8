/** Producers that speak when they are let, bodies that hear them, and readers. */
import { type ToolContext, type ToolDefinition, defineTool } from "../src/index.ts";
import type { Session } from "../src/index.ts";
import type { StreamFrame, StreamOptions } from "../src/driver.ts";
import { type Start, World } from "./world.ts";

export { World } from "./world.ts";
export type Frame = StreamFrame;

export type Source = Parameters<ToolContext["stream"]>[1];
export type Info = Parameters<Source>[0];
const calls = [{ label: "c1", tool: "tool", args: {} }];
export const words = ["one ", "two ", "three ", "four ", "five "];

/** A producer that says a word whenever it is let, and keeps count of its runs. */
export const script = (said: readonly string[] = words) => {
  const runs: Info[] = [];
  let waiting: (() => void)[] = [];
  const source = async function* (info: Info): AsyncGenerator<string> {
    runs.push(info);
    for (const word of said.slice(info.recorded.length)) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      yield `${word}${info.attempt}`;
    }
  };
  const go = (): void => {
    const all = waiting;
    waiting = [];
    for (const one of all) one();
  };
  return { source, runs, go };
};
export type Script = ReturnType<typeof script>;

export type Body = (ctx: ToolContext) => Promise<unknown>;

export const begin = async (
  body: Body,
  { world = new World(2), ...start }: Start & { readonly world?: World } = {},
  more: Partial<ToolDefinition> = {},
) => {
  const tool = defineTool({ ...more, name: "tool", durable: true, execute: (_, ctx) => body(ctx) });
  const process = world.start([tool], start);
  const session = await process.runtime.session("s");
  const told: { payload?: unknown; status?: string } = {};
  void session.request("r", calls).then(
    ([reply]) => Object.assign(told, { payload: reply?.output.outcome.payload, status: reply?.output.outcome.status }),
    () => undefined,
  );
  await world.quiet();
  return { world, process, session, told };
};

/** Lets a producer say so many words, with this time between them. */
export const say = async (world: World, { go }: Script, count: number, ms = 20): Promise<void> => {
  for (let i = 0; i < count; i++) {
    go();
    await world.quiet();
    world.platform.advance(ms);
    await world.quiet();
  }
};

/** Reads a stream of the call, and keeps what it is told. */
export const reading = (session: Session, options: Partial<StreamOptions> = {}, call = "r:c1") => {
  const frames: StreamFrame[] = [];
  let error: unknown;
  let isOver = false;
  const leave = new AbortController();
  const source = session.stream(call, { name: "words", signal: leave.signal, ...options });
  void (async () => {
    try {
      for await (const frame of source) frames.push(frame);
      isOver = true;
    } catch (thrown) {
      error = thrown;
    }
  })();
  const soFar = async (world: World): Promise<readonly StreamFrame[]> => {
    await world.quiet();
    leave.abort();
    await world.quiet();
    return frames;
  };
  return { frames, error: () => error, isOver: () => isOver, soFar };
};
export const numbered = (attempt: number, said: readonly string[] = words): readonly string[] =>
  said.map((word) => `${word}${attempt}`);
export const all = numbered(1);
export const awaiting =
  ({ source }: Script, options: Parameters<ToolContext["stream"]>[2] = {}): Body =>
  (ctx) =>
    ctx.stream("words", source, options);
/** Collects the chunks in a loop. */
export const looping =
  ({ source }: Script, options: Parameters<ToolContext["stream"]>[2] = {}): Body =>
  async (ctx) => {
    const heard: unknown[] = [];
    for await (const word of ctx.stream("words", source, options)) heard.push(word);
    return heard;
  };

/** The events of a type in the log of the session. */
export const logged = async (world: World, type: string) =>
  (await world.journal.read("session:s", 1))
    .filter(({ line }) => line.includes(`"type":"${type}"`))
    .map(({ line }) => JSON.parse(line).event);
