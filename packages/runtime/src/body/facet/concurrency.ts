/** Concurrency in a body: batches of calls to other tools, and choices among effects whose winner is on record. */
import { type SelectMode, batchId, ReplyCodec } from "@pawl/sansio-core/driver";
import { type Json, array, describe, read as readAs } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import type { Reply } from "../../session/call.ts";
import { type CalledTool, valueOfReply } from "../../tool/result.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, durable, handled, refusing } from "./durable.ts";

/** A tool, as a call of it names it: its definition, its name or its id. */
export type ToolRef = string | { readonly name: string; readonly id?: string };

export interface CallLabel {
  /**
   * Names the call in approvals, observations, spans and its reply: the id that the model gave it, for one. No two calls
   * of `callAll` have the same. Where it is left out, it is the tool's name.
   */
  readonly label?: string;
}

export interface ToolCall extends CallLabel {
  readonly tool: ToolRef;
  readonly args?: unknown;
}

type Members = readonly Durable<unknown>[];

export interface Concurrency {
  /** Calls another tool, and resolves to what it returns. Throws `ToolFailed` if it fails, is rejected or is cancelled. */
  readonly call: <Input, Result>(tool: CalledTool<Input, Result>, args: Input, options?: CallLabel) => Durable<Result>;
  /** Calls other tools at once, and waits for the replies of all; one that fails is a reply as well. */
  readonly callAll: (calls: readonly ToolCall[]) => Durable<readonly Reply[]>;
  readonly race: <const M extends Members>(members: M) => Promise<Awaited<M[number]>>;
  readonly any: <const M extends Members>(members: M) => Promise<Awaited<M[number]>>;
  readonly all: <const M extends Members>(members: M) => Promise<{ readonly [I in keyof M]: Awaited<M[I]> }>;
  readonly allSettled: <const M extends Members>(
    members: M,
  ) => Promise<{ readonly [I in keyof M]: PromiseSettledResult<Awaited<M[I]>> }>;
}

/** Bounds how deep calls nest: a tool that calls itself ends here, before it exhausts the memory of its host. */
const maxDepth = 32;

const problemOfDepth = (name: string): EffectError | undefined => {
  if (name.split(/\/(?:life:\d+:)?tool-batch:/).length <= maxDepth) return undefined;
  const message = `a call may stand below ${maxDepth} others at most: does a tool call itself?`;
  return new EffectError("tool_batch_too_deep", message);
};

const Replies = array(ReplyCodec);

/** Reads the replies of a batch, whose calls have names below that of their batch. */
const repliesOf = (batch: string, json: Json): readonly Reply[] => {
  const replies = readAs(Replies, json);
  if (E.isLeft(replies)) throw new EffectError("durable_effect_value", describe(replies.left));
  return replies.right.map(({ call_id: label, duration_ms: durationMs, ...reply }) => ({
    call: `${batch}/${label}`,
    label,
    ...reply,
    durationMs,
  }));
};

const idPrefix = "tool:";

/** Returns the id of a tool. A text that names no tool here is an id already, or the name of a tool that is away. */
export const toolIdOf = ({ facts }: Asking, tool: ToolRef): string => {
  if (typeof tool !== "string") return tool.id ?? idPrefix + tool.name;
  const known = facts.processApi.toolNamed(tool)?.manifest.id;
  return known ?? (tool.startsWith(idPrefix) ? tool : idPrefix + tool);
};

interface NamedCall {
  readonly id: string;
  readonly tool_id: string;
  readonly args: Json;
}

/** Gives each call a label. Those that have none are told apart by a number. */
const labelled = (asking: Asking, calls: readonly ToolCall[]): readonly NamedCall[] => {
  const counts = new Map<string, number>();
  const nextOf = (tool: ToolRef): string => {
    const name = typeof tool === "string" ? tool : tool.name;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  };
  return calls.map(({ tool, args = {}, label: id = nextOf(tool) }) => ({
    id,
    tool_id: toolIdOf(asking, tool),
    args: toJson(args, `the arguments of \`${id}\``),
  }));
};

const batch = <A>(asking: Asking, calls: readonly ToolCall[], read: (replies: readonly Reply[]) => A): Durable<A> => {
  const listed = labelled(asking, calls);
  const key = asking.nextName(asking.facts.life.named(batchId(listed).batch_id));
  if (listed.length === 0) return durable(key, Promise.resolve(read([])));
  const problem = problemOfDepth(asking.facts.name);
  if (problem !== undefined) return durable(key, Promise.reject(problem));
  const children = listed.map(({ id, tool_id, args }) => ({ id, tool: tool_id, args }));
  return asking.askFor(
    (result) => read(repliesOf(`${asking.body.id.call}/${key}`, valueOf(result))),
    key,
    { kind: "batch", calls: children },
    children,
  );
};

/** Returns what the one call of a batch came to; throws how it failed. */
const resultOf = <Result>([reply]: readonly Reply[]): Result => {
  if (reply === undefined) throw new EffectError("durable_effect_value", "the call has no reply");
  return valueOfReply(reply) as Result;
};

/** Returns the index of the member that decided. It must not return the member: an async function would await it. */
const select = async (asking: Asking, mode: SelectMode, members: Members): Promise<number> => {
  for (const member of members) void handled(member); // Their outcomes reach the body by way of the choice.
  const keys = members.map(({ key }) => key);
  const key = asking.nextName(`select:${mode}`);
  const { winner, result } = await asking.ask(key, { kind: "select", mode, keys }, [mode, ...keys]);
  if (winner === undefined) valueOf(result); // Throws why the choice was refused.
  return members.findIndex((member) => member.key === winner);
};

const first = async (asking: Asking, mode: "race" | "any", members: Members): Promise<unknown> => {
  const won = members[await select(asking, mode, members)];
  if (won === undefined) throw new EffectError("durable_effect_select", `nothing won a ${mode} of nothing`);
  return won;
};

const all = async (asking: Asking, members: Members): Promise<readonly unknown[]> => {
  if (members.length > 0) await select(asking, "all", members);
  return Promise.all(members);
};

const allSettled = async (asking: Asking, members: Members): Promise<readonly PromiseSettledResult<unknown>[]> => {
  if (members.length > 0) await select(asking, "all_settled", members);
  return Promise.allSettled(members);
};

export const concurrency = (asking: Asking): Concurrency => ({
  call: (tool, args, options) =>
    refusing("tool-batch", () => batch(asking, [{ tool, args, ...options }], resultOf<never>)),
  callAll: (calls) => refusing("tool-batch", () => batch(asking, calls, (replies) => replies)),
  race: (members) => handled(first(asking, "race", members)) as never,
  any: (members) => handled(first(asking, "any", members)) as never,
  all: (members) => handled(all(asking, members)) as never,
  allSettled: (members) => handled(allSettled(asking, members)) as never,
});
