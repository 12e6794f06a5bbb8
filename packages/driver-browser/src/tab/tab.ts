/**
 * A tab, or a worker of one. Of all tabs that are open over a journal, one is the leader: it has the runtime and runs the tools.
 * The others follow. When the leader closes, crashes or hangs, the next tab continues where it was.
 */
import type { Recorded } from "@pawl/sansio-core";
import { type AttachmentStore, type Journal, type Log, Refused, Registry, Runtime } from "@pawl/runtime";
import {
  type StreamFrame,
  type StreamOptions,
  admittedOptions,
  cursorAfter,
  entryOf,
  wrongNumber,
} from "@pawl/runtime/driver";
import { BrowserJournalError } from "../journal/error.ts";
import { type BrowserJournal, openBrowserJournal } from "../journal/journal.ts";
import type { OpenTab, OpenTabOptions } from "../open.ts";
import { browserPlatform } from "../platform.ts";
import { LeaderLock, locksHere } from "./leader-lock.ts";
import { broadcasting, Channel } from "./broadcast.ts";
import { follow, News } from "./follow.ts";
import type { TabMessage } from "./message.ts";
import type { StreamPort, StreamServer } from "./stream.ts";
import { takeOver } from "./take-over.ts";

const errorsShown: Log = ({ level, name, fields, thrown }) => {
  const { call, tool, message } = fields;
  if (name === "call.crashed") console.warn(`pawl: call ${String(call)} of ${String(tool)} ${String(message)}`);
  if (level === "error") console.error(`pawl: ${name}`, fields, thrown);
};

interface Waiting {
  readonly resolve: (runtime: Runtime) => void;
  readonly reject: (why: BrowserJournalError) => void;
}

type Admitted = OpenTabOptions & { readonly beatMs: number; readonly tools: Registry };

class Tab implements OpenTab {
  readonly #options: OpenTabOptions;
  readonly #journal: BrowserJournal;
  readonly #channel: Channel;
  readonly #news: News;
  readonly #leaderLock: LeaderLock;
  readonly #streamPort: StreamPort;
  #streams: Promise<StreamServer> | undefined;
  readonly #left = new AbortController();
  #writing: Runtime | undefined;
  #waiting: Waiting[] = [];
  #closed: BrowserJournalError | undefined;
  readonly journal: Journal;
  readonly attachments: AttachmentStore;

  constructor(options: Admitted, journal: BrowserJournal) {
    this.#options = options;
    this.#journal = journal;
    this.#channel = new Channel(`pawl ${options.name}`);
    this.#news = new News(this.#channel);
    this.attachments = options.host?.attachments ?? journal.attachments;
    this.journal = broadcasting(journal, this.#channel);
    const writer = crypto.randomUUID();
    this.#streamPort = {
      channel: this.#channel,
      locks: locksHere(),
      writer,
      left: this.#left.signal,
      isWriting: () => this.#leaderLock.isHeld,
      runtime: () => this.runtime(),
      cursorAfter,
      Refused,
    };
    this.#channel.hear((message) => this.#heard(message));
    this.#leaderLock = new LeaderLock({
      lock: `pawl ${options.name}`,
      writer,
      channel: this.#channel,
      beatMs: options.beatMs,
      taken: () => this.#begin(),
      lost: () => this.#end(),
      fault: (what, thrown) => this.#fault(what, thrown),
    });
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  runtime(): Promise<Runtime> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#writing !== undefined) return Promise.resolve(this.#writing);
    return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }));
  }

  follow(scope: string, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
    return follow(this.#journal, this.#news, { scope, after }, signal);
  }

  async *stream(scope: string, call: string, options: StreamOptions): AsyncGenerator<StreamFrame> {
    const { readStream } = await import("./stream.ts");
    yield* readStream(this.#streamPort, { scope, call }, options);
  }

  /** Takes what readers of streams say. With the first question the code is loaded that answers it. */
  #heard(message: TabMessage): void {
    if (message.type !== "stream") return;
    if (this.#leaderLock.isHeld)
      this.#streams ??= import("./stream.ts").then((code) => new code.StreamServer(this.#streamPort));
    void this.#streams?.then(
      (server) => server.take(message),
      (thrown: unknown) => {
        this.#streams = undefined;
        this.#fault("other tabs cannot read streams", thrown);
      },
    );
  }

  #fault(what: string, thrown: unknown): void {
    (this.#options.log ?? errorsShown)(entryOf("store.fault", { what }, thrown));
    this.#options.host?.fault?.(what, thrown);
  }

  async #begin(): Promise<void> {
    const { name: _name, beatMs: _beatMs, changed, ...told } = this.#options;
    await this.#journal.takeFence();
    const roots = await this.#journal.roots();
    if (this.#closed !== undefined || !this.#leaderLock.isHeld) return; // Closed, or lost to another tab, in the meantime.
    const instance = `tab:${crypto.randomUUID()}`;
    const host = { ...told.host, attachments: this.attachments };
    const ports = { journal: this.journal, platform: browserPlatform, instance, roots, log: errorsShown };
    const runtime = new Runtime({ ...ports, ...told, host });
    this.#writing = runtime;
    const notTakenOver = (what: string, thrown: unknown): void => {
      if (this.#writing === runtime) this.#fault(what, thrown); // Else the next leader takes them over.
    };
    void takeOver(this.#journal, runtime, instance, notTakenOver).catch((thrown: unknown) =>
      notTakenOver("what another tab left was not taken over", thrown),
    );
    changed?.(runtime);
    for (const { resolve } of this.#waiting.splice(0)) resolve(runtime);
  }

  /** Ends the runtime. Events that were not durable are lost: the journal refuses them from now on. */
  #end(): void {
    const ended = this.#writing;
    this.#writing = undefined;
    void ended?.close().catch((thrown: unknown) => {
      if (this.#closed === undefined) this.#fault("the runtime was not closed", thrown); // Else the reason was reported.
    });
    this.#options.changed?.(undefined);
  }

  /** Ends the tab after its journal was closed. Acknowledged events are safe for the next to open it. */
  cutOff(why: BrowserJournalError): void {
    if (this.#closed !== undefined) return;
    this.#fault("the journal was closed", why);
    this.#closed = why;
    if (this.#writing !== undefined) this.#end();
    this.#leave(why);
  }

  async close(): Promise<void> {
    const ended = this.#writing;
    const why = new BrowserJournalError("closed", `journal ${this.#options.name}: this tab was closed`);
    this.#closed ??= why;
    this.#writing = undefined;
    await ended?.close();
    this.#journal.close();
    this.#leave(why);
  }

  #leave(why: BrowserJournalError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(why);
    this.#news.wakeAll();
    this.#left.abort(why);
    this.#leaderLock.close();
    this.#channel.close();
  }
}

/** Checks the options at once, not when this tab becomes the leader. All its runtimes share one registry. */
const admitted = (options: OpenTabOptions): Admitted => {
  const { tools, beatMs = 1000 } = admittedOptions(options);
  if (!(beatMs > 0 && beatMs < 2 ** 31)) throw wrongNumber("beatMs", beatMs, "above");
  return { ...options, beatMs, tools: tools instanceof Registry ? tools : new Registry(tools) };
};

export const openTab = async (given: OpenTabOptions): Promise<OpenTab> => {
  const options = admitted(given);
  locksHere();
  const opened: { tab?: Tab } = {};
  const closed = (why: BrowserJournalError): void => opened.tab?.cutOff(why);
  opened.tab = new Tab(options, await openBrowserJournal({ name: options.name, closed }));
  return opened.tab;
};
