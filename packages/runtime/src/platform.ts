/** What the interpreter needs of the platform that it runs on. Nothing else of it is used. */
export interface Platform {
  /** Wall clock, in milliseconds. */
  readonly now: () => number;
  /** Milliseconds that only grow, for what has elapsed. */
  readonly monotonic: () => number;
  /** Calls back after so many milliseconds, unless it is called off. */
  readonly later: (ms: number, then: () => void) => () => void;
  /** Calls back in a turn of its own, after all that is ready now has run. */
  readonly nextTurn: (then: () => void) => void;
  /** As `nextTurn`, for one that follows on this: what else is ready may wait for a few of them. */
  readonly followingTurn?: ((then: () => void) => void) | undefined;
  /** Calls back in this turn, when the promises that it resolved have been heard; no platform has to be able to. */
  readonly afterTurn?: ((then: () => void) => void) | undefined;
  /** The lowercase hex SHA-256 of a text's UTF-8: `hashText` of `@pawl/tool-value`, or the platform's own. */
  readonly hashText: (text: string) => string;
}

/** What falls due so soon may be due by the time of the next event. */
export const soonMs = 10;

/** Turns of pages and workers: each is a message, which comes at once where timers of a tab in the background do not. */
const turns: (() => void)[] = [];

const openBell = () => {
  const channel = new MessageChannel();
  channel.port1.addEventListener("message", () => turns.shift()?.());
  channel.port1.start();
  return channel;
};

/** Opened by the first turn: an open channel would keep a server alive that only imports this. */
let bell: ReturnType<typeof openBell> | undefined;

/** Calls back in a turn of its own, after what is ready now: messages and frames come between. */
export const messageTurn = (then: () => void): void => {
  turns.push(then);
  bell ??= openBell();
  bell.port2.postMessage(undefined);
};
