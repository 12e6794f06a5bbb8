/**
 * A rolling deploy: the hosts of a fleet are replaced one after the other while clients work with them through a load balancer
 * that asks for readiness. No client sees an error, and every step is done once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { connect, createServer, type Socket } from "node:net";
import { defineTool, type ToolDefinition } from "@pawl/runtime";
import { Client } from "@pawl/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasServer, type TestServer, testServer } from "../../../journal-postgres/test/server.ts";
import { type Host, openHost, openRuntime, type OpenRuntime } from "../../src/index.ts";
import { until } from "../until.ts";
import { everything, secret } from "./rig.ts";

interface Place extends OpenRuntime {
  readonly host: Host;
}

/** Sends each connection to the next host that is ready, and asks again where none is. */
class LoadBalancer {
  readonly #server = createServer((socket) => void this.#serve(socket));
  readonly #sockets = new Set<Socket>();
  #turn = 0;
  places: readonly Place[] = [];

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const at = this.#server.address();
    return `ws://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}`;
  }

  async #next(): Promise<number> {
    for (;;) {
      for (let tries = this.places.length; tries > 0; tries--) {
        const host = this.places[(this.#turn += 1) % this.places.length]?.host;
        const ready = host && (await fetch(`${host.url.replace("ws", "http")}/v1/ready`).catch(() => undefined));
        if (host !== undefined && ready?.status === 200) return host.port;
      }
      await pause(5);
    }
  }

  async #serve(socket: Socket): Promise<void> {
    socket.on("error", () => socket.destroy());
    const inner = connect(await this.#next(), "127.0.0.1");
    inner.on("error", () => socket.destroy());
    for (const one of [socket, inner]) {
      this.#sockets.add(one);
      one.on("close", () => this.#sockets.delete(one));
    }
    socket.pipe(inner).pipe(socket);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Stops a host as a deploy does. */
const stop = async ({ runtime, host, close }: Place): Promise<void> => {
  await runtime.drain(20_000);
  await host.close();
  await close();
};

describe.runIf(hasServer)("a rolling deploy of a fleet on PostgreSQL", () => {
  let server: TestServer;
  beforeAll(async () => void (server = await testServer()));
  afterAll(async () => await server.remove());

  it("fails no call, doubles no step, and lets no client see an error", async () => {
    const done: string[] = [];
    const works = defineTool<{ readonly name: string }>({
      name: "works",
      durable: true,
      execute: async ({ name }, ctx) => {
        for (let step = 0; step < 3; step++)
          await ctx.run(`step ${step}`, async () => (await pause(5), done.push(`${name} ${step}`)), {
            recovery: "once",
          });
        return name;
      },
    });
    const start = async (): Promise<Place> => {
      const tools: readonly ToolDefinition[] = [works];
      const open = openRuntime({ postgres: server.url, tools, lease: { ttlMs: 60_000 }, log: () => undefined });
      const host = await openHost({ runtime: open.runtime, secrets: [secret], forwards: true, log: () => undefined });
      return { ...open, host };
    };
    const balancer = new LoadBalancer();
    const first = await start();
    balancer.places = [first, await start(), await start()];
    const url = await balancer.open();
    const token = first.host.sign(everything);
    const over = new AbortController();
    let calls = 0;
    const agent = async (n: number): Promise<void> => {
      const client = new Client({ url, token, backoff: { minMs: 5, maxMs: 50 } });
      for (let turn = 0; !over.signal.aborted; turn++) {
        const name = `${n}.${turn}`;
        const session = client.session(`s${(n + turn) % 7}`);
        const replies = await session.request(name, [{ label: "c", tool: "works", args: { name } }]);
        expect(replies[0]?.output.outcome).toMatchObject({ status: "success", payload: name });
        calls += 1;
      }
      client.close();
    };
    const agents = Promise.all(Array.from({ length: 5 }, (_, n) => agent(n)));
    for (const old of balancer.places) {
      const before = calls;
      await Promise.race([until(() => calls >= before + 10), agents]);
      balancer.places = [...balancer.places.filter((place) => place !== old), await start()];
      await stop(old);
    }
    const before = calls;
    await Promise.race([until(() => calls >= before + 10), agents]);
    over.abort();
    await agents;
    await Promise.all(balancer.places.map(stop));
    balancer.close();
    expect(done.toSorted()).toEqual([...new Set(done)].toSorted());
    expect(done).toHaveLength(3 * calls);
  }, 60_000);
});
