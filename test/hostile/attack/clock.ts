/** Clocks that jump by up to ten days, from one host to the next and while one works. */
import { setTimeout as pause } from "node:timers/promises";
import type { Siege } from "../siege.ts";

const dayMs = 86_400_000;
const within = 20_000;

/**
 * Kills hosts whose clocks are days apart while sessions sleep, and lets the clocks jump under them. All sessions wake, each once,
 * when a host has the right clock.
 */
export const jumpClocks = async (siege: Siege): Promise<void> => {
  const aheadOf = (): number => siege.random.below(20 * dayMs) - 10 * dayMs;
  await siege.start({ aheadMs: aheadOf(), leaseMs: 3000 });
  const sessions = Array.from({ length: 6 }, (_, n) => `nap${n}`);
  const ask = (): Promise<string[]> => {
    const client = siege.client();
    return Promise.all(
      sessions.map((session, n) =>
        client
          .session(session)
          .request("r", [{ label: "c", tool: "nap", args: { ms: 50 + 100 * n } }])
          .then(([reply]) => String(reply?.output.outcome.payload), String),
      ),
    );
  };
  for (let n = 0; n < 3; n += 1) {
    void ask();
    for (let jump = siege.random.below(3); jump > 0; jump -= 1) {
      await pause(50 + siege.random.below(150));
      siege.setClock(aheadOf());
    }
    await pause(100 + siege.random.below(300));
    await siege.kill();
    await siege.start({ aheadMs: n === 2 ? 0 : aheadOf(), leaseMs: 3000 });
  }
  const begunAt = performance.now();
  const rested = await Promise.race([ask(), pause(within, undefined)]);
  const ms = Math.round(performance.now() - begunAt);
  for (const [n, session] of sessions.entries())
    siege.try(
      rested?.[n] === "rested" ? undefined : `${session} lay still for ${ms} ms: ${rested?.[n] ?? "no answer"}`,
    );
};
