/**
 * Cost of reading a log, relative to the engine's own parse of its lines. Measured in a thread with an engine of its
 * own, so that other figures' compiled code and live objects do not matter.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Figure, Measurement } from "./figure.ts";

let thread: Worker | undefined;

const round = async (): Promise<Measurement> => {
  thread ??= new Worker(new URL("replay-thread.ts", import.meta.url));
  thread.ref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage("round");
  const [measurement] = (await once(thread, "message")) as [Measurement];
  thread.unref();
  return measurement;
};

export const replayFigures: readonly Figure[] = [
  {
    name: "core.replay",
    what: "a line of a log of durable steps read and replayed, relative to JSON.parse of it",
    unit: "us",
    bound: 3,
    round,
  },
];
