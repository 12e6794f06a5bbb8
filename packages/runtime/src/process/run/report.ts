/**
 * The reports of a background run: its status, progress and output. Each is shown to watchers at once; they are recorded in
 * batches, at most once per interval (a rate limiter), and always before the run ends. At the end the recorded output
 * becomes the run's two files.
 */
import type { CommandOf } from "@pawl/sansio-core";
import { type Output, type Progress, type Report, artifactsOf, cutTo, pathsOf } from "@pawl/sansio-core/driver";
import { sessionOf } from "../../host/host.ts";
import type { Platform } from "../../platform.ts";
import { recordedIn } from "../../scope/history.ts";
import type { BackgroundHost, BackgroundOptions } from "../host.ts";
import type { ScopeAccess } from "../work.ts";

/** Takes the reports of a tool that runs in the background. Reports after its end are ignored. */
export interface BackgroundSink {
  readonly status: (text: string) => Promise<void>;
  readonly output: (stream: string, delta: string) => Promise<void>;
  readonly progress: (progress: Progress) => Promise<void>;
}

/** One report of a run. */
export interface Said {
  readonly detail?: string;
  readonly progress?: Progress;
  readonly output?: Output;
}

interface ReportPort {
  readonly platform: Platform;
  readonly options: Pick<BackgroundOptions, "reportMs" | "reportCharacters">;
  readonly attempt: number;
  /** Counts the writes of this attempt that are on record. A body that runs again repeats them; they are skipped. */
  readonly recorded: number;
  /** Returns how many code points the log still takes; undefined once something of it was cut. */
  readonly room: () => number | undefined;
  readonly isOver: () => boolean;
  /** Returns true while the body says again what it said before it left memory. */
  readonly isRepeating: () => boolean;
  /** Takes secrets that the body has read out of what it says. */
  readonly shown: <A>(said: A) => A;
  readonly show: (said: Said) => void;
  readonly record: (report: Report) => void;
  /** Aborts when the run is asked to end; from then on every report is recorded at once. */
  readonly signal: AbortSignal;
}

const finite = (n: number | undefined): n is number => Number.isFinite(n);

/** Drops numbers that are not finite, and replaces lone surrogates: neither can be recorded. */
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
    if (this.#isMute || this.#port.isRepeating()) return;
    const detail = this.#port.shown(text.toWellFormed());
    this.#detail = detail;
    this.#said({ detail });
  };

  progress = async (given: Progress): Promise<void> => {
    if (this.#isMute || this.#port.isRepeating()) return;
    const progress = this.#port.shown(progressOf(given));
    this.#progress = progress;
    this.#said({ progress });
  };

  /** Writes output. An empty write is ignored; what the log has no room for is cut off. */
  output = async (stream: string, delta: string): Promise<void> => {
    if (this.#isMute || delta === "") return;
    this.#writes += 1;
    if (this.#writes <= this.#port.recorded) return;
    const output = this.#port.shown({ stream: stream.toWellFormed(), delta: delta.toWellFormed() });
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

  /** Records what is left, and ignores everything after. */
  close(): void {
    this.#flush();
    this.#isClosed = true;
    this.#callOff?.();
  }
}

type Write = CommandOf<"artifacts.write">;

/** Reads the recorded output of an attempt. `since` counts the writes after the last `continueAs`, which starts the body anew. */
export const outputsOf = async (
  { runner, readLines }: ScopeAccess,
  attempt: number,
): Promise<{ readonly all: readonly Output[]; readonly since: number }> => {
  const all: Output[] = [];
  let before = 0;
  for (const line of await readLines(1)) {
    const { event } = recordedIn(runner.id, line);
    if (event.type === "run.reported" && event.attempt === attempt) all.push(...event.output);
    if (event.type === "call.continued") before = all.length;
  }
  return { all, since: all.length - before };
};

const write = async (scope: ScopeAccess, host: BackgroundHost, { run, attempt, outcome }: Write): Promise<void> => {
  const { state } = scope.runner;
  const { artifact_dir, log_path, result_path } = pathsOf(run);
  if (host.artifacts === undefined) {
    const lost = `cannot persist artifact ${log_path} because no session file store is configured`;
    throw new Error(`background run ${run} ${lost}`);
  }
  const { all } = await outputsOf(scope, attempt);
  const { log, result } = artifactsOf(outcome, all, state.scope.options.max_output);
  await host.artifacts({
    session: sessionOf(state),
    run,
    artifact_dir,
    log: { path: log_path, text: log },
    result: { path: result_path, text: result },
  });
};

/** Writes the files of a run, and says if they are written. A failure is final: the run ends with it. */
export const writeArtifacts = async (scope: ScopeAccess, host: BackgroundHost, command: Write): Promise<boolean> => {
  try {
    await write(scope, host, command);
    return true;
  } catch (thrown) {
    scope.report(command.attempt === 1 ? finalization : reattachFinalization, thrown);
    return false;
  }
};

const finalization = "Background run finalization failed";
const reattachFinalization = "Background run re-attach finalization failed";
