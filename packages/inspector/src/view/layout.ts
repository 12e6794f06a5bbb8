/** The layout of the inspector: head, timeline, transport and panes, all drawn from one view. */
import { button, el } from "../dom.ts";
import type { FirstDifference } from "../model/compare.ts";
import type { Entry } from "../model/entry.ts";
import { ConfirmBar } from "./confirm-bar.ts";
import type { Confirmation } from "./save-log.ts";
import { EventList } from "./pane/event-list.ts";
import { ForkPane, type ForkRequest } from "./pane/fork-pane.ts";
import { type Moves, keyHelp } from "./keys.ts";
import type { LogView } from "./log-view.ts";
import { besidePane, eventPane, nothing, statePane, waitingPane } from "./pane/moment-pane.ts";

import { Tabs } from "./pane/tabs.ts";
import { Timeline } from "./timeline/timeline.ts";
import { Transport } from "./transport.ts";

export interface LayoutPort extends Pick<Moves, "to" | "by" | "play" | "crash"> {
  readonly search: (query: string) => void;
  readonly filter: (call: string | undefined) => void;
  readonly file: (file: File) => void;
  readonly save: () => void;
  readonly hasEngine: () => boolean;
  readonly fork: (request: ForkRequest) => void;
  readonly leaveFork: () => void;
  readonly changed: () => void;
}

export interface InspectorView {
  readonly log: LogView;
  readonly fork: LogView | undefined;
  readonly isPlaying: boolean;
  /** The listed events; undefined if all are listed. */
  readonly seqs: readonly number[] | undefined;
  readonly found: ReadonlySet<number> | undefined;
  readonly call: string | undefined;
}

const entryWords = (entry: Entry | undefined): string =>
  entry === undefined ? "" : [`event ${entry.seq}`, entry.type, entry.gist].filter(Boolean).join(" · ");

const differences: { readonly [W in FirstDifference["what"]]: string } = {
  event: "the events differ from",
  commands: "the commands differ from",
  end: "one of the two logs is longer, from",
};
const none: ReadonlySet<number> = new Set();
/** The most calls in the filter. */
const maxCalls = 500;
/** The shortest time between two redraws of a pane while the user moves through the log. */
const redrawMs = 100;
const keyRow = ([key, what]: readonly [string, string]): HTMLElement => el("p", {}, el("kbd", {}, key), " ", what);

export class Layout {
  readonly element = el("div", { class: "inspector", tabindex: "-1" });
  readonly moves: Moves;
  readonly #title = el("h2", { class: "scope" }, "No log is open");
  readonly #count = el("p", { class: "status", role: "status" }, "Drop a log here, or open a file.");
  readonly #search = el("input", { type: "search", placeholder: "Search", "aria-label": "Search lines" });
  readonly #calls = el("select", { "aria-label": "Only one call" }, el("option", { value: "" }, "All calls"));
  readonly #alarm = el("p", { class: "alarm", role: "alert", hidden: true });
  readonly #confirmBar = new ConfirmBar();
  readonly #help = el("div", { class: "help", hidden: true }, ...keyHelp.map(keyRow));
  readonly #empty = el("p", { class: "empty" }, "The calls of a log appear here, each in its own lane.");
  readonly #timeline: Timeline;
  readonly #beside: Timeline;
  readonly #besideBox: HTMLElement;
  readonly #besideTitle = el("h3");
  readonly #besideEvent = el("p", { class: "beside-event" });
  readonly #save: HTMLButtonElement;
  readonly #transport: Transport;
  readonly #list: EventList;
  readonly #panes = { event: el("div"), state: el("div"), waiting: el("div"), fork: el("div"), log: el("div") };
  readonly #fork: ForkPane;
  readonly #tabs: Tabs;
  #drawn: { readonly moment: unknown; readonly beside: unknown; readonly tab: string; readonly at: number } | undefined;
  #callCount = 0;
  #error = "";
  #fault = "";

