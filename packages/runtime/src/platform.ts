/** The port of the platform, which each driver fills. */
import type { Slices } from "@pawl/tool-value";

/** Runs work in a captured async context. */
export type InContext = <A>(work: () => A) => A;

/** Async contexts of the platform, in which programs keep what belongs to a request: `AsyncLocalStorage` of Node. */
export interface AsyncContexts {
  /** Captures the context of its caller. */
  readonly capture: () => InContext;
  /** Has nothing of any request. */
  readonly root: InContext;
}

/** Clocks, timers, a hash and contexts. The interpreter uses nothing else of a platform. */
export interface Platform {
  /** Wall clock, in milliseconds. */
  readonly now: () => number;
  /** Milliseconds that only grow, for what has elapsed. */
  readonly monotonic: () => number;
  /** Calls back after some milliseconds, unless the returned function is called. */
  readonly later: (ms: number, then: () => void) => () => void;
  /** Calls back in a later turn of the event loop, after everything that is ready now. */
  readonly nextTurn: (then: () => void) => void;
  /** Works as `nextTurn`, for a turn that continues this one: other ready work may wait for a few of them. */
  readonly followingTurn?: ((then: () => void) => void) | undefined;
  /** Calls back in this turn, after the reactions to promises that it resolved. Optional. */
  readonly afterTurn?: ((then: () => void) => void) | undefined;
  /** Returns the SHA-256 of a text's UTF-8 in lowercase hex: `hashText` of `@pawl/tool-value`, or the platform's own. */
  readonly hashText: (text: string) => string;
  /** Left out where the platform cannot capture a context: bodies then run in whichever one is there. */
  readonly contexts?: AsyncContexts | undefined;
}

type Turns = Pick<Platform, "nextTurn">;

/** Resolves in a later turn of the event loop. */
export const turnOf = ({ nextTurn }: Turns): Promise<void> => new Promise((go) => nextTurn(go));

/** Does sliced work: at once where it is one slice, else with others served between two slices. */
export const inTurns = <A>(slices: Slices<A>, turns: Turns): A | Promise<A> => {
  const { done, value } = slices.next();
  return done === true ? value : goneOn(slices, turns);
};

const goneOn = async <A>(slices: Slices<A>, turns: Turns): Promise<A> => {
  for (;;) {
    await turnOf(turns);
    const { done, value } = slices.next();
    if (done === true) return value;
  }
};

/** Runs work in the context that is there. */
export const anyContext: InContext = (work) => work();

/** Deadlines this near may have passed by the next event. */
export const soonMs = 10;

/** Queued turns. Each is a message: in a background tab messages arrive at once, and timers do not. */
const turns: (() => void)[] = [];

const openBell = () => {
  const channel = new MessageChannel();
  channel.port1.addEventListener("message", () => turns.shift()?.());
  channel.port1.start();
  return channel;
};

/** Opened by the first turn: an open channel would keep a server alive that merely imports this file. */
let bell: ReturnType<typeof openBell> | undefined;

/** Calls back in a later turn, after everything that is ready now; messages and frames come between. */
export const messageTurn = (then: () => void): void => {
  turns.push(then);
  bell ??= openBell();
  bell.port2.postMessage(undefined);
};
