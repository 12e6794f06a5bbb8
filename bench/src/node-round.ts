/** The rounds of the figures `node.*`. Each runs in a process of `node-process.ts`. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { type Session, type ToolDefinition, defineTool } from "@pawl/runtime";
import type { Measurement } from "./figure.ts";
import { parkedMb, wakeP99 } from "./node-parked.ts";
import { type World, callOf, folder, openWorld, spentUs, stepOf, stepping } from "./node-world.ts";

const steps = 10;
const rerunnable = stepping({ name: "work", durable: true });
const ownerBound = stepping({ name: "bound", recovery: "owner_bound" });

const inWorld = async <A>(run: (world: World) => Promise<A>, tools = [rerunnable, ownerBound]): Promise<A> => {
  const world = openWorld(tools);
  try {
    return await run(world);
  } finally {
    await world.close();
  }
};

/** Alternates a call with as many inserts as it has steps. */
const sequence = (tool: string) => (): Promise<Measurement> =>
  inWorld(async ({ runtime, floor }) => {
    const session = await runtime.session("bench");
    const calls = 100;
    let [value, floorUs] = [0, 0];
    for (let i = 0; i < calls; i++) {
      value += await spentUs(() => callOf(session, steps, tool));
      floorUs += floor.insertsUs(steps);
    }
    return { value: value / (calls * steps), floor: floorUs / (calls * steps) };
  });

const commits = (tool: string) => (): Promise<Measurement> =>
  inWorld(async ({ runtime }) => {
    const session = await runtime.session("bench");
    const calls = 20;
    await callOf(session, steps, tool);
    const before = runtime.commits;
    for (let i = 0; i < calls; i++) await callOf(session, steps, tool);
    return { value: (runtime.commits - before) / calls, floor: 1 };
  });

const atOnce = 32;
const crowd = 200;

/** Runs `crowd` calls, `atOnce` sessions at a time, then the floor of the same work. */
const concurrent = (floorOf: (world: World) => number) => (): Promise<Measurement> =>
  inWorld(async (world) => {
    const sessions = await Promise.all(Array.from({ length: atOnce }, (_, i) => world.runtime.session(`s${i}`)));
    let left = crowd;
    const lane = async (session: Session): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await callOf(session, steps);
      }
    };
    const value = await spentUs(() => Promise.all(sessions.map(lane)));
    return { value: value / (crowd * steps), floor: floorOf(world) / (crowd * steps) };
  });

/** One row for each step and scope, and one for the call's end. */
const groupFloor = ({ floor }: World): number => floor.groupsUs(((steps + 1) * crowd) / atOnce, atOnce);
const insertFloor = ({ floor }: World): number => floor.insertsUs(steps * crowd);

const long = 10_000;
const part = 1000;

const longCall = (): Promise<Measurement> => {
  const marks: number[] = [];
  const tool = stepping({ durable: true }, () => void marks.push(performance.now()));
  return inWorld(
    async ({ runtime }) => {
      await callOf(await runtime.session("bench"), long);
      const spent = (from: number): number => (((marks[from + part - 1] ?? 0) - (marks[from] ?? 0)) * 1000) / part;
      return { value: spent(long - part), floor: spent(0) };
    },
    [tool],
  );
};

const medianOf = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

const oneStep = (tool: string) => (): Promise<Measurement> =>
  inWorld(async ({ runtime, floor }) => {
    const session = await runtime.session("bench");
    const [values, floors]: [number[], number[]] = [[], []];
    for (let i = 0; i < 200; i++) {
      values.push(await spentUs(() => callOf(session, 1, tool)));
      floors.push(floor.insertsUs(1));
    }
    return { value: medianOf(values), floor: medianOf(floors) };
  });

const recorded = 1000;

/**
 * One life of a session whose body has recorded this many steps: returns the milliseconds until it continues and hangs
 * in a step.
 */
