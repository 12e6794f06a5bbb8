/**
 * The end of a run's function, held back until what it began outside has ended on record: its steps, batches in which a
 * call is at work, requests to the host. What their answers make the function do is waited for as well. The core refuses
 * an end that comes before; a crash meanwhile runs the body again.
 *
 * A cancelled run waits for its clean-ups first, and then for its grace, which the core counts.
 */
import type { EventOf, State } from "@pawl/sansio-core";
import { awaitedEffects, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { ScopeRunner } from "../scope/runner.ts";
import type { BodyPort } from "./body-port.ts";
import { type Divergence, endedBefore } from "./divergence.ts";
import type { Outcome, Request, RunId } from "./record.ts";
import type { News, ReplayOrder } from "./replay.ts";
import type { CleanUps } from "./stop.ts";

export interface EndingRun {
  readonly id: RunId;
  readonly isOver: boolean;
  readonly isCancelled: boolean;
  readonly news: News;
  /** True while it waits for an effect that its end waits for. */
  readonly isAwaiting: boolean;
  readonly cleanUps: CleanUps;
  readonly diverge: (divergence: Divergence) => void;
}

export class BodyEnd {
  readonly #run: EndingRun;
  readonly #replay: ReplayOrder;
  readonly #port: BodyPort;
  #wake: (() => void) | undefined;
  #isOutOfTime = false;

  constructor(run: EndingRun, replay: ReplayOrder, port: BodyPort) {
    this.#run = run;
    this.#replay = replay;
    this.#port = port;
  }

  /** Looks again: something has happened to the run, or to its call. */
  review(): void {
    this.#wake?.();
  }

  /** Resolves when the function may end, or its run is over. */
  async wait(): Promise<void> {
    const effectsMs = this.#port.effectsMs();
    if (effectsMs === undefined) return this.#replayed();
    if (this.#mayEnd) return;
    const callOff = this.#port.platform.later(effectsMs, () => this.#giveUp());
    try {
      while (!this.#mayEnd) {
        if (this.#run.isCancelled) await this.#cleanUp();
        else await this.#replayed();
        if (!this.#mayEnd && (this.#run.isCancelled || !this.#replay.isReplaying)) await this.#changed();
      }
    } finally {
      callOff();
    }
  }

  get #mayEnd(): boolean {
    const { isOver, isCancelled, cleanUps, isAwaiting } = this.#run;
    if (isOver) return true;
    if (isCancelled ? !cleanUps.areOver : this.#replay.isReplaying) return false;
    return this.#isOutOfTime || !isAwaiting;
  }

  /** Resolves when what the function has left running has made the rest of the recorded requests. */
  async #replayed(): Promise<void> {
    const run = this.#run;
    while (!run.isOver && !run.isCancelled && this.#replay.isReplaying) {
      if (run.news === "none") return run.diverge(endedBefore(this.#replay.missing));
      this.#port.schedule();
      await this.#nextTurn();
    }
  }

  async #cleanUp(): Promise<void> {
    await this.#run.cleanUps.over();
    if (!this.#run.isOver && this.#run.isAwaiting) this.#port.cleanedUp(this.#run.id);
  }

  /** Resolves after a change, once the function has done all that follows from it. */
  async #changed(): Promise<void> {
    this.#port.ending.add(this);
    await new Promise<void>((wake) => (this.#wake = wake));
    this.#port.ending.delete(this);
    this.#wake = undefined;
    await this.#nextTurn();
  }

  #giveUp(): void {
    this.#isOutOfTime = true;
    this.review();
  }

  #nextTurn(): Promise<void> {
    return new Promise((then) => this.#port.platform.nextTurn(then));
  }
}

/** Returns whether a request makes something run outside of its body, whose end it may hold back. */
const isOutside = ({ effect: { kind }, isWait }: Request): boolean =>
  isWait !== true && (kind === "step" || kind === "host" || kind === "trigger" || kind === "batch");

/** Returns whether the end of a call's body waits for any of these requests. What has settled is about to be answered. */
export const isAwaiting = (state: State, call: string, requests: Iterable<{ readonly request: Request }>): boolean => {
  const row = state.calls.at(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  const awaited = new Set(awaitedEffects(state, call));
  const idle = new Set(open.map(({ key }) => key).filter((key) => !awaited.has(key)));
  return [...requests].some(({ request }) => isOutside(request) && !idle.has(request.key));
};

/** Names what a body leaves that ends now; undefined where its end waits for no effects. */
export const leftBy = (state: State, call: string): readonly string[] | undefined => {
  const row = state.calls.at(call);
  const waits = hasRule(state.scope.protocol, "waits_for_effects") && row?.phase === "running";
  return waits && row.cancelled === undefined ? awaitedEffects(state, call) : undefined;
};

/** Records the end of a body. While its values were stored a call below may have begun again: then the scope is lost. */
export const recordEnd = async (
  runner: ScopeRunner,
  event: EventOf<"call.settled" | "call.continued">,
): Promise<void> => {
  let told: Outcome | undefined = runner.apply(event);
  while (told !== undefined && E.isRight(told) && told.right.later !== undefined) told = await told.right.later;
  if (told !== undefined && E.isLeft(told) && told.left.code === "effects_open")
    runner.abandon(`the end of a body was refused: ${told.left.message}`);
};
