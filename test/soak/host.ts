/** A host with every feature, in a process of its own: tools, background work, flows, retention, a lease. */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { HostFlows, nodePlatform, openHost, sqliteJournal } from "@pawl/driver-node";
import * as f from "@pawl/flow";
import { type Log, Runtime } from "@pawl/runtime";
import { sessionTools } from "@pawl/tools";
import { DiskFiles } from "@pawl/tools/node";
import { archivedJournal } from "../../packages/driver-node/test/kill/archive.ts";
import { Effects } from "../../packages/driver-node/test/kill/effects.ts";
import { Fates } from "../../packages/driver-node/test/kill/fate.ts";
import { type Order, hostSecret, roots } from "../../packages/driver-node/test/kill/order.ts";
import { obey, sayUp } from "../../packages/driver-node/test/kill/parent.ts";
import { toolsOf } from "../../packages/driver-node/test/kill/tools.ts";
import { soakTools } from "./tools.ts";

/** Short, so that an hour shows whether storage stays constant. */
const retention = { olderThanMs: 20_000 };
const snapshotAfter = 16_384;

const walk = f.flow("Walk", [f.each("n", "$items", [f.use("turn", "$n")]), f.back("$turn_result")]);

const filesIn = async (folder: string) => {
  mkdirSync(join(folder, "files"), { recursive: true });
  return DiskFiles.open(join(folder, "files"));
};

const live = async ({ folder, instance }: Order): Promise<void> => {
  const effects = new Effects(folder);
  const fates = new Fates(undefined, "");
  const files = await filesIn(folder);
  const flows = new HostFlows({ flows: { walk: { program: walk, parameters: ["items"] } } });
  const { tools, host } = sessionTools({
    files: () => files,
    tools: [...toolsOf({ effects, fates, instance, slowMs: 2 }), ...soakTools({ effects, instance })],
  });
  const report = (what: string, thrown: unknown): void =>
    appendFileSync(join(folder, "errors.txt"), `${instance} ${what} ${inspect(thrown)}\n`);
  const log: Log = ({ name, level, thrown }) => {
    if (level === "error") report(name, thrown);
  };
  const runtime = new Runtime({
    journal: archivedJournal(sqliteJournal(join(folder, "journal.db"), { busyMs: 20_000 }), folder),
    platform: nodePlatform,
    tools,
    instance,
    roots,
    lease: { ttlMs: 30_000 },
    retention,
    snapshotAfter,
    options: { minIntervalS: 1, maxRunAttempts: 100 },
    host: {
      ...host,
      internalError: report,
      flow: { observe: flows.observe },
      tell: async ({ schedule, key }) => appendFileSync(join(folder, "told.txt"), `${schedule ?? ""}\t${key}\n`),
    },
    log,
  });
  const { url } = await openHost({ runtime, secrets: [hostSecret], flows, log });
  sayUp(url);
};

obey(live);
