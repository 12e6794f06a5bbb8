/** Listens to notifications over a connection of its own, and connects again when it breaks. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import type { Listening } from "./database.ts";

/** The pauses between tries: the first, and the longest. */
const pauses = { firstMs: 100, longestMs: 5000 };

/** Serves one connection until it ends or the signal aborts. */
const serve = async (
  config: ClientConfig,
  channels: readonly string[],
  on: Listening,
  over: AbortSignal,
): Promise<void> => {
  const client = new Client(config);
  const ended = Promise.withResolvers<void>();
  const end = (): void => ended.resolve();
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ channel, payload = "" }) => on.heard(channel, payload));
  over.addEventListener("abort", end, { once: true });
  try {
    await client.connect();
    for (const channel of channels) await client.query(`LISTEN ${channel}`);
    on.connected();
    await ended.promise;
  } finally {
    over.removeEventListener("abort", end);
    await client.end().catch(() => undefined); // The connection broke before.
  }
};

/** Listens until the function that it returns is called. */
export const listening = (config: ClientConfig, channels: readonly string[], on: Listening): (() => void) => {
  const over = new AbortController();
  const run = async (): Promise<void> => {
    for (let pause = pauses.firstMs; !over.signal.aborted; pause = Math.min(2 * pause, pauses.longestMs)) {
      const from = performance.now();
      await serve(config, channels, on, over.signal).catch(() => undefined); // Tried again; polling goes on meanwhile.
      if (performance.now() - from > pauses.longestMs) pause = pauses.firstMs;
      await sleep(pause * (0.5 + Math.random()), undefined, { signal: over.signal, ref: false }).catch(() => undefined); // Stopped.
    }
  };
  void run();
  return () => over.abort();
};
