/**
 * One tab, or a worker of one. Of all tabs that are open over a journal, one writes: it has the runtime, and runs the
 * tools. The others watch, and the next of them goes on where it was when it is closed, crashes or hangs.
 */
import type { Recorded } from "@pawl/sansio-core";
import { type Journal, Runtime, type RuntimeOptions } from "@pawl/runtime";
import { type BrowserJournal, openBrowserJournal } from "./journal/journal.ts";
import { browserPlatform } from "./platform.ts";
import { Chair } from "./tab/chair.ts";
import { Channel } from "./tab/channel.ts";
import { News, follow } from "./tab/follow.ts";
import { takeOver } from "./tab/left-behind.ts";
import { telling } from "./tab/telling.ts";

export interface OpenTabOptions extends Pick<
  RuntimeOptions,
  "tools" | "host" | "options" | "patience" | "linger" | "mover"
> {
  /** The journal, which all tabs of this name share; made where there is none. */
  readonly name: string;
  /** How often a tab that watches asks whether the one that writes is there. After three questions it takes over. */
  readonly beatMs?: number;
  /** This tab begins to write, with a runtime of its own; or, without one, another tab has taken over. */
  readonly changed?: (runtime: Runtime | undefined) => void;
}

export interface OpenTab {
  /** The runtime, as soon as this tab is the one that writes: at once where it is alone. */
  readonly runtime: () => Promise<Runtime>;
  readonly isWriting: boolean;
  /** The log of a scope after a cursor, and on as it grows, whichever tab writes it. */
  readonly follow: (scope: string, after: number, signal: AbortSignal) => AsyncGenerator<Recorded>;
  /** To be read from, in any tab. */
  readonly journal: Journal;
  /** Ends what runs, as if by a crash, and leaves all to the next tab when what was stepped is on disk. */
  readonly close: () => Promise<void>;
}

interface Writing {
  readonly runtime: Runtime;
  readonly instance: string;
}

class Tab implements OpenTab {
  readonly #options: OpenTabOptions;
  readonly #journal: BrowserJournal;
  readonly #channel: Channel;
  readonly #news: News;
  readonly #chair: Chair;
  #writing: Writing | undefined;
  #waiting: ((runtime: Runtime) => void)[] = [];
  #isClosed = false;
  readonly journal: Journal;

  constructor(options: OpenTabOptions, journal: BrowserJournal) {
    this.#options = options;
    this.#journal = journal;
    this.#channel = new Channel(`pawl ${options.name}`);
    this.#news = new News(this.#channel);
    this.journal = telling(journal, this.#channel);
    this.#chair = new Chair({
      lock: `pawl ${options.name}`,
      writer: crypto.randomUUID(),
      channel: this.#channel,
      beatMs: options.beatMs ?? 1000,
      taken: () => this.#begin(),
      lost: () => this.#end(),
      fault: (what, thrown) => this.#fault(what, thrown),
    });
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  runtime(): Promise<Runtime> {
    if (this.#writing !== undefined) return Promise.resolve(this.#writing.runtime);
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  follow(scope: string, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
    return follow(this.#journal, this.#news, { scope, after }, signal);
  }

  #fault(what: string, thrown: unknown): void {
    this.#options.host?.fault?.(what, thrown);
  }

  async #begin(): Promise<void> {
    const { name: _name, beatMs: _beatMs, changed, ...told } = this.#options;
    await this.#journal.takeSeat();
    const roots = await this.#journal.roots();
    if (this.#isClosed) return;
    const instance = `tab:${crypto.randomUUID()}`;
    const runtime = new Runtime({ journal: this.journal, platform: browserPlatform, instance, roots, ...told });
    this.#writing = { runtime, instance };
    void takeOver(this.#journal, runtime, instance, (what, thrown) => this.#fault(what, thrown)).catch(
      (thrown: unknown) => this.#fault("what another tab left was not taken over", thrown),
    );
    changed?.(runtime);
    for (const resolve of this.#waiting.splice(0)) resolve(runtime);
  }

  /** What this tab had stepped and nobody heard of is void: the journal takes nothing more from it. */
  #end(): void {
    const ended = this.#writing;
    this.#writing = undefined;
    void ended?.runtime.close().catch((thrown: unknown) => this.#fault("the runtime was not closed", thrown));
    this.#options.changed?.(undefined);
  }

  async close(): Promise<void> {
    const ended = this.#writing;
    this.#isClosed = true;
    this.#writing = undefined;
    await ended?.runtime.close();
    this.#chair.close();
    this.#channel.close();
    this.#journal.close();
  }
}

export const openTab = async (options: OpenTabOptions): Promise<OpenTab> =>
  new Tab(options, await openBrowserJournal({ name: options.name }));
