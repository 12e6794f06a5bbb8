/** Concurrency in a body: batches of calls to other tools, and choices among effects whose winner is on record. */
import type { Reply } from "@pawl/sansio-core";
import { type SelectMode, batchId, ReplyCodec } from "@pawl/sansio-core/driver";
import { type Json, array, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, durable, handled, refusing } from "./durable.ts";

export interface BatchCall {
  readonly id: string;
  /** `tool:{name}`, unless the tool says otherwise. */
  readonly toolId: string;
  readonly args: unknown;
}

type Members = readonly Durable<unknown>[];

export interface Concurrency {
  /** Runs calls of other tools, and waits for the replies of all; one that fails is a reply as well. */
  readonly batch: (calls: readonly BatchCall[]) => Durable<readonly Reply[]>;
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

const repliesOf = (json: Json): readonly Reply[] => {
  const replies = read(Replies, json);
  if (E.isLeft(replies)) throw new EffectError("durable_effect_value", describe(replies.left));
  return replies.right;
};

const batch = (asking: Asking, calls: readonly BatchCall[]): Durable<readonly Reply[]> => {
  const listed = calls.map(({ id, toolId, args }) => ({
    id,
    tool_id: toolId,
    args: toJson(args, `the arguments of \`${id}\``),
  }));
  const key = asking.nextName(asking.facts.life.named(batchId(listed).batch_id));
  if (listed.length === 0) return durable(key, Promise.resolve([]));
  const problem = problemOfDepth(asking.facts.name);
  if (problem !== undefined) return durable(key, Promise.reject(problem));
  const children = listed.map(({ id, tool_id, args }) => ({ id, tool: tool_id, args }));
  return asking.askFor((result) => repliesOf(valueOf(result)), key, { kind: "batch", calls: children }, children);
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
  batch: (calls) => refusing("tool-batch", () => batch(asking, calls)),
  race: (members) => handled(first(asking, "race", members)) as never,
  any: (members) => handled(first(asking, "any", members)) as never,
  all: (members) => handled(all(asking, members)) as never,
  allSettled: (members) => handled(allSettled(asking, members)) as never,
});
