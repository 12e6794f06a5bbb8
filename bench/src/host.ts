/**
 * The WebSocket host with 64 connections, compared with the same calls inside its process. Reported without a bound.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, openRuntime } from "@pawl/driver-node";
import { Client } from "@pawl/driver-node/client";
import { defineTool } from "@pawl/runtime";
import type { Figure, Measurement } from "./figure.ts";

const connections = 64;
const callsEach = 10;

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const calls = [{ label: "c", tool: "echo", args: { text: "hello" } }];

type Call = (request: string) => Promise<unknown>;

/** Runs callers in parallel, each with one call after the other. Returns each call's time and the total. */
const load = async (
  callers: readonly Call[],
  round: string,
): Promise<{ readonly us: number; readonly p99: number }> => {
  const times: number[] = [];
  const start = performance.now();
  await Promise.all(
    callers.map(async (call) => {
      for (let i = 0; i < callsEach; i++) {
        const from = performance.now();
        await call(`${round}-${i}`);
        times.push((performance.now() - from) * 1000);
      }
    }),
  );
  const us = ((performance.now() - start) * 1000) / times.length;
  return { us, p99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0 };
};

const openWorld = async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-host-"));
  const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [echo] });
  const host = await openHost({ runtime, secrets: [new Uint8Array(32).fill(5)] });
  const token = host.sign({ by: "bench", scopes: ["session:"], rights: ["call"], expires_at: Date.now() + 3_600_000 });
  const clients = Array.from({ length: connections }, () => new Client({ url: host.url, token }));
  const remote = clients.map(
    (client, i): Call =>
      (request) =>
        client.session(`remote-${i}`).request(request, calls),
  );
  const local = await Promise.all(
    clients.map(async (_, i): Promise<Call> => {
      const session = await runtime.session(`local-${i}`);
      return (request) => session.request(request, calls);
    }),
  );
  const end = async (): Promise<void> => {
    for (const client of clients) client.close();
    await host.close();
    close();
    rmSync(folder, { recursive: true });
  };
  return { remote, local, end };
};

let world: ReturnType<typeof openWorld> | undefined;
let rounds = 0;
const measured = async (of: "us" | "p99"): Promise<Measurement> => {
  world ??= openWorld();
  const { remote, local } = await world;
  rounds += 1;
  const value = await load(remote, `r${rounds}`);
  const floor = await load(local, `r${rounds}`);
  return { value: value[of], floor: floor[of] };
};
const close = (): void => {
  void world?.then(({ end }) => end());
  world = undefined;
};

export const hostFigures: readonly Figure[] = [
  {
    name: "host.call",
    what: "one of 64 connections' calls, relative to the same call in the host's process (a million by it: calls a second)",
    unit: "us",
    bound: Infinity,
    round: () => measured("us"),
    close,
  },
  {
    name: "host.p99",
    what: "the slowest hundredth of these calls, from the question to its acknowledged replies",
    unit: "us",
    bound: Infinity,
    round: () => measured("p99"),
    close,
  },
];
