/** Where the host of a run is to be found just now: clients wait while it is nowhere. */
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

export class Place {
  #url: string | undefined;
  #waiting: (() => void)[] = [];
  readonly #clients: Client[] = [];

  moveTo(url: string | undefined): void {
    this.#url = url;
    if (url === undefined) return;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** A client asks for its token on each connection, and is kept waiting here. */
  async #token(): Promise<string> {
    while (this.#url === undefined) await new Promise<void>((go) => this.#waiting.push(go));
    return hostToken;
  }

  client(): Client {
    const here = (): string => this.#url ?? "ws://127.0.0.1:9";
    class Socket extends WebSocket {
      constructor() {
        super(here());
      }
    }
    const backoff = { minMs: 2, maxMs: 20 };
    const client = new Client({ url: "ws://here", token: () => this.#token(), socket: Socket, backoff });
    this.#clients.push(client);
    return client;
  }

  /** All clients leave where they are, and look where the host is now. */
  reconnect(): void {
    for (const client of this.#clients) client.reconnect();
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}
