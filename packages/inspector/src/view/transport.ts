/** The controls of time travel: first and last event, single steps, play, and the next crash. */
import type { Mark } from "../model/lane-builder.ts";
import { button, clock, el, icon } from "../dom.ts";

const icons = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M5 3v10l8-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  on: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
} as const;

export interface TransportMoves {
  readonly to: (seq: number) => void;
  readonly by: (events: number) => void;
  readonly play: () => void;
  readonly crash: () => void;
}

export interface TransportView {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
  readonly at: number | undefined;
  readonly isPlaying: boolean;
  readonly crashes: readonly Mark[];
}

export class Transport {
  readonly element = el("div", { class: "transport", role: "toolbar", "aria-label": "Time travel" });
  readonly #range = el("input", { type: "range", min: "1", max: "1", value: "1", "aria-label": "Event" });
  readonly #place = el("output", { class: "place" });
  readonly #play: HTMLButtonElement;
  readonly #nextCrash: HTMLButtonElement;
  #isPlaying = false;
  readonly #ticks = el("div", { class: "ticks" });
  #ticked = "";

  constructor(moves: TransportMoves) {
    this.#play = button(icon(icons.play), { class: "play", "aria-label": "Play" }, moves.play);
    this.#nextCrash = button("Next crash", { class: "trouble", title: "C", hidden: true }, moves.crash);
    this.#range.addEventListener("input", () => moves.to(Number(this.#range.value)));
    this.element.append(
      button(icon(icons.first), { "aria-label": "First event", title: "Home" }, () => moves.to(1)),
      button(icon(icons.back), { "aria-label": "Previous event", title: "←" }, () => moves.by(-1)),
      this.#play,
      button(icon(icons.on), { "aria-label": "Next event", title: "→" }, () => moves.by(1)),
      button(icon(icons.last), { "aria-label": "Last event", title: "End" }, () => moves.to(Infinity)),
      el("div", { class: "rail" }, this.#ticks, this.#range),
      this.#place,
      this.#nextCrash,
    );
  }

  show({ seq, first, last, at, isPlaying, crashes }: TransportView): void {
    this.#range.min = String(first);
    this.#range.style.setProperty("--at", String(last > first ? (seq - first) / (last - first) : 0));
    this.#range.max = String(last);
    this.#range.value = String(seq);
    const time = at === undefined ? "" : ` at ${clock(at)}`;
    this.#range.setAttribute("aria-valuetext", `event ${seq} of ${last}${time}`);
    this.#place.textContent = `${seq} / ${last}`;
    if (isPlaying !== this.#isPlaying) {
      this.#play.replaceChildren(icon(isPlaying ? icons.pause : icons.play));
      this.#play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
    }
    this.#isPlaying = isPlaying;
    this.#nextCrash.hidden = crashes.length === 0;
    this.#mark(crashes, first, last);
  }

  /** Draws ticks for crashes and faults, when they or the length of the log have changed. */
  #mark(crashes: readonly Mark[], first: number, last: number): void {
    const key = `${crashes.length} ${first} ${last}`;
    if (key === this.#ticked) return;
    this.#ticked = key;
    const span = Math.max(1, last - first);
    const ticks = crashes.slice(0, 200).map((mark) => {
      const tick = el("i", { class: mark.type });
      tick.style.left = `${((mark.seq - first) / span) * 100}%`;
      return tick;
    });
    this.#ticks.replaceChildren(...ticks);
  }
}
