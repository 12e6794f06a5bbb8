/** The child's side of a test process: reports `loaded`, follows its order, and reports its memory. */
import type { Order } from "./order.ts";

/** Reports live memory, without garbage and without V8's empty pages. */
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
