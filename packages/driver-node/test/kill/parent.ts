/** The child's side of a test process: reports `loaded`, follows its order, and reports its memory. */
import type { Order } from "./order.ts";

/** Reports live memory, without garbage and without V8's empty pages. */
const weigh = (): void => {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ type: "weighs", heap: heapUsed, resident: rss });
};

/** Milliseconds of processor time that this thread has taken. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/**
 * Watches how long this thread works at a stretch, in its own processor time: what other processes of the machine take is
 * not counted. Returns a function that ends the watch, and says the longest stretch and all time.
 */
const watchTurns = (): (() => { readonly longest: number; readonly spent: number }) => {
  const begunAt = cpuMs();
  let [last, longest] = [begunAt, 0];
  const look = (): void => {
    const now = cpuMs();
    [last, longest] = [now, Math.max(longest, now - last)];
  };
  const beat = setInterval(look, 1);
  return () => {
    look();
    clearInterval(beat);
    return { longest, spent: last - begunAt };
  };
};

export const sayUp = (url: string): void => void process.send?.({ type: "up", url });

export const obey = (live: (order: Order) => Promise<void>): void => {
  let endWatch: ReturnType<typeof watchTurns> | undefined;
  process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
  process.on("message", (told: Order | "weigh" | "watch") => {
    if (told === "weigh") weigh();
    else if (told === "watch") {
      process.send?.({ type: "watched", ...endWatch?.() });
      endWatch = endWatch === undefined ? watchTurns() : undefined;
    } else void live(told);
  });
  process.send?.({ type: "loaded" });
};
