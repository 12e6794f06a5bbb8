const turns: (() => void)[] = [];
const { port1, port2 } = new MessageChannel();
port1.addEventListener("message", () => turns.shift()?.());
port1.start();

/** A turn of its own, after what is ready now: messages and frames come between. */
export const nextTurn = (then: () => void): void => {
  turns.push(then);
  port2.postMessage(undefined);
};
