/** Costs of parked sessions: half of them wait for a pending completion, half in a suspended body. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openRuntime } from "@pawl/driver-node";
import { type Runtime, defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import type { Measurement } from "./figure.ts";
import { folder } from "./node-world.ts";

const warm = 10_000;
const parked = 100_000;
const atOnce = 50;
const woken = 500;

const completes = defineTool({ name: "completes", execute: (_, ctx) => (ctx.completionKey(), pending()) });
const waits = defineTool({ name: "waits", durable: true, execute: (_, ctx) => ctx.waitFor("go") });

setFlagsFromString("--expose-gc");
/** Collects garbage and returns the empty pages that V8 keeps. */
const collect = runInNewContext("gc") as (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const residentMb = async (): Promise<number> => {
  for (let i = 0; i < 5; i++) {
    collect({ type: "major", flavor: "last-resort" });
    await pause(100);
  }
  return process.memoryUsage().rss / 2 ** 20;
};

/** Parks the session and evicts it. */
const park = async (runtime: Runtime, n: number): Promise<void> => {
  const session = await runtime.session(`s${n}`);
  const tool = n % 2 === 0 ? "completes" : "waits";
  await session.report({ type: "request.submitted", request: "r", hash: "0", calls: [{ id: "c", tool, args: {} }] });
};

/** Resolves once all of them have left memory. */
const parkAll = async (runtime: Runtime, from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, to - at) }, (_, i) => park(runtime, at + i)));
    while (runtime.inMemory > 2 * atOnce) await pause(1);
  }
  while (runtime.inMemory > 0) await pause(5);
};

/** Returns the milliseconds from resolving a parked session's wait to its reply. */
const wakeMs = async (runtime: Runtime, n: number): Promise<number> => {
  const start = performance.now();
  const session = await runtime.session(`s${n}`);
  const [wait] = session.state.waits.rows();
  await session.resolveById(wait?.key ?? "", { status: "ok", payload: n }, "bench");
  const [reply] = await session.replies("r");
  if (reply?.output.outcome.payload !== n) throw new Error(`s${n} was not woken: ${JSON.stringify(reply)}`);
  return performance.now() - start;
};

interface Parked {
  readonly grownMb: number;
  readonly wakeP99Ms: number;
}

const run = async (): Promise<Parked> => {
  const at = folder();
  const linger = { ms: 0 };
  const patience = { suspendMs: 20 };
  const { runtime, close } = openRuntime({ file: join(at, "journal.db"), tools: [completes, waits], linger, patience });
  await parkAll(runtime, 0, warm);
  const before = await residentMb();
  await parkAll(runtime, warm, warm + parked);
  const grownMb = (await residentMb()) - before;
  const times: number[] = [];
  for (let i = 0; i < woken; i++) times.push(await wakeMs(runtime, warm + ((i * 7919) % parked)));
  const wakeP99Ms = times.toSorted((a, b) => a - b)[Math.floor(woken * 0.99)] as number;
  await close();
  rmSync(at, { recursive: true });
  return { grownMb, wakeP99Ms };
};

let once: Promise<Parked> | undefined;

export const parkedMb = async (): Promise<Measurement> => ({ value: (await (once ??= run())).grownMb, floor: 1 });
export const wakeP99 = async (): Promise<Measurement> => ({ value: (await (once ??= run())).wakeP99Ms, floor: 1 });
