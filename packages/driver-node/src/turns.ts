/**
 * Turns in a row. An immediate that stands ready comes 0.1 us after the one before; one that is asked for meanwhile comes
 * with the next round of the loop, 0.8 us later.
 */
const readyAtOnce = 8;

const asked: (() => void)[] = [];
let ready = 0;

const come = (): void => {
  ready -= 1;
  asked.shift()?.();
};

export const followingTurn = (then: () => void): void => {
  asked.push(then);
  if (ready < asked.length) for (; ready < readyAtOnce; ready++) setImmediate(come);
};
