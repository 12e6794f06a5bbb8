/** Calls that a body makes together. */
import type { Reply } from "@pawl/sansio-core";
import { ReplyCodec, batchId } from "@pawl/sansio-core/driver";
import { type Json, array, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../../error.ts";
import { type Asking, type Durable, durable, refusing, toJson, valueOf } from "./asking.ts";

export interface BatchCall {
  readonly id: string;
  /** `tool:{name}`, unless the tool says otherwise. */
  readonly toolId: string;
  readonly args: unknown;
}

export interface Batches {
  /** Runs calls of other tools, and waits for the replies of all; one that fails is a reply as well. */
  readonly batch: (calls: readonly BatchCall[]) => Durable<readonly Reply[]>;
}

/** How deep calls may stand below each other: a tool that calls itself ends here, not with the memory of its host. */
const maxDepth = 32;

const problemOfDepth = (name: string): EffectError | undefined => {
  if (name.split("/tool-batch:").length <= maxDepth) return undefined;
  const message = `a call may stand below ${maxDepth} others at most: does a tool call itself?`;
  return new EffectError("tool_batch_too_deep", message);
};

const Replies = array(ReplyCodec);

/** Replies as they are on record, with the values of their outputs. */
const repliesOf = (json: Json): readonly Reply[] => {
  const replies = read(Replies, json);
  if (E.isLeft(replies)) throw new EffectError("durable_effect_value", describe(replies.left));
  return replies.right;
};

export const batches = (asking: Asking): Batches => {
  const ask: Batches["batch"] = (calls) => {
    const listed = calls.map(({ id, toolId, args }) => ({
      id,
      tool_id: toolId,
      args: toJson(args, `the arguments of \`${id}\``),
    }));
    const key = asking.nextName(batchId(listed).batch_id);
    if (listed.length === 0) return durable(key, Promise.resolve([]));
    const problem = problemOfDepth(asking.facts.name);
    if (problem !== undefined) return durable(key, Promise.reject(problem));
    const children = listed.map(({ id, tool_id, args }) => ({ id, tool: tool_id, args }));
    const answered = asking.ask(key, { kind: "batch", calls: children }, children);
    return durable(
      key,
      answered.then(({ result }) => repliesOf(valueOf(result))),
    );
  };
  return { batch: (calls) => refusing("tool-batch", () => ask(calls)) };
};
