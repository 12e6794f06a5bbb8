/** What a client keeps of scopes that live elsewhere, after many have come and gone. */
import { describe, expect, it } from "vitest";
import { Following } from "../src/client/scope-router.ts";
import { Line } from "../src/client/connection.ts";
import type { SocketConstructor, SocketLike } from "../src/client/socket.ts";
import { Whereabouts } from "../src/client/scope-addresses.ts";

const [near, far] = ["ws://near", "ws://far"] as const;
const bounds = { heartbeat_ms: 60_000, max_message_bytes: 1000, max_in_flight: 9, expires_at: 4_000_000_000_000 };

type Listener = (event: never) => void;

/** Two hosts: all scopes live with the far one, until its connections are ended. */
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

const followingOver = (socket: SocketConstructor): Following => {
  const options = { url: near, token: "t", socket, backoff: { minMs: 1, maxMs: 1 }, follow: [far] };
  const home = new Line(options, { opened: ignored, heard: ignored, ended: ignored, goesOn: () => false });
  return new Following(options, home);
};

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `session:${i}`);

describe("a client that follows", () => {
  it("knows where scopes live as long as it is connected there, and asks home again afterwards", async () => {
    const { socket, asked, dropFar } = hosts();
    const following = followingOver(socket);
    const ask = (scope: string) => following.ask({ type: "acknowledge", scope, request: "r" });
    for (const scope of names(50)) await ask(scope);
    expect(following.known).toBe(50);
    dropFar();
    expect(following.known).toBe(0);
    asked.length = 0;
    await ask("session:7");
    expect([asked, following.known]).toEqual([[near, far], 1]);
  });

  it("knows so many that it asked for last, however many there are", () => {
    const at = new Whereabouts(100);
    for (const scope of names(1000)) {
      at.found(scope, far);
      expect(at.of("session:0")).toBe(far);
    }
    expect(at.size).toBe(100);
    expect([at.of("session:999"), at.of("session:901"), at.of("session:900")]).toEqual([far, far, undefined]);
    at.forget("session:999");
    at.leave(near);
    expect(at.size).toBe(99);
    at.leave(far);
    expect(at.size).toBe(0);
  });
});
