/** A host over a journal file, in a process that a test starts and kills. It reports `loaded`, then its address. */
import { join } from "node:path";
import { flushCompileCache } from "node:module";
import { type Log, Runtime } from "@pawl/runtime";
import { nodePlatform, openHost } from "../../src/index.ts";
import { archivedJournal } from "./archive.ts";
import { Effects } from "./effects.ts";
import { Fates, fatedJournal } from "./fate.ts";
import { journalOf } from "./journal.ts";
import { type Order, hostSecret, roots } from "./order.ts";
import { obey, sayUp } from "./parent.ts";
import { toolsOf } from "./tools.ts";

const patience = Array.from({ length: 1000 }, () => 0);

const live = async (order: Order): Promise<void> => {
  const {
    folder,
    instance,
    fate,
    leaseMs,
    limits = {},
    bounds = {},
    snapshots = false,
    retention = false,
    slowMs = 2,
  } = order;
  const fates = new Fates(fate, join(folder, "fates.txt"));
  const stored = fatedJournal(journalOf(order), fates);
  const journal = retention ? archivedJournal(stored, folder) : stored;
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools: toolsOf({ effects: new Effects(folder), fates, instance, slowMs }),
    instance,
    roots,
    bounds,
    options: { resumePausesMs: patience, crashPausesMs: [], maxCrashes: 10_000 }, // Dying before each new record is not a crash loop here.
    ...(snapshots ? { snapshotAfter: 2000 } : {}),
    ...(retention ? { retention: { olderThanMs: 0 } } : {}),
    ...(leaseMs === undefined ? {} : { lease: { ttlMs: leaseMs } }),
  });
  const log: Log = ({ name, level, thrown }) => {
    if (level === "error") console.error(instance, name, thrown);
  };
  const isAlone = order.postgres === undefined; // Then agents use one address, whichever process is there.
  if (isAlone) runtime.announce = async () => undefined;
  const host = await openHost({ runtime, secrets: [hostSecret], limits, log });
  sayUp(host.url);
};

flushCompileCache();
obey(live);
