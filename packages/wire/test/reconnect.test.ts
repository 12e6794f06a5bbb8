/** Subscriptions and receivers over reconnections. */
import { describe, expect, it, vi } from "vitest";
import { Client, type HostRefused } from "../src/client/client.ts";
import type { SocketConstructor, SocketLike } from "../src/client/reconnecting-socket.ts";

const bounds = { heartbeat_ms: 60_000, max_message_bytes: 1000, max_in_flight: 9, expires_at: 4_000_000_000_000 };
const welcome = { type: "welcome", protocol: 1, by: "ann", ...bounds };

interface Said {
  readonly type: string;
  readonly id: number;
  readonly [field: string]: unknown;
}
type Listener = (event: never) => void;

/** A host that answers each frame by `answers`, and records the questions of each connection. */
const hostOf = (answers: (said: Said) => readonly object[]) => {
  const asked: Said[][] = [];
  class Socket implements SocketLike {
    readonly readyState = 1;
    readonly #listeners = new Map<string, Listener>();
    readonly #asked: Said[] = [];
    constructor() {
      asked.push(this.#asked);
      queueMicrotask(() => this.#tell("open", {}));
    }
    addEventListener = (type: string, listener: Listener): void => void this.#listeners.set(type, listener);
    close = (): void => undefined;
    send = (text: string): void => {
      const said = JSON.parse(text) as Said;
      if (said.type !== "hello") this.#asked.push(said);
      const frames = said.type === "hello" ? [welcome] : answers(said);
      for (const frame of frames) queueMicrotask(() => this.#tell("message", { data: JSON.stringify(frame) }));
    };
    #tell(type: string, event: object): void {
      this.#listeners.get(type)?.(event as never);
    }
  }
  const socket = Socket as unknown as SocketConstructor;
  const client = new Client({ url: "ws://host", token: "t", socket, backoff: { minMs: 1, maxMs: 1 } });
  const again = async (): Promise<void> => {
    const before = asked.length;
    client.reconnect();
    await vi.waitFor(() => expect([asked.length, client.isConnected]).toEqual([before + 1, true]));
    await quiet();
  };
  return { client, asked, again };
};

const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const event = { type: "clock.ticked" };
const many = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Answers a subscription with one full window after its cursor. */
const fullWindow = ({ type, id, window, after, from }: Said): readonly object[] => {
  const count = many(Number(window));
  if (type === "observe") return count.map((n) => ({ type: "observed", id, cursor: Number(after) + n, at: 0, event }));
  if (type !== "watch") return [];
  const scope = "session:s";
  const seq = (from as { readonly seq: number } | undefined)?.seq ?? 0;
  const at = (n: number) => ({ scope, seq: seq + n, index: 0 });
  const watched = (n: number) => ({
    type: "watched",
    id,
    n,
    frame: { type: "gap", from: at(n - 1), to: at(n) },
  });
  return [{ type: "watching", id, cursor: at(0) }, ...count.map(watched)];
};

describe("a client that does not read", () => {
  it.each(["observe", "watch"] as const)("buffers one window, however often it reconnects: %s", async (how) => {
    const { client, asked, again } = hostOf(fullWindow);
    const session = client.session("s");
    const flow = how === "observe" ? session.observe({ window: 8 }) : session.watch({ window: 8 });
    await vi.waitFor(() => expect(client.isConnected).toBe(true));
    await quiet();
    for (let i = 0; i < 5; i++) await again();
    expect(asked.map((said) => said.map(({ type }) => type))).toEqual([[how], [], [], [], [], []]);
    for (let i = 0; i < 4; i++) await flow.next();
    expect(asked[5]?.map(({ type }) => type)).toEqual(["seen"]);
    await flow.next();
    expect(asked[5]?.map(({ type }) => type)).toEqual(["seen", how]); // It continues after what has arrived.
    await quiet();
    const cursors: unknown[] = [];
    for (let i = 0; i < 11; i++) {
      const { value } = await flow.next();
      cursors.push("cursor" in value ? value.cursor : value.to.seq);
    }
    expect(cursors).toEqual(many(16).slice(5));
    await flow.return();
    await again();
    expect(asked[6]).toEqual([]);
    client.close();
  });
});

describe("a receiver that is refused", () => {
  const refusal = { code: "permission_denied", message: "a right is missing" };
  const begin = async (isRefused: () => boolean) => {
    const host = hostOf(({ type, id }) => {
      if (type !== "receive") return [];
      return [isRefused() ? { type: "error", id, ...refusal } : { type: "receiving", id, address: "client:ann/x" }];
    });
    const refused: HostRefused[] = [];
    const receive = () =>
      host.client.receive("x", () => Promise.reject(new Error("never")), {
        refused: (error) => void refused.push(error),
      });
    return { ...host, refused, receive };
  };

  it("on a later connection is told each time", async () => {
    let isOver = false;
    const { client, again, refused, receive } = await begin(() => isOver);
    expect(await receive()).toBe("client:ann/x");
    isOver = true;
    await again();
    await again();
    expect(refused).toMatchObject([refusal, refusal]);
    isOver = false;
    await again();
    expect(refused).toHaveLength(2);
    client.close();
    expect(refused).toHaveLength(2);
  });

  it("at first rejects its promise, and is not registered on later connections", async () => {
    const { client, asked, again, refused, receive } = await begin(() => true);
    await expect(receive()).rejects.toMatchObject(refusal);
    await again();
    expect([asked[1], refused]).toEqual([[], []]);
    client.close();
  });

  it("under the name of an accepted receiver leaves that one registered", async () => {
    let isOver = false;
    const { client, asked, again, receive } = await begin(() => isOver);
    await receive();
    isOver = true;
    await expect(receive()).rejects.toMatchObject(refusal);
    await again();
    expect(asked[1]).toMatchObject([{ type: "receive", name: "x" }]);
    client.close();
  });

  it("is logged to the console if it has no callback", async () => {
    const shown = vi.spyOn(console, "error").mockImplementation(() => undefined);
    let isOver = false;
    const { client, again } = await begin(() => isOver);
    await client.receive("x", () => Promise.reject(new Error("never")));
    isOver = true;
    await again();
    expect(shown.mock.calls).toEqual([["pawl: receiver `x` was refused: permission_denied: a right is missing"]]);
    client.close();
    shown.mockRestore();
  });
});
