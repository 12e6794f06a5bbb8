import { type HostPort, Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { ClientOptions } from "@pawl/wire";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "../../src/index.ts";
import { clientOf, everything, hostOf, roots, runtimeOf } from "./rig.ts";
import { counted, echo, outside, payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const ok = (payload: unknown) => ({ status: "ok", payload: payload as never }) as const;

describe("a client", () => {
  it("gets the replies of a call although its connection broke several times", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool]);
    const client = clientOf(host);
    const session = client.session("s");
    const replies = session.request("r", use("outside"));
    await until(() => tokens.length === 1);
    for (let i = 0; i < 3; i++) {
      client.reconnect();
      await until(() => client.isConnected);
    }
    client.reconnect();
    expect(await session.resolve(tokens[0] ?? "", ok(1))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([1]);
    expect(tokens).toHaveLength(1);
  });

  it("continues with another host over the same store after the first was closed", async () => {
    const { tool, tokens } = outside();
    const runtime = runtimeOf([tool, echo]);
    const first = await hostOf([], { runtime });
    const client = clientOf(first);
    const session = client.session("s");
    const replies = session.request("r", use("outside"));
    await until(() => tokens.length === 1);
    await first.close();
    await until(() => !client.isConnected);
    await hostOf([], { runtime, port: first.port });
    expect(await session.resolve(tokens[0] ?? "", ok(2))).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([2]);
  });

  it("is told what its request has triggered, with the replies, also over a reconnection and when it asks again", async () => {
    const host: HostPort = {
      request: async (_name, input) => {
        const { idempotency_key: key } = input as { readonly idempotency_key: string };
        return { occurrence_id: `of ${key}`, started_process_ids: [] };
      },
    };
    const outer = Promise.withResolvers<void>();
    const trigger = { sourceType: "test", sourceKey: "k", payload: {}, idempotencyKey: "one" };
    const emits = defineTool({
      name: "emits",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.triggers.emit(trigger);
        await outer.promise;
      },
    });
    const runtime = new Runtime({
      journal: memoryJournal(),
      platform: nodePlatform,
      tools: [emits, echo],
      instance: "i",
      roots,
      host,
    });
    const client = clientOf(await hostOf([], { runtime }));
    const session = client.session("s");
    const replies = session.request("r", use("emits"), { keep: true });
    await until(() => client.isConnected);
    client.reconnect();
    outer.resolve();
    const triggered = [expect.objectContaining({ occurrence_id: "of one" })];
    expect((await replies).triggers).toEqual(triggered);
    expect((await session.replies("r")).triggers).toEqual(triggered);
    expect("triggers" in (await session.request("r2", use("echo")))).toBe(false);
  });

  it("observes each event once and in order, over reconnections", async () => {
    const host = await hostOf([echo]);
    const client = clientOf(host);
    const session = client.session("s");
    const observation = session.observe({ window: 4 });
    const calls = (async () => {
      for (let i = 0; i < 10; i++) {
        await session.request(`r${i}`, use("echo"));
        client.reconnect();
      }
    })();
    const cursors: number[] = [];
    let acked = 0;
    for await (const { cursor, event } of observation) {
      cursors.push(cursor);
      if (event.type === "reply.acked") acked += 1;
      if (acked === 10) break;
    }
    await calls;
    expect(cursors).toEqual(cursors.map((_, i) => i + 1));
  });

  it("gets no more than its window ahead of its reader", async () => {
    const host = await hostOf([echo]);
    const client = clientOf(host);
    const session = client.session("s");
    for (let i = 0; i < 5; i++) await session.request(`r${i}`, use("echo"));
    const observation = session.observe({ window: 3 });
    await until(() => observation.cursor === 3);
    await session.request("more", use("echo"));
    expect(observation.cursor).toBe(3);
    for (let i = 0; i < 3; i++) await observation.next();
    await until(() => observation.cursor > 3);
    await observation.return();
  });

  it("reconnects if its hello was late, as after a machine's sleep", async () => {
    const host = await hostOf([echo], { limits: { helloMs: 200 } });
    let sockets = 0;
    class Late extends WebSocket {
      readonly #isLate = (sockets += 1) === 1;
      override send(data: string): void {
        if (!this.#isLate) super.send(data);
      }
    }
    const client = clientOf(host, {}, { socket: Late });
    expect(payloads(await client.session("s").request("r", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    expect(sockets).toBeGreaterThan(1);
  });

  it("reconnects if a refused socket reports only an error, as in Node 22", async () => {
    const host = await hostOf([echo]);
    let sockets = 0;
    class Silent extends EventTarget {
      readonly readyState = 0;
      constructor() {
        super();
        queueMicrotask(() => this.dispatchEvent(new Event("error")));
      }
      send(): void {}
      close(): void {}
    }
    const socket = function connect(url: string) {
      sockets += 1;
      return sockets < 3 ? new Silent() : new WebSocket(url);
    } as unknown as NonNullable<ClientOptions["socket"]>;
    const client = clientOf(host, {}, { socket });
    expect(payloads(await client.session("s").request("r", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    expect(sockets).toBe(3);
  });

  it("gives up if it can never be admitted, and gets a new token if that may help", async () => {
    const host = await hostOf([echo]);
    const refused = clientOf(host, {}, { token: "bad" });
    await expect(refused.session("s").open()).rejects.toMatchObject({ code: "unauthorized" });
    let tokens = 0;
    const token = (): string => {
      tokens += 1;
      return host.sign({ ...everything, expires_at: Date.now() + 100 });
    };
    const renewing = clientOf(host, {}, { token });
    await host.runtime.session("s");
    await renewing.session("s").open();
    await until(() => tokens > 1);
    expect(payloads(await renewing.session("s").request("r", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    renewing.close();
    await expect(renewing.session("s").open()).rejects.toMatchObject({ code: "client_closed" });
  });

  it("leaves on its signal: the call continues, and its replies are kept", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool], { limits: { maxInFlight: 1 } });
    const client = clientOf(host);
    const session = client.session("s");
    const leaving = new AbortController();
    const call = session.request("r", use("outside"), { signal: leaving.signal });
    await until(() => tokens.length === 1);
    leaving.abort();
    const gone = {
      name: "HostRefused",
      code: "waiter_gone",
      message: "the wait for request `r` was aborted; its calls go on",
    };
    await expect(call).rejects.toMatchObject(gone);
    expect(await session.resolve(tokens[0] ?? "", ok(1))).toEqual({ status: "accepted" }); // The host has room again.
    const at = await host.runtime.session("s");
    await until(() => at.state.requests.at("r")?.phase === "replying");
    await expect(session.replies("r", { signal: AbortSignal.abort() })).rejects.toMatchObject(gone);
    expect(payloads(await session.replies("r"))).toEqual([1]);
    expect(tokens).toHaveLength(1);
  });

  it("leaves at once without a connection, and its call starts when there is one", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool], { limits: { maxInFlight: 1 } });
    const token = Promise.withResolvers<string>();
    const session = clientOf(host, {}, { token: () => token.promise }).session("s");
    const signal = AbortSignal.timeout(5);
    await expect(session.request("r", use("outside"), { signal })).rejects.toMatchObject({ code: "waiter_gone" });
    await expect(session.request("r2", use("outside"), { signal })).rejects.toMatchObject({ code: "waiter_gone" });
    token.resolve(host.sign(everything));
    await until(() => tokens.length === 2);
    expect(await session.resolve(tokens[0] ?? "", ok(1))).toEqual({ status: "accepted" });
  });

  it("is told of a cursor that the log does not have", async () => {
    const host = await hostOf([echo]);
    await host.runtime.session("s");
    const observation = clientOf(host).session("s").observe({ after: 1000 });
    await expect(observation.next()).rejects.toMatchObject({ code: "cursor_ahead" });
  });

  it("does not run a call twice when it is submitted again and again", async () => {
    const { tool, ran } = counted();
    const host = await hostOf([tool]);
    const client = clientOf(host);
    for (let i = 0; i < 5; i++) {
      const replies = client.session("s").request("r", use("counted"));
      client.reconnect();
      expect(payloads(await replies)).toEqual([1]);
    }
    expect(ran).toHaveLength(1);
  });
});
