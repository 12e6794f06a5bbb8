/** A host over a journal file, as a process of its own that a test starts, and kills. It says `loaded`, then where it is. */
import { join } from "node:path";
import { flushCompileCache } from "node:module";
import { type Journal, type Log, Runtime } from "@pawl/runtime";
import { snapshot } from "@pawl/sansio-core";
import { type Json, stringify } from "@pawl/tool-value";
import { nodePlatform, openHost, sqliteJournal } from "../../src/index.ts";
import { Effects } from "./effects.ts";
import { Fates, fatedJournal } from "./fate.ts";
import { type Order, hostSecret } from "./order.ts";
import { toolsOf } from "./tools.ts";

const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };

/** Snapshots far more often than a runtime takes them: of one scope after the other. */
const takeSnapshots = (runtime: Runtime, journal: Journal, scopes: readonly string[]): void => {
  let turn = 0;
  const take = async (): Promise<void> => {
    const scope = scopes[turn++ % Math.max(1, scopes.length)];
    if (scope === undefined) return;
    const { runner } = await runtime.session(scope.replace("session:", ""));
    const { durable, epoch } = runner;
    if (!runner.isLost && durable.seq > 0)
      await journal.snapshot(scope, epoch, durable.seq, stringify(snapshot(durable) as Json));
  };
  setInterval(() => void take().catch(() => undefined), 15); // A scope may be lost, or another's.
};

const live = async (order: Order): Promise<void> => {
  const { folder, instance, commits, fate, leaseMs, limits = {}, snapshots = false, slowMs = 2 } = order;
  const fates = new Fates(fate, join(folder, "fates.txt"));
  const fated = fatedJournal(sqliteJournal(join(folder, "journal.db"), { commits, busyMs: 20_000 }), fates);
  const scopes: string[] = [];
  const claim: Journal["claim"] = (scope, ...asked) => (scopes.push(scope), fated.claim(scope, ...asked));
  const journal = { ...fated, claim };
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools: toolsOf({ effects: new Effects(folder), fates, instance, slowMs }),
    instance,
    roots,
    ...(leaseMs === undefined ? {} : { lease: { ttlMs: leaseMs } }),
  });
  const log: Log = ({ name, level, thrown }) => {
    if (level === "error") console.error(instance, name, thrown);
  };
  const host = await openHost({ runtime, secrets: [hostSecret], limits, log });
  if (snapshots) takeSnapshots(runtime, journal, scopes);
  process.send?.({ type: "up", url: host.url });
};

/** What is held, without what nobody refers to any more. */
const weigh = (): void => {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ type: "weighs", heap: heapUsed, resident: rss });
};

process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
process.on("message", (told: Order | "weigh") => {
  if (told === "weigh") weigh();
  else void live(told);
});
flushCompileCache();
process.send?.({ type: "loaded" });
