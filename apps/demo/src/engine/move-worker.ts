/** The tab's end of a session that moves: a runtime on IndexedDB, a client of the host, and a box for mail. */
import { type OpenTab, openTab } from "@pawl/driver-browser";
import { Client, moverOver } from "@pawl/driver-browser/client";
import { Refused, type Runtime, ScopeLost } from "@pawl/runtime";
import { eventLine } from "@pawl/sansio-core";
import { type Json, describe, parse, read, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Mail, MailAnswerCodec, MailCodec } from "./mail.ts";
import type { FromMover, ToMover } from "./move-message.ts";
import { walkTool } from "./walk.ts";

const port = globalThis as unknown as Worker;
const tell = (message: FromMover): void => port.postMessage(message, []);
const fault = (thrown: unknown): void =>
  tell({ type: "fault", message: thrown instanceof Error ? thrown.message : String(thrown) });

const pauseMs = 1000;

class TabEnd {
  readonly #tab: OpenTab;
  readonly #session: string;
  readonly #address: string;
  #following: AbortController | undefined;

  constructor(tab: OpenTab, session: string, address: string) {
    this.#tab = tab;
    this.#session = session;
    this.#address = address;
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

  /** When the session leaves, whoever waits here for its reply is told that it was lost: it is answered there. */
  async walk(): Promise<void> {
    const session = await (await this.#tab.runtime()).session(this.#session);
    try {
      await session.call("walk-1", [{ id: "walk", tool: "walk", args: {} }]);
    } catch (thrown) {
      if (!(thrown instanceof ScopeLost || thrown instanceof Refused)) throw thrown;
    }
  }

  async move(): Promise<void> {
    const runtime = await this.#tab.runtime();
    await runtime.move(`session:${this.#session}`, this.#address);
  }

  /** Asks for mail for ever: a host that is away is asked again. */
  async mail(): Promise<void> {
    const runtime = await this.#tab.runtime();
    for (;;) {
      const mail = await this.#next().catch(() => undefined); // Nobody there: it is asked again after a pause.
      if (mail === undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      else await this.#answer(runtime, mail);
    }
  }

  async #next(): Promise<Mail | undefined> {
    const response = await fetch(`/mail/next?session=${encodeURIComponent(this.#session)}`);
    if (response.status !== 200) return undefined;
    const mail = E.chain((json: Json) => read(MailCodec, json))(parse(await response.text()));
    if (E.isLeft(mail)) throw new Error(describe(mail.left));
    return mail.right;
  }

  async #answer({ moves: { arrivals } }: Runtime, { id, body }: Mail): Promise<void> {
    const answer =
      body.type === "part" ? await arrivals.send(body.part) : await arrivals.decline(body.scope, body.nonce);
    const text = stringify(MailAnswerCodec.encode({ id, answer }) as Json);
    await fetch("/mail/answer", { method: "POST", body: text });
  }
}

const open = async ({ session, url, token }: Extract<ToMover, { readonly type: "open" }>): Promise<TabEnd> => {
  const client = new Client({ url, token });
  const tab = await openTab({
    name: "pawl-demo-move",
    tools: [walkTool("tab")],
    mover: () => moverOver(client),
    host: { fault: (what, thrown) => fault(`${what}: ${String(thrown)}`) },
  });
  const end = new TabEnd(tab, session, url);
  void end.mail().catch(fault);
  return end;
};

let end: Promise<TabEnd> | undefined;

port.addEventListener("message", ({ data }: MessageEvent<ToMover>) => {
  if (data.type === "open") {
    end = open(data);
    end.then((opened) => opened.follow()).catch(fault);
  } else end?.then((opened) => opened[data.type]()).catch(fault);
});
