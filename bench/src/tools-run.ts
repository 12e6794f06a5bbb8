/** Delay of the host's event loop while a thousand background runs report. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { openRuntime } from "@pawl/driver-node";
import { type Runtime, defineTool } from "@pawl/runtime";
import type { Figure, Measurement } from "./figure.ts";
import { folder } from "./node-world.ts";

const sessions = 200;
const runsEach = 5;
const reportEveryMs = 100;
const watchedMs = 10_000;
const allowedMs = 50;

/** A run that reports its progress ten times a second until it is told to end. */
const reporting = (isOver: () => boolean) =>
  defineTool({
    name: "report",
    idempotent: true,
    execute: async () => "in the background only",
    background: async (_, __, sink) => {
      await pause(Math.random() * reportEveryMs);
      for (let current = 0; !isOver(); current++) {
        await sink.progress({ current, total: 1000, unit: "items", label: "at work" });
        await pause(reportEveryMs);
      }
      return { summary: "done", result: null };
    },
  });

const startAll = async ({ background }: Runtime): Promise<void> => {
  for (let s = 0; s < sessions; s++) {
    const asked = Array.from({ length: runsEach }, () => background.spawn(`s${s}`, { tool: "report", args: {} }));
    for (const answer of await Promise.all(asked)) if (answer.status === "refused") throw new Error(answer.message);
  }
  while (background.places.active < sessions * runsEach) await pause(10);
  await pause(2 * reportEveryMs);
};

/** Returns the delay of the event loop in milliseconds. */
const delayMs = async (): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await pause(watchedMs);
  delay.disable();
  return delay.percentile(99) / 1e6;
};

const round = async (): Promise<Measurement> => {
  const at = folder();
  const state = { isOver: false };
  const { runtime, close } = openRuntime({
    file: join(at, "journal.db"),
    tools: [reporting(() => state.isOver)],
    host: { artifacts: async () => undefined },
    background: { workerRuns: sessions * runsEach },
  });
  try {
    await startAll(runtime);
    return { value: await delayMs(), floor: allowedMs };
  } finally {
    state.isOver = true;
    await close();
    rmSync(at, { recursive: true });
  }
};

export const toolFigures: readonly Figure[] = [
  {
    name: "tools.runs",
    what: `p99 delay of the event loop, ${sessions * runsEach} background runs in ${sessions} sessions at 10 Hz, to ${allowedMs} ms`,
    unit: "ms",
    bound: 1,
    rounds: 1,
    round,
  },
];
