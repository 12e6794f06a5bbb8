const turns: (() => void)[] = [];
/** Opened by the first turn: whoever only imports this is not kept alive by it. */
let bell: MessageChannel | undefined;

const openBell = (): MessageChannel => {
  const channel = new MessageChannel();
  channel.port1.addEventListener("message", () => turns.shift()?.());
  channel.port1.start();
  return channel;
};

/** A turn of its own, after what is ready now: messages and frames come between. */
export const nextTurn = (then: () => void): void => {
  turns.push(then);
  bell ??= openBell();
  bell.port2.postMessage(undefined);
};
