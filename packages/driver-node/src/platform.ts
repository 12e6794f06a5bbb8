/** Node's clocks, timers and turns of the event loop. */
import { AsyncResource } from "node:async_hooks";
import { hash } from "node:crypto";
import type { Platform } from "@pawl/runtime/driver";

const readyAtOnce = 8;

const queue: (() => void)[] = [];
let ready = 0;

const runNext = (): void => {
  ready -= 1;
  queue.shift()?.();
};

export const followingTurn = (then: () => void): void => {
  queue.push(then);
  if (ready < queue.length) for (; ready < readyAtOnce; ready++) setImmediate(runNext);
};

/** Maximum delay of a Node timer. A longer one fires early and is set again. */
const longestTimerMs = 2 ** 31 - 1;

/** Captures by a resource: `AsyncLocalStorage.snapshot` makes several functions, which takes 4 us of a call. */
const capture: NonNullable<Platform["contexts"]>["capture"] = () => {
  const resource = new AsyncResource("pawl");
  return (work) => resource.runInAsyncScope(work);
};

/** Gives a runtime the clocks, timers, turns and hashes of Node. */
export const nodePlatform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  nextTurn: (then) => void setImmediate(then),
  followingTurn,
  afterTurn: (then) => queueMicrotask(() => process.nextTick(then)), // `nextTick` runs once no microtask is left.
  hashText: (text) => hash("sha256", text),
  contexts: { capture, root: capture() },
  later: (ms, then) => {
    const timer = setTimeout(then, Math.min(ms, longestTimerMs));
    return () => clearTimeout(timer);
  },
};
