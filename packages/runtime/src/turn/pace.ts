/**
 * How models are asked in one process: when what they say is put on record, how long they may be silent, and how many are
 * asked at once. Attempts beyond that number wait here, in their order, and are stopped here as they are anywhere else.
 */
import { refusedOption, wrongNumber } from "../error.ts";

/** Options of a runtime about its turns. */
export interface TurnPace {
  /** Units of an answer that are not on record yet, and are put there together. */
  readonly checkpointChars: number;
  /** The longest time for which a unit is not on record. */
  readonly checkpointMs: number;
  /** The longest silence of a model; then the attempt fails as `timeout`. */
  readonly modelIdleMs: number;
  /** The longest time of an attempt. */
  readonly modelTotalMs: number;
  /** Attempts at once. */
  readonly maxModelCalls: number;
}

/** Sets the pace of turns, unless the options of a runtime say otherwise. */
export const defaultPace: TurnPace = {
  checkpointChars: 4096,
  checkpointMs: 5000,
  modelIdleMs: 120_000,
  modelTotalMs: 900_000,
  maxModelCalls: 64,
};

/** Returns the options as they hold. A field that nothing would act on is refused, as a misspelt one. */
const paceOf = (given: Partial<TurnPace>): TurnPace => {
  const known = Object.keys(defaultPace);
  for (const [name, found] of Object.entries(given)) {
    if (!known.includes(name))
      throw refusedOption(`\`turns.${name}\` is no option: expected some of ${known.join(", ")}`);
    if (!(typeof found === "number" && found > 0)) throw wrongNumber(`turns.${name}`, found, "above");
  }
  return { ...defaultPace, ...given };
};

/** Places for attempts: all scopes of a process share them. */
export class ModelPlaces {
  readonly pace: TurnPace;
  #taken = 0;
  readonly #queue: ((hasPlace: boolean) => void)[] = [];

  constructor(pace: Partial<TurnPace> = {}) {
    this.pace = paceOf(pace);
  }

  /** Takes a place; resolves to how to leave it, or to undefined where the signal aborted first. */
  async enter(signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    if (this.#taken < this.pace.maxModelCalls) this.#taken += 1;
    else if (!(await this.#turn(signal))) return undefined;
    return () => this.#leave();
  }

  /** Gives the place to who waits longest. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#taken -= 1;
    else next(true);
  }

  /** Waits for a place that is left; resolves to false where the signal aborts. */
  async #turn(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      const at = this.#queue.indexOf(resolve);
      if (at === -1) return; // A place was given to it.
      this.#queue.splice(at, 1);
      resolve(false);
    };
    this.#queue.push(resolve);
    signal.addEventListener("abort", giveUp, { once: true });
    const hasPlace = await promise;
    signal.removeEventListener("abort", giveUp);
    return hasPlace;
  }
}
