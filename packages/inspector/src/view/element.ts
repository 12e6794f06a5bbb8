/** `<pawl-inspector>`: opens any log, and travels through it. */
import type { News, Side } from "../desk/message.ts";
import { Desk } from "../desk/desk.ts";
import type { Engine } from "../source/engine.ts";
import { type Source, fileSource } from "../source/source.ts";
import { Crossing } from "./crossing.ts";
import { onceAFrame } from "../dom.ts";
import { keys } from "./keys.ts";
import { Layout } from "./layout.ts";
import { LogView } from "./log-view.ts";
import { Saving } from "./saving.ts";
import { styleSheet } from "./style.ts";

/** Events a second while it plays. */
const playsAt = 6;
/** Below this width one pane is shown at a time. */
const narrow = 760;

/** What a host gives an inspector, all of it optional, before it opens a log. */
export interface InspectorOptions {
  /** Makes the worker that logs are worked on in, from `@pawl/inspector/worker`; without one the page's thread does it. */
  readonly worker?: () => Worker;
  /** Runs forks on. */
  readonly engine?: Engine;
}

/** Where there are no elements, as on a server, this can be imported all the same. */
const PageElement =
  (globalThis.HTMLElement as typeof HTMLElement | undefined) ?? (Object as unknown as typeof HTMLElement);

/** Shows a log: its timeline, its state at any event, why calls wait, and forks. */
export class PawlInspector extends PageElement {
  readonly #root = this.attachShadow({ mode: "open" });
  readonly #show = onceAFrame(() => this.#render());
  #options: InspectorOptions = {};
  #desk: Desk | undefined;
  #log: LogView | undefined;
  #fork: LogView | undefined;
  #crossing: Crossing | undefined;
  #saving: Saving | undefined;
  #layout: Layout | undefined;
  #playing: ReturnType<typeof setInterval> | undefined;
  #source: AbortController | undefined;
  #query = "";
  #found: readonly number[] | undefined;
  #foundSet: ReadonlySet<number> | undefined;
  /** The events of the one call that is shown, of a log so long. */
  #ofCall:
    | { readonly call: string; readonly found: unknown; readonly last: number; readonly seqs: readonly number[] }
    | undefined;
  #call: string | undefined;

  configure(options: InspectorOptions): void {
    this.#options = options;
  }

