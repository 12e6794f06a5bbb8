/**
 * Turns for calls that crash again and again: from the third crash in a row on, a host starts such calls one at a time. Of
 * several that ran when a process died one is to blame, and the others would be counted with it.
 *
 *   wait ─▶ turn ─▶ over: the call made a record, ended or left memory; its scope was given up; or it has run for a while
 *
 * The call with the fewest crashes goes first: an innocent one shows what it is before the one to blame takes its turn. A
 * turn has an end by time, since a body that hangs must not hold up the others.
 */
import type { CallRef, State } from "@pawl/sansio-core";
import { bodyOf } from "@pawl/sansio-core/driver";
import type { Platform } from "../platform.ts";

/** Crashes in a row from which on a call takes a turn. */
const suspectFrom = 3;

interface Suspect {
  readonly scope: string;
  readonly call: CallRef;
  readonly attempt: number;
  readonly run: number;
  /** Crashes in a row. */
  readonly crashes: number;
  /** The longest that its turn lasts. */
  readonly ms: number;
}

type Start = Pick<Suspect, "call" | "attempt" | "run">;

interface Running {
  readonly state: State;
}

/** Returns whether a call still waits for its start, also where an answer came meanwhile and it is no suspect any more. */
const isStarting = ({ calls }: State, { call, run }: Start): boolean => {
  const row = calls.at(call);
  return row?.phase === "resuming" && row.body.run === run;
};

/** Returns the call that a command starts, if it has to take a turn. */
const suspectIn = ({ scope, calls }: State, { call, attempt, run }: Start): Suspect | undefined => {
  const row = calls.at(call);
  if (row?.phase !== "resuming" || row.body.run !== run || row.body.resumes < suspectFrom) return undefined;
  const ms = Math.max(0, ...scope.options.crash_pauses_ms);
  return scope.protocol === 1 ? undefined : { scope: scope.id, call, attempt, run, crashes: row.body.resumes, ms };
};

interface Waiting {
  readonly suspect: Suspect;
  readonly begin: (isItsTurn: boolean) => void;
}

export class CrashTurns {
  readonly #platform: Platform;
  #waiting: readonly Waiting[] = [];
  #holder: Suspect | undefined;
  #callOff: (() => void) | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Starts a call: at once, or in its turn where it has crashed again and again. */
  start(runner: Running, command: Start, begin: () => Promise<void>): Promise<void> {
    const suspect = suspectIn(runner.state, command);
    return suspect === undefined ? begin() : this.#startInTurn(suspect, runner, { command, begin });
  }

  async #startInTurn(
    suspect: Suspect,
    runner: Running,
    { command, begin }: { readonly command: Start; readonly begin: () => Promise<void> },
  ): Promise<void> {
    if (!(await this.#take(suspect))) return;
    if (!isStarting(runner.state, command)) return this.stepped(runner.state); // The call ended while it waited.
    await begin();
  }

  /** Resolves when it is the call's turn: with false if its scope was given up before. */
  #take(suspect: Suspect): Promise<boolean> {
    return new Promise((begin) => {
      this.#waiting = [...this.#waiting, { suspect, begin }];
      if (this.#holder === undefined) this.#next();
    });
  }

  #next(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#holder = undefined;
    const [first, ...rest] = this.#waiting.toSorted((a, b) => a.suspect.crashes - b.suspect.crashes);
    if (first === undefined) return;
    this.#waiting = rest;
    this.#holder = first.suspect;
    this.#callOff = this.#platform.later(first.suspect.ms, () => this.#next());
    first.begin(true);
  }

  /** Takes note of a state of a scope: the turn of its call may be over, and a call that waits may have ended. */
  stepped({ scope: { id }, calls }: State): void {
    const holder = this.#holder;
    if (holder?.scope !== id) return;
    const row = calls.at(holder.call);
    const body = row === undefined ? undefined : bodyOf(row);
    const isAtIt = body?.attempt === holder.attempt && body.run === holder.run && body.resumes > 0;
    if (!isAtIt || (row?.phase !== "running" && row?.phase !== "resuming")) this.#next();
  }

  /** Forgets the calls of a scope that is not this instance's any more. */
  forget(scope: string): void {
    const gone = this.#waiting.filter(({ suspect }) => suspect.scope === scope);
    this.#waiting = this.#waiting.filter(({ suspect }) => suspect.scope !== scope);
    for (const { begin } of gone) begin(false);
    if (this.#holder?.scope === scope) this.#next();
  }
}
