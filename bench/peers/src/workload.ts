/** The workloads. Each system is measured in the same way, beside a floor of the same moment. */
import { readFileSync } from "node:fs";
import { Floor } from "../../src/node-floor.ts";
import { type Sizes, type System, collect, pause, usualSizes } from "./system.ts";

export interface Measured {
  /** Inserts per second, each committed, into a new SQLite file: ten after each call of ten steps. */
  readonly floor: number;
  /** Steps per second of these calls, relative to the floor. */
  readonly ofFloor: number;
  /** Steps per second. */
  readonly sequence: number;
  readonly crowd: number;
  readonly long: number;
  /** Milliseconds of a call of one step. */
  readonly p50: number;
  readonly p99: number;
  readonly resume?: number;
  /** Kilobytes that a parked run adds, in all processes together. */
  readonly parked?: number;
  /** Sizes that differ from the usual ones. */
  readonly sizes: Partial<Sizes>;
}

const stepsEach = 10;
const atOnce = 32;
const resumptions = 5;
/** Rounds of each rate: in a single one a checkpoint or a snapshot would count fully or not at all. */
const rounds = 3;
/** A process's memory varies this much by itself. */
const leastMb = 1;

const quantile = (times: readonly number[], q: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? Number.NaN;
export const median = (times: readonly number[]): number => quantile(times, 0.5);

const spentMs = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** Returns steps per second of a number of calls in parallel lanes. */
const rate = async ({ run }: System, calls: number, lanes: number): Promise<number> => {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await run(stepsEach);
    }
  };
  const ms = await spentMs(() => Promise.all(Array.from({ length: Math.min(lanes, calls) }, lane)));
  return (calls * stepsEach * 1000) / ms;
};

/** Runs calls one at a time, each followed by as many inserts as it has steps. */
const inTurns = async (
  { run }: System,
  calls: number,
  folder: string,
): Promise<Pick<Measured, "floor" | "ofFloor">> => {
  const floor = new Floor(folder);
  let [ms, floorMs] = [0, 0];
  for (let i = 0; i < calls; i++) {
    ms += await spentMs(() => run(stepsEach));
    floorMs += floor.insertsUs(stepsEach) / 1000;
  }
  floor.close();
  return { floor: (calls * stepsEach * 1000) / floorMs, ofFloor: floorMs / ms };
};

/** Returns "" if the process has ended. */
const mapsOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return "";
    throw thrown;
  }
};

/** Returns a process's proportional memory: its own, and its share of what it shares. */
const pssMb = (pid: number): number => {
  const line = /^Pss:\s+(?<kb>\d+)/m.exec(mapsOf(pid));
  return Number(line?.groups?.["kb"] ?? 0) / 1024;
};

const memoryMb = async ({ pids = [] }: System): Promise<number> => {
  for (let i = 0; i < 5; i++) {
    collect();
    await pause(200);
  }
  return [process.pid, ...pids].map(pssMb).reduce((a, b) => a + b);
};

const parkedKb = async (system: System, { warm, parked }: Sizes): Promise<number | undefined> => {
  if (system.park === undefined) return undefined;
  await system.park(warm);
  const before = await memoryMb(system);
  await system.park(parked);
  const grown = (await memoryMb(system)) - before;
  return (Math.max(grown, leastMb) * 1024) / parked;
};

const resumeMs = async ({ resume }: System, { recorded }: Sizes): Promise<number | undefined> => {
  if (resume === undefined) return undefined;
  const times: number[] = [];
  for (let i = 0; i < resumptions; i++) times.push(await resume(recorded));
  return median(times);
};

/** Time of warming up with the same work, since services run for long. */
const warmMs = 10_000;

const warmUp = async (system: System, { sequence, crowd }: Sizes): Promise<void> => {
  const until = performance.now() + warmMs;
  do {
    for (let i = 0; i < 20; i++) await system.run(1);
    await rate(system, sequence, 1);
    await rate(system, crowd, atOnce);
  } while (performance.now() < until);
};

export const measure = async (system: System, folder: string): Promise<Measured> => {
  const sizes = { ...usualSizes, ...system.sizes };
  await warmUp(system, sizes);
  const beside = await inTurns(system, rounds * sizes.sequence, folder);
  const sequence = await rate(system, rounds * sizes.sequence, 1);
  const crowd = await rate(system, rounds * sizes.crowd, atOnce);
  const long = (sizes.long * 1000) / (await spentMs(() => system.run(sizes.long)));
  const times: number[] = [];
  for (let i = 0; i < sizes.single; i++) times.push(await spentMs(() => system.run(1)));
  const [p50, p99] = [median(times), quantile(times, 0.99)];
  const resume = await resumeMs(system, sizes);
  const parked = await parkedKb(system, sizes);
  return {
    ...beside,
    sequence,
    crowd,
    long,
    p50,
    p99,
    ...(resume === undefined ? {} : { resume }),
    ...(parked === undefined ? {} : { parked }),
    sizes: system.sizes ?? {},
  };
};
