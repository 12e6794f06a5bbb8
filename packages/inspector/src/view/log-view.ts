/** The page's view of one log: its chart, and the current moment, which is fetched from the worker. */
import type { LogWorker } from "../worker/log-worker.ts";
import type { LogUpdate, Side } from "../worker/message.ts";
import type { FirstDifference } from "../model/compare.ts";
import type { Moment } from "../model/moment.ts";
import type { Problem } from "../model/recording.ts";
import { Chart } from "./timeline/chart.ts";

export class LogView {
  readonly #worker: LogWorker;
  readonly #side: Side;
  readonly #changed: () => void;
  chart = new Chart();
  scope = "";
  seq = 0;
  problem: Problem | undefined;
  difference: FirstDifference | undefined;
  moment: Moment | undefined;
  isDone = false;
  /** Set while the view stays at the end of a growing log. */
  follows = true;
  #fetched = -1;
  #isFetching = false;

  constructor(worker: LogWorker, side: Side, changed: () => void) {
    this.#worker = worker;
    this.#side = side;
    this.#changed = changed;
  }

  get first(): number {
    return this.chart.base + 1;
  }
  get last(): number {
    return this.chart.last;
  }
  get isEmpty(): boolean {
    return this.chart.last === this.chart.base;
  }

  take(update: LogUpdate): void {
    this.chart.take(update);
    this.scope = update.header?.scope ?? "";
    this.problem = update.problem;
    this.difference = update.difference;
    this.isDone = update.isDone;
    if (this.seq === 0 || (this.follows && update.isDone)) this.#set(this.last);
    this.#changed();
  }

  goTo(seq: number): void {
    if (this.isEmpty) return;
    this.#set(Math.max(this.first, Math.min(this.last, seq)));
    this.follows = this.seq === this.last;
    this.#changed();
  }

  #set(seq: number): void {
    this.seq = seq;
    this.#fetch();
  }

  /** Fetches the current moment, one at a time. Places that were passed in between are skipped. */
  #fetch(): void {
    if (this.#isFetching || this.seq === this.#fetched || this.isEmpty) return;
    this.#isFetching = true;
    this.#fetched = this.seq;
    const { chart } = this;
    void this.#worker
      .ask("moment", { side: this.#side, seq: this.seq })
      .then((moment) => {
        if (chart === this.chart) this.moment = moment;
      })
      .catch((thrown: unknown) => {
        this.problem ??= { seq: this.seq, words: String(thrown) };
      })
      .finally(() => {
        this.#isFetching = false;
        this.#changed();
        this.#fetch();
      });
  }

  clear(): void {
    this.chart = new Chart();
    this.seq = 0;
    this.scope = "";
    this.moment = undefined;
    this.problem = undefined;
    this.difference = undefined;
    this.isDone = false;
    this.follows = true;
    this.#fetched = -1;
  }
}
