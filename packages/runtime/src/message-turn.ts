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
