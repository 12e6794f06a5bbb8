/**
 * What a run says of itself: shown at once to whoever watches, and recorded together, at most once in a while and the
 * last before its end always.
 */
import { type Output, type Progress, type Report, cutTo } from "@pawl/sansio-core/driver";
import type { Platform } from "../../platform.ts";
import type { BackgroundOptions } from "./host.ts";

/** What a tool that runs in the background is given. What it says after its end is nobody's word. */
export interface BackgroundSink {
  readonly status: (text: string) => Promise<void>;
  readonly output: (stream: string, delta: string) => Promise<void>;
  readonly progress: (progress: Progress) => Promise<void>;
}

/** One word of a run. */
export interface Said {
  readonly detail?: string;
  readonly progress?: Progress;
  readonly output?: Output;
}

export interface ReportPort {
  readonly platform: Platform;
  readonly options: Pick<BackgroundOptions, "reportMs" | "reportCharacters">;
  readonly attempt: number;
  /** Writes of this attempt that are on record: a body that runs again says them again. */
  readonly recorded: number;
  /** How many code points the log still takes; undefined once something of it was cut. */
  readonly room: () => number | undefined;
  readonly isOver: () => boolean;
  readonly show: (said: Said) => void;
  readonly record: (report: Report) => void;
  /** Aborted when the run is asked to end: from then on nothing is held back. */
  readonly signal: AbortSignal;
}

const finite = (n: number | undefined): n is number => Number.isFinite(n);

/** As it can be recorded: numbers that are numbers, and texts of whole characters. */
const progressOf = ({ current, total, unit, label }: Progress): Progress => ({
  ...(finite(current) ? { current } : {}),
  ...(finite(total) ? { total } : {}),
  ...(unit === undefined ? {} : { unit: unit.toWellFormed() }),
  ...(label === undefined ? {} : { label: label.toWellFormed() }),
});

export class RunReports implements BackgroundSink {
  readonly #port: ReportPort;
  #detail: string | undefined;
  #progress: Progress | undefined;
  #output: Output[] = [];
  #characters = 0;
  #writes = 0;
  #recordedAt = -Infinity;
  #isClosed = false;
  #callOff: (() => void) | undefined;

  constructor(port: ReportPort) {
    this.#port = port;
    port.signal.addEventListener("abort", () => this.#flush(), { once: true });
  }

  get #isMute(): boolean {
    return this.#isClosed || this.#port.isOver();
  }

  status = async (text: string): Promise<void> => {
    if (this.#isMute) return;
    const detail = text.toWellFormed();
    this.#detail = detail;
    this.#said({ detail });
  };

  progress = async (given: Progress): Promise<void> => {
    if (this.#isMute) return;
    const progress = progressOf(given);
    this.#progress = progress;
    this.#said({ progress });
  };

  /** An empty write is none; of one that the log has no room for, what is beyond it is dropped. */
  output = async (stream: string, delta: string): Promise<void> => {
    if (this.#isMute || delta === "") return;
    this.#writes += 1;
    if (this.#writes <= this.#port.recorded) return;
    const output = { stream: stream.toWellFormed(), delta: delta.toWellFormed() };
    const room = this.#port.room();
    if (room !== undefined) {
      const kept = cutTo(output.delta, room + 1);
      this.#output.push({ ...output, delta: kept });
      this.#characters += kept.length;
    }
    this.#said({ output });
  };

  #said(said: Said): void {
    this.#port.show(said);
    const { platform, options, signal } = this.#port;
    const due = this.#recordedAt + options.reportMs - platform.monotonic();
    if (signal.aborted || due <= 0 || this.#characters >= options.reportCharacters) return this.#flush();
    this.#callOff ??= platform.later(due, () => this.#flush());
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    const [detail, progress, output] = [this.#detail, this.#progress, this.#output];
    if (this.#isMute || (detail === undefined && progress === undefined && output.length === 0)) return;
    this.#detail = undefined;
    this.#progress = undefined;
    this.#output = [];
    this.#characters = 0;
    this.#recordedAt = this.#port.platform.monotonic();
    const said = { ...(detail === undefined ? {} : { detail }), ...(progress === undefined ? {} : { progress }) };
    this.#port.record({ attempt: this.#port.attempt, ...said, output });
  }

  /** The run's body is at its end: what it said last is recorded, and no more. */
  close(): void {
    this.#flush();
    this.#isClosed = true;
    this.#callOff?.();
  }
}
