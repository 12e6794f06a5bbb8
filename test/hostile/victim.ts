/** A host under attack, in a process of its own. What it says is wrong with itself goes into `errors.txt`. */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { JournalFileError, inWorker, nodePlatform, openHost, sqliteJournal } from "@pawl/driver-node";
import { type Log, Runtime, type ToolDefinition, defineTool } from "@pawl/runtime";
import { sessionTools, webFetch } from "@pawl/tools";
import { DiskFiles, nodeWeb } from "@pawl/tools/node";
import { Effects } from "../../packages/driver-node/test/kill/effects.ts";
import { type Order, hostSecret, roots } from "../../packages/driver-node/test/kill/order.ts";
import { obey, sayUp } from "../../packages/driver-node/test/kill/parent.ts";
import { builtinTool } from "../../packages/tools/src/session/builtin.ts";
import { clockFile, followClock } from "./fake-clock.ts";
import type { VictimOrder } from "./order.ts";

/** Fetches from the attackers' own server on this machine, which the guard allows here. */
const local = { ...webFetch(nodeWeb({ allow: (address) => address === "127.0.0.1" })), name: "fetch_local" };

/** Bodies that loop for ever, or eat memory. */
const bombs = import.meta.resolve("../../packages/driver-node/test/isolate/bodies.ts");

const toolsOf = (effects: Effects, instance: string): readonly ToolDefinition[] => [
  defineTool({ name: "echo", durable: true, execute: (args) => args }),
  defineTool<{ readonly value: number }>({
    name: "count",
    durable: true,
    execute: ({ value }, ctx) =>
      ctx.run(
        "told",
        () => {
          effects.tell({ scope: ctx.session, call: String(value), key: "told", instance, at: Date.now() });
          return value;
        },
        { input: { value } },
      ),
  }),
  defineTool({
    name: "strict",
    inputSchema: { type: "object", properties: { text: { type: "string", pattern: "^(\\w+\\s?)*$" } } },
    execute: () => "fits",
  }),
  defineTool<{ readonly ms: number }>({
    name: "nap",
    durable: true,
    execute: async ({ ms }, ctx) => {
      await ctx.sleep(ms);
      return "rested";
    },
  }),
  defineTool({ name: "slow", execute: () => pause(20, "slow") }),
  defineTool<{ readonly text: string }>({
    name: "attach",
    durable: true,
    execute: async ({ text }, ctx) =>
      ctx.attachments.put(new TextEncoder().encode(text), { media_type: { kind: "file", type: "text/plain" } }),
  }),
  ...["loops", "grows", "buffers"].map((body) =>
    defineTool({ name: body, execute: inWorker({ module: bombs, body, timeMs: 2000, memoryMb: 64 }) }),
  ),
  defineTool({
    name: "remote",
    clientSide: true,
    durable: true,
    execute: () => {
      throw new Error("a client_side tool runs elsewhere");
    },
  }),
];

const live = async (told: Order): Promise<void> => {
  const { folder, instance, leaseMs = 30_000, maxBytes }: VictimOrder = told;
  if (existsSync(join(folder, clockFile))) followClock(join(folder, clockFile));
  mkdirSync(join(folder, "files"), { recursive: true });
  const files = await DiskFiles.open(join(folder, "files"));
  const report = (what: string, thrown: unknown): void =>
    appendFileSync(join(folder, "errors.txt"), `${instance} ${what} ${inspect(thrown).replaceAll("\n", " ")}\n`);
  const log: Log = ({ name, level, thrown }) => {
    if (level === "error") report(name, thrown);
  };
  const web = nodeWeb();
  const { tools, host } = sessionTools({
    files: () => files,
    web,
    tools: [...toolsOf(new Effects(folder), instance), builtinTool(local, () => files, Date.now)],
  });
  const journal = sqliteJournal(join(folder, "journal.db"), {
    busyMs: 20_000,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const runtime = new Runtime({
    journal,
    platform: nodePlatform,
    tools,
    instance,
    roots,
    lease: { ttlMs: leaseMs },
    host: { ...host, internalError: report },
    log,
  });
  const { url } = await openHost({ runtime, secrets: [hostSecret], log });
  sayUp(url);
};

/** Leaves without a word where its file is refused by name: files are damaged on purpose. */
const begin = (order: Order): Promise<void> =>
  live(order).catch((thrown: unknown) => {
    if (!(thrown instanceof JournalFileError)) throw thrown;
    process.exit(3);
  });

obey(begin);
