/** The tab's end of a session that moves: a runtime on IndexedDB, and a client of the host that receives. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import { Client, moverOver } from "@pawl/driver-browser/client";
import { Refused, ScopeLost, ScopeMoved } from "@pawl/runtime";
import { eventLine } from "@pawl/sansio-core";
import type { FromMover, ToMover } from "./move-message.ts";
import { walkTool } from "./walk.ts";
import { messageOf } from "./message-of.ts";

const port = globalThis as unknown as Worker;
const tell = (message: FromMover): void => port.postMessage(message, []);
const fault = (thrown: unknown): void => tell({ type: "fault", message: messageOf(thrown) });

/** What whoever waits for a reply here is told when the session leaves, or has left. */
const leaves = [ScopeLost, ScopeMoved, Refused];

type Opening = Extract<ToMover, { readonly type: "open" }>;

class TabEnd {
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

  /** Tells of the log here, from its first event on, until it is told to begin again. */
  async follow(): Promise<void> {
    this.#following?.abort();
    const { signal } = (this.#following = new AbortController());
    for await (const recorded of this.#tab.follow(`session:${this.#session}`, 0, signal)) {
      tell({ type: "lines", lines: [{ seq: recorded.seq, line: eventLine(recorded) }] });
      if (recorded.event.type === "scope.moved") tell({ type: "gone" });
    }
  }

  /** Where the session leaves it is answered there. */
  async walk(): Promise<void> {
    const runtime = await this.#tab.runtime();
    try {
      const session = await runtime.session(this.#session);
      await session.call("walk-1", [{ id: "walk", tool: "walk", args: {} }]);
    } catch (thrown) {
      if (!leaves.some((kind) => thrown instanceof kind)) throw thrown;
    }
  }

  async move(): Promise<void> {
    const runtime = await this.#tab.runtime();
    await runtime.move(`session:${this.#session}`, this.#host);
  }

  /** Where sessions come to this tab, over the connection that it has. Of the tabs of a browser, the one that writes. */
  async receive(): Promise<string> {
    const { moves } = await this.#tab.runtime();
    return this.#client.receive(this.#store, () => moves.arrivals);
  }

  async bringBack(): Promise<void> {
    await this.#client.session(this.#session).move(await this.receive());
    tell({ type: "back" });
  }
}

const open = async (opening: Opening): Promise<TabEnd> => {
  const client = new Client(opening);
  const tab = await openTab({
    name: "pawl-demo-move",
    tools: [walkTool("tab")],
    mover: () => moverOver(client),
    host: { fault: (what, thrown) => fault(`${what}: ${String(thrown)}`) },
  });
  const end = new TabEnd(tab, client, opening);
  void tab.runtime().then(() => tell({ type: "writing" }), fault);
  void end.receive().catch(fault); // A move that was under way when the page was left goes on.
  return end;
};

let end: Promise<TabEnd> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToMover>) => {
  if (data.type === "open") {
    end = open(data);
    end.then((opened) => opened.follow()).catch(fault);
  } else end?.then((opened) => opened[data.type]()).catch(fault);
});