  connectedCallback(): void {
    if (this.#layout !== undefined) return;
    this.#root.adoptedStyleSheets = [styleSheet()];
    const layout = new Layout({
      to: (seq) => this.#go(seq),
      by: (events) => this.#go((this.#log?.seq ?? 0) + events),
      play: () => this.#play(),
      trouble: () => this.#trouble(),
      search: (query) => this.#search(query),
      filter: (call) => this.#filter(call),
      file: (file) => void this.open(fileSource(file)),
      save: () => this.#saving?.save(),
      hasEngine: () => this.#options.engine !== undefined,
      fork: (wish) => this.#crossing?.fork(wish),
      leaveFork: () => this.#crossing?.leave(),
      changed: () => this.#show(),
    });
    this.#layout = layout;
    this.#root.append(layout.element);
    this.addEventListener("keydown", (event) => keys(event, layout.moves));
    this.addEventListener("dragover", (event) => event.preventDefault());
    this.addEventListener("drop", (event) => this.#drop(event));
    new ResizeObserver(([entry]) => {
      layout.element.classList.toggle("narrow", (entry?.contentRect.width ?? 0) < narrow);
    }).observe(this);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => layout.recolour());
    this.#show();
  }

  disconnectedCallback(): void {
    this.#pause();
    this.#source?.abort();
    this.#saving?.end();
    this.#desk?.close();
    this.#desk = undefined;
  }

  /** The event that is looked at, and the last one that there is. */
  get place(): { readonly seq: number; readonly last: number; readonly isDone: boolean } {
    const { seq = 0, last = 0, isDone = false } = this.#log ?? {};
    return { seq, last, isDone };
  }

  goTo(seq: number): void {
    this.#go(seq);
  }

  /** The events whose lines hold all of these words. */
  search(query: string): Promise<readonly number[]> {
    return this.#desk?.ask("search", { query }) ?? Promise.resolve([]);
  }

  /** The text of the log, or of the fork that stands beside it. */
  text(side: Side = "log"): Promise<string> {
    return this.#desk?.ask("text", { side }) ?? Promise.resolve("");
  }

  /** Colours of the host have changed. */
  recolour(): void {
    this.#layout?.recolour();
  }

  /** Opens a log, in the place of the one that was open; resolves when the source has come to its end. */
  async open(source: Source): Promise<void> {
    const desk = this.#begin(source);
    const { signal } = (this.#source = new AbortController());
    try {
      for await (const text of source.text) {
        if (signal.aborted) return;
        desk.feed("log", text);
      }
      if (!signal.aborted) desk.end("log");
    } catch (thrown) {
      if (!signal.aborted) this.#layout?.tell(`${source.name} could not be read: ${String(thrown)}`);
    }
  }

  #begin({ name, blobs }: Source): Desk {
    this.#pause();
    this.#source?.abort();
    this.#crossing?.leave();
    this.#desk?.close();
    const desk = new Desk(this.#options.worker?.(), (side, news) => this.#take(side, news));
    this.#desk = desk;
    this.#log = new LogView(desk, "log", this.#show);
    this.#fork = new LogView(desk, "fork", this.#show);
    this.#crossing = new Crossing(desk, this.#fork, {
      engine: () => this.#options.engine,
      blobs,
      say: (words) => this.#layout?.say(words, this.#crossing?.isOpen === true),
      changed: this.#show,
    });
    this.#saving?.end();
    this.#saving = new Saving(blobs, {
      scope: () => this.#log?.scope ?? "",
      absent: () => desk.ask("absent", { side: "log" }),
      text: (lines, packed) => desk.ask("text", { side: "log", lines, blobs: packed }),
      ask: (asking) => this.#layout?.ask(asking),
      tell: (words) => this.#layout?.tell(words),
      file: (text) => this.#file(text),
    });
    this.#query = "";
    this.#find(undefined);
    this.#call = undefined;
    this.#layout?.begin(name);
    return desk;
  }

  #take(side: Side, news: News): void {
    const log = side === "log" ? this.#log : this.#fork;
    log?.take(news);
    if (side === "fork") return this.#goAlong();
    for (const lane of news.lanes) if (lane.kind === "call") this.#layout?.addCall(lane.key, lane.title);
    if (this.#query !== "") this.#search(this.#query);
  }

  #go(seq: number): void {
    this.#log?.goTo(seq);
    if (this.#crossing?.isOpen === true) this.#fork?.goTo(seq);
  }

  /** A fork that grows stays where its log is; at the end of that, at its own. */
  #goAlong(): void {
    if (this.#log?.follows === false) this.#fork?.goTo(this.#log.seq);
  }

  #play(): void {
    if (this.#playing !== undefined) return this.#pause();
    const log = this.#log;
    if (log === undefined || log.isEmpty) return;
    if (log.seq >= log.last) this.#go(log.first);
    this.#playing = setInterval(() => {
      if (log.seq >= log.last) this.#pause();
      else this.#go(log.seq + 1);
    }, 1000 / playsAt);
    this.#show();
  }

  #pause(): void {
    clearInterval(this.#playing);
    this.#playing = undefined;
    this.#show();
  }

  #trouble(): void {
    const mark = this.#log?.chart.nextMark(this.#log.seq);
    if (mark !== undefined) this.#go(mark.seq);
  }

  #filter(call: string | undefined): void {
    this.#call = call;
    this.#refine();
  }

  #search(query: string): void {
    this.#query = query;
    if (query.trim() === "") {
      this.#find(undefined);
      return this.#refine();
    }
    void this.#desk?.ask("search", { query }).then((found) => {
      if (query !== this.#query) return;
      this.#find(found);
      this.#refine();
    });
  }

  #find(found: readonly number[] | undefined): void {
    this.#found = found;
    this.#foundSet = found === undefined ? undefined : new Set(found);
  }

  /** The first event that is listed, where the one that is looked at is not. */
  #refine(): void {
    const seqs = this.#listed();
    const log = this.#log;
    if (log !== undefined && seqs !== undefined && !seqs.includes(log.seq) && seqs[0] !== undefined) log.goTo(seqs[0]);
    this.#show();
  }

  /** The events that search and filter leave, where they leave some out. */
  #listed(): readonly number[] | undefined {
    const log = this.#log;
    const call = this.#call;
    if (log === undefined || call === undefined) return this.#found;
    const { chart, last } = log;
    const known = this.#ofCall;
    if (known?.call === call && known.found === this.#found && known.last === last) return known.seqs;
    const named = chart.entries.flatMap((entry) => (entry.call === call ? [entry.seq] : []));
    const seqs = this.#found === undefined ? named : named.filter((seq) => this.#foundSet?.has(seq));
    this.#ofCall = { call, found: this.#found, last, seqs };
    return seqs;
  }

  #file(text: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    link.download = `${this.#log?.scope.replace(/\W+/g, "-") ?? "log"}.jsonl`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  #drop(event: DragEvent): void {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) void this.open(fileSource(file));
  }

  #render(): void {
    const log = this.#log;
    if (log === undefined) return;
    const seqs = this.#listed();
    this.#layout?.show({
      log,
      fork: this.#crossing?.isOpen === true ? this.#fork : undefined,
      isPlaying: this.#playing !== undefined,
      seqs,
      found: this.#foundSet,
      call: this.#call,
    });
  }
}

/** Makes `<pawl-inspector>` known to the page; twice is once. */
export const defineInspector = (): void => {
  if (customElements.get("pawl-inspector") === undefined) customElements.define("pawl-inspector", PawlInspector);
};
