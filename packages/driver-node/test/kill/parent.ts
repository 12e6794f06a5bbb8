/** A process of the tests, from the inside: it says `loaded`, lives as it is told to, and says what it weighs. */
import type { Order } from "./order.ts";

/** What is held, without what nobody refers to any more, and without the pages that V8 has emptied and keeps. */
const weigh = (): void => {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ type: "weighs", heap: heapUsed, resident: rss });
};

export const sayUp = (url: string): void => void process.send?.({ type: "up", url });

export const obey = (live: (order: Order) => Promise<void>): void => {
  process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
  process.on("message", (told: Order | "weigh") => {
    if (told === "weigh") weigh();
    else void live(told);
  });
  process.send?.({ type: "loaded" });
};
