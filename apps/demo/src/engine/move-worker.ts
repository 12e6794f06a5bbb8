/** The worker of the scene "Move it": a runtime on IndexedDB, and a client of the host that receives the session. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import { Client, moverOver } from "@pawl/driver-browser/client";
import { Refused, ScopeLost, ScopeMoved } from "@pawl/runtime";
import { eventLine } from "@pawl/sansio-core";
import { type FromMover, type ToMover, messageOf } from "./message.ts";
import { walkTool } from "./walk.ts";

const port = globalThis as unknown as Worker;
const send = (message: FromMover): void => port.postMessage(message, []);
const fault = (thrown: unknown): void => send({ type: "fault", message: messageOf(thrown) });

/** The errors of a pending call when the session leaves, or has left. */
const leavingErrors = [ScopeLost, ScopeMoved, Refused];

type Opening = Extract<ToMover, { readonly type: "open" }>;

class MovingSession {
  readonly #tab: OpenTab;
  readonly #session: string;
  readonly #client: Client;
  readonly #host: string;
  readonly #store: string;
  #following: AbortController | undefined;

  constructor(tab: OpenTab, client: Client, { session, url, store }: Opening) {
    this.#tab = tab;
    this.#client = client;
    this.#session = session;
    this.#host = url;
    this.#store = store;
  }

  /** Sends the log from its first event on, until it is called again. */
  async follow(): Promise<void> {
    this.#following?.abort();
    const { signal } = (this.#following = new AbortController());
    for await (const recorded of this.#tab.follow(`session:${this.#session}`, 0, signal)) {
      send({ type: "lines", lines: [{ seq: recorded.seq, line: eventLine(recorded) }] });
      if (recorded.event.type === "scope.moved") send({ type: "gone" });
    }
  }

  /** Starts the walk. If the session leaves, the call is answered there. */
  async walk(): Promise<void> {
    const runtime = await this.#tab.runtime();
    try {
      const session = await runtime.session(this.#session);
      await session.request("walk-1", [{ label: "walk", tool: "walk", args: {} }]);
    } catch (thrown) {
      if (!leavingErrors.some((kind) => thrown instanceof kind)) throw thrown;
    }
  }

  async move(): Promise<void> {
    const runtime = await this.#tab.runtime();
    await runtime.move(`session:${this.#session}`, this.#host);
  }

  /** Registers this tab as a receiver, if it is the one that writes; resolves with the address to move sessions to. */
  async receive(): Promise<string> {
    const { moves } = await this.#tab.runtime();
    return this.#client.receive(this.#store, () => moves.arrivals);
  }

  async bringBack(): Promise<void> {
    await this.#client.session(this.#session).move(await this.receive());
    send({ type: "back" });
  }
}

const open = async (opening: Opening): Promise<MovingSession> => {
  const client = new Client(opening);
  const tab = await openTab({
    name: "pawl-demo-move",
    tools: [walkTool("tab")],
    mover: () => moverOver(client),
    host: { fault: (what, thrown) => fault(`${what}: ${String(thrown)}`) },
  });
  const moving = new MovingSession(tab, client, opening);
  void tab.runtime().then(() => send({ type: "writing" }), fault);
  void moving.receive().catch(fault); // A move that was under way when the page was left continues.
  return moving;
};

let moving: Promise<MovingSession> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToMover>) => {
  if (data.type === "open") {
    moving = open(data);
    moving.then((opened) => opened.follow()).catch(fault);
  } else moving?.then((opened) => opened[data.type]()).catch(fault);
});
