/** A socket to a host that never answers. */
import { afterEach, expect, it, vi } from "vitest";
import { ReconnectingSocket, greetingMs } from "../src/client/reconnecting-socket.ts";
import type { SocketConstructor, SocketLike } from "../src/client/reconnecting-socket.ts";

afterEach(() => void vi.useRealTimers());

type Listener = (event: never) => void;

/** A host that accepts a connection, or does not even do that, and never answers. */
const silent = (isReached: boolean) => {
  const said: string[] = [];
  let sockets = 0;
  class Socket implements SocketLike {
    readonly readyState = isReached ? 1 : 0;
    constructor() {
      sockets += 1;
    }
    addEventListener = (type: string, listener: Listener): void => {
      if (type === "open" && isReached) queueMicrotask(() => listener({} as never));
    };
    close = (): void => void said.push("closed");
    send = (text: string): void => void said.push((JSON.parse(text) as { readonly type: string }).type);
  }
  return { socket: Socket as unknown as SocketConstructor, said, count: () => sockets };
};

it.each([true, false])("it connects again if the host does not answer in time, reached: %s", async (is) => {
  vi.useFakeTimers();
  const { socket, said, count } = silent(is);
  const port = { opened: () => undefined, received: () => undefined, ended: () => undefined };
  const reconnecting = new ReconnectingSocket(
    { url: "ws://near", token: "t", socket, backoff: { minMs: 10, maxMs: 10 } },
    port,
  );
  await vi.advanceTimersByTimeAsync(greetingMs - 1);
  expect([count(), said]).toEqual([1, is ? ["hello"] : []]);
  await vi.advanceTimersByTimeAsync(11);
  expect([count(), said]).toEqual([2, is ? ["hello", "closed", "hello"] : ["closed"]]);
  reconnecting.close();
  await vi.advanceTimersByTimeAsync(greetingMs * 3);
  expect(count()).toBe(2);
  expect(vi.getTimerCount()).toBe(0);
});
