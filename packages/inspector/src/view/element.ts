/** `<pawl-inspector>`: a custom element that opens any log and travels through it. */
import type { LogUpdate, Side } from "../worker/message.ts";
import { LogWorker } from "../worker/log-worker.ts";
import type { Engine } from "../source/engine.ts";
import { type Source, fileSource } from "../source/source.ts";
import { ForkRunner } from "./fork-runner.ts";
import { onceAFrame } from "../dom.ts";
import { keys } from "./keys.ts";
import { Layout } from "./layout.ts";
import { LogView } from "./log-view.ts";
import { LogSaver } from "./save-log.ts";
import { styleSheet } from "./style.ts";

/** The speed of play, in events a second. */
const playRate = 6;
/** Below this width one pane is shown at a time. */
const narrowWidth = 760;

/** The options of an inspector, which are set before a log is opened. */
export interface InspectorOptions {
  /** Creates the worker that processes logs, from `@pawl/inspector/worker`. By default the page's own thread does it. */
  readonly worker?: () => Worker;
  /** Continues forks. */
  readonly engine?: Engine;
}

/** A stand-in where there are no elements, so that a server can import this module. */
const PageElement =
  (globalThis.HTMLElement as typeof HTMLElement | undefined) ?? (Object as unknown as typeof HTMLElement);

