/**
 * What reading a log costs beside the engine's own parse of its lines. It is measured in a thread, which has an engine
 * to itself: what the engine has learnt from other figures, and what they keep alive, tells nothing of this one.
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
    what: "a line of a log of durable steps read and replayed, beside JSON.parse of it",
    unit: "us",
    bound: 3,
    round,
  },
];
