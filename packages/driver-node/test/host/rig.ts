/**
 * A host on loopback with a store that outlives it, and raw sockets and clients to it. All are closed at the end of a
 * test.
 */
import { Runtime, type ToolDefinition, memoryJournal } from "@pawl/runtime";
import { type ClientOptions as SocketOptions, WebSocket } from "ws";
import { afterEach } from "vitest";
import { Client, type ClientOptions } from "@pawl/wire";
import { type Claims, type Host, type HostOptions, nodePlatform, openHost } from "../../src/index.ts";

export const secret = new Uint8Array(32).fill(9);
export const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
export const everything: Claims = {
  by: "ann",
  scopes: [""],
  rights: ["call", "resolve", "approve", "observe", "execute"],
  expires_at: 4_000_000_000_000,
};

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

export const runtimeOf = (
  tools: readonly ToolDefinition[],
  journal = memoryJournal(),
  instance = "i1",
  executorLeaseMs = 30_000,
  blobChars = 65_536,
): Runtime => new Runtime({ journal, platform: nodePlatform, tools, instance, roots, executorLeaseMs, blobChars });

export const hostOf = async (
  tools: readonly ToolDefinition[],
  options: Partial<HostOptions> = {},
): Promise<Host & { readonly runtime: Runtime }> => {
  const runtime = options.runtime ?? runtimeOf(tools);
  const host = await openHost({ secrets: [secret], ...options, runtime });
  closings.push(() => host.close());
  return Object.assign(host, { runtime });
};

export const clientOf = (host: Host, claims: Partial<Claims> = {}, options: Partial<ClientOptions> = {}): Client => {
  const token = host.sign({ ...everything, ...claims });
  const client = new Client({ url: host.url, token, backoff: { minMs: 5, maxMs: 50 }, ...options });
  closings.push(() => client.close());
  return client;
};

type Said = { readonly type: string; readonly [field: string]: unknown };

/** A raw socket that records what it receives. */
export class Raw {
  readonly socket: WebSocket;
  readonly heard: Said[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #wake: (() => void)[] = [];

  constructor(url: string, options: SocketOptions = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on("error", () => undefined);
    this.socket.on("message", (data) => {
      this.heard.push(JSON.parse(String(data)) as Said);
      for (const wake of this.#wake.splice(0)) wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
    });
    closings.push(() => this.socket.terminate());
  }

  async open(): Promise<this> {
    await new Promise((resolve, reject) => this.socket.once("open", resolve).once("error", reject));
    return this;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  async until(is: (said: Said) => boolean): Promise<Said> {
    for (;;) {
      const found = this.heard.find(is);
      if (found !== undefined) return found;
      await new Promise<void>((wake) => this.#wake.push(wake));
    }
  }

  async ask(frame: { readonly id: number; readonly [field: string]: unknown }): Promise<Said> {
    this.send(frame);
    return this.until(({ id }) => id === frame.id);
  }
}

/** Opens a socket and completes its hello. */
export const greeted = async (host: Host, claims: Partial<Claims> = {}): Promise<Raw> => {
  const raw = await new Raw(host.url).open();
  raw.send({ type: "hello", protocol: 1, token: host.sign({ ...everything, ...claims }) });
  await raw.until(({ type }) => type === "welcome");
  return raw;
};
