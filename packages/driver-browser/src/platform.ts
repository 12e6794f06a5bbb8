/** The clocks, timers and turns of a browser, in a tab or in a worker. */
import type { Platform } from "@pawl/runtime";
import { hashText } from "@pawl/tool-value";

/** The longest that a timer can be set for; a longer one rings early, and is set again. */
const longestTimerMs = 2 ** 31 - 1;

const turns: (() => void)[] = [];
/** Opened by the first turn: an open channel would keep a server alive that only imports this. */
let bell: MessageChannel | undefined;

const openBell = (): MessageChannel => {
  const channel = new MessageChannel();
  channel.port1.addEventListener("message", () => turns.shift()?.());
  channel.port1.start();
  return channel;
};

/** A message is a turn of its own, and comes at once; timers of a tab in the background come once a second. */
const nextTurn = (then: () => void): void => {
  turns.push(then);
  bell ??= openBell();
  bell.port2.postMessage(undefined);
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