/** Shows a log: its timeline, its state at any event, why calls wait, and forks. */
export class PawlInspector extends PageElement {
  readonly #root = this.attachShadow({ mode: "open" });
  readonly #show = onceAFrame(() => this.#render());
  #options: InspectorOptions = {};
  #worker: LogWorker | undefined;
  #log: LogView | undefined;
  #fork: LogView | undefined;
  #forkRunner: ForkRunner | undefined;
  #saver: LogSaver | undefined;
  #layout: Layout | undefined;
  #playing: ReturnType<typeof setInterval> | undefined;
  #source: AbortController | undefined;
  #query = "";
  #found: readonly number[] | undefined;
  #foundSet: ReadonlySet<number> | undefined;
  /** A cache of the events of the chosen call, for the log at this length. */
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
      crash: () => this.#goToNextCrash(),
      search: (query) => this.#search(query),
      filter: (call) => this.#filter(call),
      file: (file) => void this.open(fileSource(file)),
      save: () => this.#saver?.save(),
      hasEngine: () => this.#options.engine !== undefined,
      fork: (request) => this.#forkRunner?.fork(request),
      leaveFork: () => this.#forkRunner?.leave(),
      changed: () => this.#show(),
    });
    this.#layout = layout;
    this.#root.append(layout.element);
    this.addEventListener("keydown", (event) => keys(event, layout.moves));
    this.addEventListener("dragover", (event) => event.preventDefault());
    this.addEventListener("drop", (event) => this.#drop(event));
    new ResizeObserver(([entry]) => {
      layout.element.classList.toggle("narrow", (entry?.contentRect.width ?? 0) < narrowWidth);
    }).observe(this);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => layout.recolour());
    this.#show();
  }

  disconnectedCallback(): void {
    this.#pause();
    this.#source?.abort();
    this.#saver?.end();
    this.#worker?.close();
    this.#worker = undefined;
  }

  /** The current event, and the last one. */
  get place(): { readonly seq: number; readonly last: number; readonly isDone: boolean } {
    const { seq = 0, last = 0, isDone = false } = this.#log ?? {};
    return { seq, last, isDone };
  }

  goTo(seq: number): void {
    this.#go(seq);
  }

  /** Finds the events whose lines contain all of these words. */
  search(query: string): Promise<readonly number[]> {
    return this.#worker?.ask("search", { query }) ?? Promise.resolve([]);
  }

  /** Returns the text of the log, or of its fork. */
  text(side: Side = "log"): Promise<string> {
    return this.#worker?.ask("text", { side }) ?? Promise.resolve("");
  }

  /** Reads the colours of the host again. */
  recolour(): void {
    this.#layout?.recolour();
  }

  /** Opens a log in place of the current one; resolves when the source has ended. */
  async open(source: Source): Promise<void> {
    const worker = this.#begin(source);
    const { signal } = (this.#source = new AbortController());
    try {
      for await (const text of source.text) {
        if (signal.aborted) return;
        worker.feed("log", text);
      }
      if (!signal.aborted) worker.end("log");
    } catch (thrown) {
      if (!signal.aborted) this.#layout?.showError(`${source.name} could not be read: ${String(thrown)}`);
    }
  }

  #begin({ name, blobs }: Source): LogWorker {
    this.#pause();
    this.#source?.abort();
    this.#forkRunner?.leave();
    this.#worker?.close();
    const worker = new LogWorker(this.#options.worker?.(), (side, update) => this.#take(side, update));
    this.#worker = worker;
    this.#log = new LogView(worker, "log", this.#show);
    this.#fork = new LogView(worker, "fork", this.#show);
    this.#forkRunner = new ForkRunner(worker, this.#fork, {
      engine: () => this.#options.engine,
      blobs,
      say: (words, isError) => this.#layout?.say(words, this.#forkRunner?.isOpen === true, isError),
      changed: this.#show,
    });
    this.#saver?.end();
    this.#saver = new LogSaver(blobs, {
      scope: () => this.#log?.scope ?? "",
      missing: () => worker.ask("missing", { side: "log" }),
      text: (lines, packed) => worker.ask("text", { side: "log", lines, blobs: packed }),
      confirm: (confirmation) => this.#layout?.confirm(confirmation),
      tell: (words) => this.#layout?.showError(words),
      file: (text) => this.#file(text),
    });
    this.#query = "";
    this.#setFound(undefined);
    this.#call = undefined;
    this.#layout?.begin(name);
    return worker;
  }

  #take(side: Side, update: LogUpdate): void {
    const log = side === "log" ? this.#log : this.#fork;
    log?.take(update);
    if (side === "fork") return this.#alignFork();
    for (const lane of update.lanes) if (lane.kind === "call") this.#layout?.addCall(lane.key, lane.title);
    if (this.#query !== "") this.#search(this.#query);
  }

  #go(seq: number): void {
    this.#log?.goTo(seq);
    if (this.#forkRunner?.isOpen === true) this.#fork?.goTo(seq);
  }

  /** Keeps a growing fork at the event of its log; at the end of the log, the fork stays at its own end. */
  #alignFork(): void {
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
    }, 1000 / playRate);
    this.#show();
  }

  #pause(): void {
    clearInterval(this.#playing);
    this.#playing = undefined;
    this.#show();
  }

  #goToNextCrash(): void {
    const mark = this.#log?.chart.nextMark(this.#log.seq);
    if (mark !== undefined) this.#go(mark.seq);
  }

  #filter(call: string | undefined): void {
    this.#call = call;
    this.#showListed();
  }

  #search(query: string): void {
    this.#query = query;
    if (query.trim() === "") {
      this.#setFound(undefined);
      return this.#showListed();
    }
    void this.#worker?.ask("search", { query }).then((found) => {
      if (query !== this.#query) return;
      this.#setFound(found);
      this.#showListed();
    });
  }

  #setFound(found: readonly number[] | undefined): void {
    this.#found = found;
    this.#foundSet = found === undefined ? undefined : new Set(found);
  }

  /** Goes to the first listed event if the current one is not listed. */
  #showListed(): void {
    const seqs = this.#listed();
    const log = this.#log;
    if (log !== undefined && seqs !== undefined && !seqs.includes(log.seq) && seqs[0] !== undefined) log.goTo(seqs[0]);
    this.#show();
  }

  /** Returns the events that match the search and the filter; undefined if all do. */
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
      fork: this.#forkRunner?.isOpen === true ? this.#fork : undefined,
      isPlaying: this.#playing !== undefined,
      seqs,
      found: this.#foundSet,
      call: this.#call,
    });
  }
}

/** Registers `<pawl-inspector>` with the page, once. */
export const defineInspector = (): void => {
  if (customElements.get("pawl-inspector") === undefined) customElements.define("pawl-inspector", PawlInspector);
};
