/**
 * The world outside of the hosts of a proof: a service in the process that kills them. It honours idempotency keys, as payment
 * services do, and notes everything that it is told.
 */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { json } from "node:stream/consumers";

/** Something that a host did or says. `charge` is done once for each key. */
export type Told =
  | { readonly type: "charge"; readonly who: string; readonly key: string }
  | { readonly type: "note"; readonly who: string; readonly text: string }
  | { readonly type: "reply"; readonly who: string; readonly outcome: unknown };

export interface Note {
  readonly who: string;
  readonly text: string;
  readonly at: number;
}

export class Service {
  readonly url: string;
  readonly #server: Server;
  readonly #charges = new Map<string, Set<string>>();
  readonly #replies = new Map<string, unknown>();
  readonly notes: Note[] = [];
  /** Called for each note before it is answered. */
  onNote: (note: Note) => void = () => undefined;
  /** Answers nothing while it is set: a host that asks waits. */
  isSilent = false;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(): Promise<Service> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const service = new Service(server);
    server.on("request", (request, response) => {
      void json(request).then((told) => {
        service.#take(told as Told);
        if (!service.isSilent) response.end();
      });
    });
    return service;
  }

  #take(told: Told): void {
    if (told.type === "charge") {
      const keys = this.#charges.get(told.who) ?? new Set();
      this.#charges.set(told.who, keys.add(told.key));
    } else if (told.type === "reply") this.#replies.set(told.who, told.outcome);
    else {
      const note = { who: told.who, text: told.text, at: performance.now() };
      this.notes.push(note);
      this.onNote(note);
    }
  }

  /** Counts what somebody was charged. */
  charges(who: string): number {
    return this.#charges.get(who)?.size ?? 0;
  }

  reply(who: string): unknown {
    return this.#replies.get(who);
  }
  get replied(): number {
    return this.#replies.size;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
