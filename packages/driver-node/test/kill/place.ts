/** The current address of a run's host. Clients wait while it has none. */
import { type Claims, signToken } from "../../src/index.ts";
import { Client } from "@pawl/wire";
import { hostSecret } from "./order.ts";

const everything: Claims = {
  by: "ann",
  scopes: [""],
  rights: ["call", "resolve", "approve", "observe", "execute"],
  expires_at: 4_000_000_000_000,
};
export const hostToken = signToken([hostSecret], everything);

/** Stands for the host's current address. */
const home = "ws://here";

export class Place {
  #url: string | undefined;
  #waiting: (() => void)[] = [];
  readonly #clients: Client[] = [];

  moveTo(url: string | undefined): void {
    this.#url = url;
    if (url === undefined) return;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Clients ask for a token on each connection, and are kept waiting here. */
  async #token(): Promise<string> {
    while (this.#url === undefined) await new Promise<void>((go) => this.#waiting.push(go));
    return hostToken;
  }

  client(): Client {
    const here = (): string => this.#url ?? "ws://127.0.0.1:9";
    class Socket extends WebSocket {
      constructor(url: string) {
        super(url === home ? here() : url); // Any other address is one that a host named.
      }
    }
    const backoff = { minMs: 2, maxMs: 20 };
    const client = new Client({
      url: home,
      token: () => this.#token(),
      socket: Socket,
      backoff,
      follow: () => hostToken,
    });
    this.#clients.push(client);
    return client;
  }

  /** Disconnects all clients, so that they look for the host again. */
  reconnect(): void {
    for (const client of this.#clients) client.reconnect();
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}
