/** The memory of a client for scopes that live elsewhere is bounded. */
import { describe, expect, it } from "vitest";
import { Connection } from "../src/client/connection.ts";
import type { SocketConstructor, SocketLike } from "../src/client/reconnecting-socket.ts";
import { ScopeAddresses, ScopeRouter } from "../src/client/scope-router.ts";

const [near, far] = ["ws://near", "ws://far"] as const;
const bounds = { heartbeat_ms: 60_000, max_message_bytes: 1000, max_in_flight: 9, expires_at: 4_000_000_000_000 };

type Listener = (event: never) => void;

/** Two hosts. All scopes live with the far one. */
const hosts = () => {
  const open: Socket[] = [];
  const asked: string[] = [];
  class Socket implements SocketLike {
    readonly readyState = 1;
    readonly url: string;
    readonly #listeners = new Map<string, Listener>();

    constructor(url: string) {
      this.url = url;
      open.push(this);
      queueMicrotask(() => this.#tell("open", {}));
    }
    addEventListener = (type: string, listener: Listener): void => void this.#listeners.set(type, listener);
    close = (): void => undefined;
    send = (text: string): void => {
      const { type, id } = JSON.parse(text) as { readonly type: string; readonly id: number };
      const elsewhere = { type: "error", id, code: "owned_by", message: "not here", address: far };
      if (type === "hello") return this.#say({ type: "welcome", protocol: 1, by: "ann", ...bounds });
      asked.push(this.url);
      return this.#say(this.url === near ? elsewhere : { type: "done", id });
    };
    #say(frame: object): void {
      queueMicrotask(() => this.#tell("message", { data: JSON.stringify(frame) }));
    }
    #tell(type: string, event: object): void {
      this.#listeners.get(type)?.(event as never);
    }
    drop(): void {
      this.#tell("close", { code: 1006, reason: "" });
    }
  }
  const dropFar = (): void => {
    for (const socket of open) if (socket.url === far) socket.drop();
  };
  return { socket: Socket as unknown as SocketConstructor, asked, dropFar };
};

const ignored = (): undefined => undefined;

const routerOver = (socket: SocketConstructor): ScopeRouter => {
  const options = { url: near, token: "t", socket, backoff: { minMs: 1, maxMs: 1 }, follow: [far] };
  const home = new Connection(options, { opened: ignored, received: ignored, ended: ignored, continues: () => false });
  return new ScopeRouter(options, home);
};

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `session:${i}`);

describe("a client that follows redirects", () => {
  it("remembers where scopes live while it is connected there, and asks home again afterwards", async () => {
    const { socket, asked, dropFar } = hosts();
    const router = routerOver(socket);
    const ask = (scope: string) => router.ask({ type: "acknowledge", scope, request: "r" });
    for (const scope of names(50)) await ask(scope);
    expect(router.known).toBe(50);
    dropFar();
    expect(router.known).toBe(0);
    asked.length = 0;
    await ask("session:7");
    expect([asked, router.known]).toEqual([[near, far], 1]);
  });

  it("remembers the scopes that it used last, up to the capacity", () => {
    const addresses = new ScopeAddresses(100);
    for (const scope of names(1000)) {
      addresses.set(scope, far);
      expect(addresses.get("session:0")).toBe(far);
    }
    expect(addresses.size).toBe(100);
    const found = ["session:999", "session:901", "session:900"].map((scope) => addresses.get(scope));
    expect(found).toEqual([far, far, undefined]);
    addresses.delete("session:999");
    addresses.deleteAllAt(near);
    expect(addresses.size).toBe(99);
    addresses.deleteAllAt(far);
    expect(addresses.size).toBe(0);
  });
});
