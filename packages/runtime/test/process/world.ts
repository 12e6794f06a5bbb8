/** A session whose tool is any program, and a tool that processes run; lived until the reply is there. */
import type { Reply } from "../../src/index.ts";
import type { ProcessEventType, ProcessInput } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import {
  type HostPort,
  type RuntimeOptions,
  type ToolContext,
  type ToolDefinition,
  defineTool,
} from "../../src/index.ts";
import { type Death, type Process, World } from "../world.ts";

export type Program = (ctx: ToolContext) => Promise<unknown>;

/** A tool whose body is this program. */
export const program = (name: string, execute: Program): ToolDefinition =>
  defineTool({ name, durable: true, execute: (_, ctx) => execute(ctx) });

export const toolCall = (name: string, args: Json = {}): ProcessInput => ({
  type: "tool_call",
  call: { call_id: "c", tool_id: `tool:${name}`, tool_name: name, args, prepared_payload: null },
});

export const eventType = (name: string, semantics: ProcessEventType["semantics"] = {}, schema: Json = {}) => ({
  name,
  payload_schema: { schema },
  semantics,
});

const calls = [{ label: "b", tool: "body", args: {} }];

/** One life of the world's runtime: until it is dead, or the reply is there. */
const liveOne = async (process: Process, world: World): Promise<readonly Reply[] | undefined> => {
  const outcome: { replies?: readonly Reply[] } = {};
  const ask = async (): Promise<void> => {
    await process.runtime.recover();
    const session = await process.runtime.session("s");
    outcome.replies = await session.request("r", calls);
  };
  ask().catch((thrown: unknown) => {
    if (!process.isDead) throw thrown;
  });
  for (let i = 0; i < 12 && outcome.replies === undefined && !process.isDead; i++) {
    await world.quiet(40);
    world.platform.advance(70_000);
  }
  process.kill();
  return outcome.replies;
};

export interface Lived {
  readonly output: unknown;
  readonly world: World;
}

/** Lives runtime after runtime, the first of which dies so, until the reply is there. */
export const live = async (
  tools: readonly ToolDefinition[],
  death?: Death,
  host: HostPort = {},
  options: RuntimeOptions["options"] = {},
  protocol?: number,
): Promise<Lived> => {
  const world = new World(protocol);
  for (let life = 0; life < 4; life++) {
    const process = world.start(
      tools,
      life === 0 && death !== undefined ? { host, options, death } : { host, options },
    );
    const replies = await liveOne(process, world);
    if (replies !== undefined) return { output: replies[0]?.output.outcome, world };
  }
  throw new Error("no reply");
};

/** Every place where the first runtime may die. */
export const deaths = (appends: number): readonly Death[] =>
  Array.from({ length: appends }, (_, i) => [
    { append: i + 1, when: "before" } as const,
    { append: i + 1, when: "after" } as const,
  ]).flat();

/** Returns what a body gives back that is this program. */
export const reply = async (
  execute: (ctx: ToolContext) => Promise<unknown>,
  more: readonly ToolDefinition[] = [],
  host: HostPort = {},
) => {
  const { output } = await live([program("body", execute), ...more], undefined, host);
  return (output as { readonly payload: unknown }).payload;
};

/** How what was asked is refused. */
export const told = async (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "no error",
    ({ code, message }: { readonly code: string; readonly message: string }) => [code, message],
  );