const lifeOf = async (file: string, steps_: number): Promise<number> => {
  const opened = Promise.withResolvers<number>();
  let start = 0;
  const tool = stepping({ durable: true }, (n) => {
    if (n === steps_ - 1) opened.resolve(performance.now() - start);
    return n < steps_ ? undefined : new Promise<never>(() => undefined);
  });
  const { runtime, close } = openRuntime({ file, tools: [tool] });
  start = performance.now();
  const session = await runtime.session("bench");
  void session.request("r", [{ label: "c", tool: "work", args: { steps: long } }]).catch(() => undefined);
  const ms = await opened.promise;
  await new Promise((resolve) => setTimeout(resolve, 20));
  await close();
  return ms;
};

/** Milliseconds until a killed body continues after reopening. */
const resume = async (): Promise<Measurement> => {
  const at = folder();
  const file = join(at, "journal.db");
  await lifeOf(file, recorded);
  const times: number[] = [];
  for (let i = 1; i <= 9; i++) times.push(await lifeOf(file, recorded + i));
  rmSync(at, { recursive: true });
  return { value: medianOf(times), floor: 1 };
};

/** A body that has recorded as many steps, and asks a person again and again by way of another tool. */
const asking = (heard: () => void): readonly ToolDefinition[] => [
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      for (let n = 0; n < recorded; n++) await stepOf(ctx, n);
      for (let n = 0; ; n++) {
        await ctx.callAll([{ label: "x", tool: "asks", args: {} }]);
        await ctx.run(`heard-${n}`, heard);
      }
    },
  }),
  defineTool({ name: "asks", durable: true, execute: (_, ctx) => ctx.waitFor("answer", { for: "call" }) }),
];

/** Resolves once no body of the session is in memory. */
const asleep = async (session: Session): Promise<void> => {
  while (session.state.calls.rows().some(({ phase }) => phase !== "suspended"))
    await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Returns the milliseconds from opening a session whose loop waits for a batch to the loop's next step, once answered. */
const answeredLife = async (file: string): Promise<number> => {
  const answered = Promise.withResolvers<number>();
  let start = Infinity;
  const tools = asking(() => answered.resolve(performance.now() - start));
  const { runtime, close } = openRuntime({ file, tools, patience: { suspendMs: 20 } });
  start = performance.now();
  const session = await runtime.session("bench");
  void session.request("r", [{ label: "c", tool: "work", args: {} }]).catch(() => undefined);
  const [wait] = session.state.waits.rows().filter(({ waiters }) => waiters.length > 0);
  if (wait !== undefined) await session.resolveById(wait.key, { status: "ok", payload: 1 }, "bench");
  const ms = wait === undefined ? 0 : await answered.promise;
  await new Promise((resolve) => setTimeout(resolve, 50));
  await asleep(session);
  await close();
  return ms;
};

/** Alternates with bodies that resume after a crash, with as many records. */
const resumeBatch = async (): Promise<Measurement> => {
  const at = folder();
  const [loop, plain] = [join(at, "loop.db"), join(at, "plain.db")];
  await answeredLife(loop);
  await lifeOf(plain, recorded);
  const [values, floors]: [number[], number[]] = [[], []];
  for (let i = 1; i <= 9; i++) {
    values.push(await answeredLife(loop));
    floors.push(await lifeOf(plain, recorded + i));
  }
  rmSync(at, { recursive: true });
  return { value: medianOf(values), floor: medianOf(floors) };
};

export const rounds: { readonly [name: string]: () => Promise<Measurement> } = {
  "node.seq": sequence("work"),
  "node.seq_bound": sequence("bound"),
  "node.commits": commits("work"),
  "node.commits_bound": commits("bound"),
  "node.conc": concurrent(insertFloor),
  "node.group": concurrent(groupFloor),
  "node.long": longCall,
  "node.call": oneStep("work"),
  "node.call_bound": oneStep("bound"),
  "node.resume": resume,
  "node.resume_batch": resumeBatch,
  "node.parked": parkedMb,
  "node.wake": wakeP99,
};
