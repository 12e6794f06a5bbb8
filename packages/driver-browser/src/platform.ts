/** The clocks, timers and turns of a browser, in a tab or in a worker. */
import type { Platform } from "@pawl/runtime";
import { hashText } from "@pawl/tool-value";

/** The longest that a timer can be set for; a longer one rings early, and is set again. */
const longestTimerMs = 2 ** 31 - 1;

const turns: (() => void)[] = [];
const { port1, port2 } = new MessageChannel();
port1.addEventListener("message", () => turns.shift()?.());
port1.start();

/** A message is a turn of its own, and comes at once; timers of a tab in the background come once a second. */
const nextTurn = (then: () => void): void => {
  turns.push(then);
  port2.postMessage(undefined);
};

export const browserPlatform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  nextTurn,
  hashText,
  later: (ms, then) => {
    const timer = setTimeout(then, Math.min(ms, longestTimerMs));
    return () => clearTimeout(timer);
  },
};
