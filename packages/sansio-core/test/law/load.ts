/** Long lives: many calls through one session, and one body that never ends. */
import { stringifyRecord, successOutput } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { plainTool } from "../../src/catalog/model.ts";
import { initial, step } from "../../src/machine.ts";
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import type { Event, State } from "../../src/kernel/vocabulary.ts";
import { defaultOptions } from "../../src/kernel/options.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { currentProtocol } from "../../src/kernel/protocol.ts";

const echo = plainTool("echo", { durable: true });
const guarded = plainTool("guarded", { durable: true, policy: "requires_approval" });

export class Load {
  state: State = initial("session:s");

  static open(): Load {
    const load = new Load();
    load.tell({ type: "scope.opened", epoch: 1, owner: "d1", protocol: currentProtocol, options: defaultOptions });
    return load.tell({ type: "catalog.published", tools: [echo, guarded] });
  }

  tell(event: Event): this {
    const result = step(this.state, { seq: this.state.seq + 1, at: this.state.seq * 10, event });
    if (E.isLeft(result)) throw new Error(`${event.type}: ${result.left.message}`);
    this.state = result.right.state;
    return this;
  }

  submit(request: string, tool = "echo"): this {
    const args = { text: "x".repeat(88) }; // A hundred bytes.
    return this.tell({ type: "request.submitted", request, hash: hash(request), calls: [{ id: "c1", tool, args }] });
  }

  /** Bytes of the snapshot; ASCII all of it. */
  get size(): number {
    return stringifyRecord(snapshot(this.state)).length;
  }
}

/** As long as a hash, and as different as two. */
const hash = (text: string): string => text.padStart(64, "0");
const key20 = (n: number): string => `durable-step:${n}`.padEnd(20, "x");

const oneStep: EffectSpec = { kind: "step", recovery: "again", input: null };
const settle = (call: string, run = 1): Event => {
  const result = { type: "done", output: successOutput(1) } as const;
  return { type: "call.settled", call, attempt: 1, run, result, duration_ms: 1 };
};

/** Each call is requested, runs a step, ends, and has its reply acknowledged. */
export const manyCalls = (load: Load, from: number, to: number): void => {
  for (let i = from; i < to; i++) {
    const request = `r${i}`;
    const of = { call: `${request}:c1`, attempt: 1, run: 1 };
    load.submit(request);
    load.tell({ type: "effect.requested", ...of, key: key20(1), hash: hash("h"), effect: oneStep });
    load.tell({ type: "step.settled", ...of, key: key20(1), result: { status: "ok", value: i } });
    load.tell(settle(of.call)).tell({ type: "reply.acked", request });
  }
};

const runOf = ({ state }: Load, call: string): number => {
  const row = state.calls.at(call);
  return row !== undefined && "body" in row ? (row.body?.run ?? 1) : 1;
};

/** A body that takes steps, and begins anew after so many. */
export const manySteps = (load: Load, from: number, to: number, every: number): void => {
  const call = "r:c1";
  let run = runOf(load, call);
  for (let i = from; i < to; i++) {
    const of = { call, attempt: 1, run };
    const key = key20(i % every);
    load.tell({ type: "effect.requested", ...of, key, hash: hash(key), effect: oneStep });
    load.tell({ type: "step.settled", ...of, key, result: { status: "ok", value: i } });
    if ((i + 1) % every !== 0) continue;
    load.tell({ type: "call.continued", ...of, args: { from: i } });
    run += 1;
    load.tell({ type: "call.resumed", call, attempt: 1, run, cause: "continued", owner: "d1" });
  }
};

/** Returns what one more of something costs. */
const each = (load: Load, count: number, more: (i: number) => void): number => {
  const before = load.size;
  for (let i = 0; i < count; i++) more(i);
  return (load.size - before) / count;
};

export const bytesPerStep = (): number => {
  const load = Load.open().submit("r");
  manySteps(load, 100_000, 100_010, 1_000_000);
  return each(load, 1000, (i) => manySteps(load, 200_000 + i, 200_001 + i, 1_000_000));
};

export const bytesPerPending = (): number =>
  parked((load, call) => {
    const pending = { on_timeout: "error_as_result", on_cancel: "cancel_external_work" } as const;
    const result = { type: "pending", key: hash(call), pending } as const;
    load.tell({ type: "call.settled", call, attempt: 1, run: 1, result, duration_ms: 12 });
  }, "echo");

export const bytesPerApproval = (): number =>
  parked((load, call) => {
    const args = { text: "x".repeat(88) };
    const preparation = {
      type: "prepared",
      tool_id: "tool:guarded",
      args,
      args_hash: hash(call),
      payload: null,
    } as const;
    load.tell({ type: "call.prepared", call, preparation });
  }, "guarded");

/** Of a request with one call that waits: all that it adds to the snapshot. */
const parked = (park: (load: Load, call: string) => void, tool: string): number => {
  const load = Load.open();
  return each(load, 1000, (i) => {
    const request = `request-${10_000 + i}`;
    load.submit(request, tool);
    park(load, `${request}:c1`);
  });
};