  constructor(port: LayoutPort) {
    this.#timeline = new Timeline(port.to);
    this.#beside = new Timeline(port.to);
    this.#save = button("Save", { title: "Save the log as a file", disabled: true }, port.save);
    this.#transport = new Transport(port);
    this.#list = new EventList(port.to);
    this.#fork = new ForkPane({ hasEngine: port.hasEngine, fork: port.fork, leave: port.leaveFork });
    this.#panes.log.append(this.#list.element);
    this.#panes.event.append(nothing("The content, the commands and the changes of an event appear here."));
    this.#panes.fork.append(this.#fork.element);
    for (const pane of Object.values(this.#panes)) pane.className = "pane";
    const { event, state, waiting, fork, log } = this.#panes;
    this.#tabs = new Tabs(
      [
        { id: "log", label: "Events", pane: log },
        { id: "event", label: "Event", pane: event },
        { id: "state", label: "State", pane: state },
        { id: "waiting", label: "Waiting", pane: waiting },
        { id: "fork", label: "Fork", pane: fork },
      ],
      "event",
      port.changed,
    );
    this.#besideBox = el(
      "div",
      { class: "beside", hidden: true },
      this.#besideTitle,
      this.#besideEvent,
      el("div", { class: "room" }, this.#beside.canvas),
    );
    this.moves = {
      ...port,
      find: () => this.#search.focus(),
      zoom: (factor) => {
        this.#timeline.zoom(factor);
        this.#beside.zoom(factor);
      },
      help: () => {
        this.#help.hidden = !this.#help.hidden;
      },
      leave: () => {
        this.#help.hidden = true;
      },
    };
    this.#search.addEventListener("input", () => port.search(this.#search.value));
    this.#calls.addEventListener("change", () => port.filter(this.#calls.value || undefined));
    this.element.append(
      this.#head(port),
      this.#alarm,
      this.#confirmBar.element,
      this.#help,
      el("div", { class: "timeline" }, this.#timeline.canvas, this.#empty),
      this.#besideBox,
      this.#transport.element,
      el("div", { class: "panes" }, this.#tabs.list, log, event, state, waiting, fork),
    );
  }

  #head(port: LayoutPort): HTMLElement {
    const file = el("input", {
      type: "file",
      class: "file",
      "aria-label": "Open a log file",
      accept: ".jsonl,.json,.log",
    });
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      if (chosen !== undefined) port.file(chosen);
    });
    return el(
      "header",
      { class: "head" },
      el("div", { class: "names" }, this.#title, this.#count),
      el(
        "div",
        { class: "tools" },
        this.#search,
        this.#calls,
        el("label", { class: "open" }, "Open…", file),
        this.#save,
        button("?", { "aria-label": "Keys" }, () => this.moves.help()),
      ),
    );
  }

  begin(name: string): void {
    this.#title.textContent = name;
    this.#save.disabled = false;
    this.#count.textContent = "Reading…";
    this.#search.value = "";
    this.#calls.replaceChildren(el("option", { value: "" }, "All calls"));
    this.#callCount = 0;
    this.#drawn = undefined;
    this.#confirmBar.leave();
    this.#fault = "";
    this.#fork.clear();
    this.showError("");
    this.#empty.textContent = "No calls yet. Each call gets a lane here, and each of its steps a bar.";
    for (const pane of [this.#panes.event, this.#panes.state, this.#panes.waiting])
      pane.replaceChildren(nothing("Nothing is recorded yet."));
  }

  addCall(key: string, tool: string): void {
    this.#callCount += 1;
    if (this.#callCount <= maxCalls) this.#calls.append(el("option", { value: key }, `${tool} · ${key}`));
  }

  /** Shows an error around the log. A fault in the log itself comes with the view. */
  showError(words: string): void {
    this.#error = words;
    this.#showAlarm();
  }

  #showAlarm(): void {
    const words = [this.#error, this.#fault].filter((one) => one !== "").join("\n");
    this.#alarm.hidden = words === "";
    if (this.#alarm.textContent !== words) this.#alarm.textContent = words;
  }

  confirm(confirmation: Confirmation): void {
    this.#confirmBar.ask(confirmation, this.#save);
  }

  say(words: string, isForked: boolean, isError?: boolean): void {
    this.#fork.say(words, isForked, isError);
  }

  recolour(): void {
    this.#timeline.recolour();
    this.#beside.recolour();
  }

  show(view: InspectorView): void {
    const { log, fork, isPlaying, seqs, call } = view;
    const { chart, seq, problem } = log;
    const found = view.found ?? none;
    if (log.scope !== "") this.#title.textContent = log.scope;
    this.#count.textContent = this.#countWords(view);
    this.#fault = problem?.words ?? "";
    this.#showAlarm();
    this.#empty.hidden = chart.hasLanes;
    const isNoLog = problem !== undefined && log.isEmpty;
    if (isNoLog) this.#empty.textContent = "This file is no log of pawl.";
    this.#save.disabled = isNoLog;
    this.#timeline.show({ chart, seq, call, found, difference: fork?.difference?.seq });
    this.#showFork(view);
    const { first, last } = log;
    this.#transport.show({
      seq,
      first,
      last,
      at: chart.entryAt(seq)?.at,
      isPlaying,
      crashes: isNoLog ? [] : chart.crashes,
    });
    this.#showMoment(view);
    this.#list.show(chart, seq, seqs);
  }

  #countWords({ log, seqs }: InspectorView): string {
    const total = log.last - log.chart.base;
    const count = `${total.toLocaleString("en")} ${total === 1 ? "event" : "events"}`;
    if (!log.isDone && log.isEmpty) return "Reading…";
    return seqs === undefined ? count : `${seqs.length.toLocaleString("en")} of ${count}`;
  }

  #showFork({ fork, call }: InspectorView): void {
    this.#besideBox.hidden = fork === undefined || fork.isEmpty;
    if (fork === undefined) return;
    const { difference } = fork;
    this.#besideTitle.textContent =
      difference === undefined
        ? "Fork: no difference so far"
        : `Fork: ${differences[difference.what]} event ${difference.seq} on`;
    const { chart, seq } = fork;
    this.#besideEvent.textContent = entryWords(chart.entryAt(seq));
    this.#beside.show({ chart, seq, call, found: none, difference: difference?.seq });
  }

  /** Redraws the visible pane if another moment is shown. */
  #showMoment({ log: { moment, seq, chart }, fork }: InspectorView): void {
    const tab = this.#tabs.current;
    const before = this.#drawn;
    const beside = fork?.moment;
    if (moment === undefined || (before?.moment === moment && before.beside === beside && before.tab === tab)) return;
    const now = performance.now();
    if (before?.tab === tab && moment.seq !== seq && now - before.at < redrawMs) return;
    this.#drawn = { moment, beside, tab, at: now };
    const { event, state, waiting } = this.#panes;
    if (tab === "fork") this.#fork.show(moment);
    else if (tab === "state") state.replaceChildren(...statePane(moment));
    else if (tab === "waiting") waiting.replaceChildren(...waitingPane(moment));
    else event.replaceChildren(...eventPane(moment, chart.entryAt(moment.seq)), ...besidePane(beside));
  }
}
