/**
 * Where things arrive from outside of the program: a step's end, a host's word, time. In an explored world they wait
 * at a gate until the explorer lets one in; in any other they walk through.
 */

import { type Footprint, everything } from "./footprint.ts";

/** Something that arrives when it is let in. */
export interface Arrival {
  /** What it is, the same in every run. */
  readonly label: string;
  /** What it concerns by itself, beside the events that it leads to. */
  readonly concerns?: Footprint;
}

/** Who decides what arrives next. */
export interface Chooser {
  /** Which of what can arrive does so now; none: this run is of no interest any more. */
  readonly choose: (ready: readonly Arrival[]) => number | undefined;
  /** What was touched by all that came of the last choice. */
  readonly touched: (footprint: Footprint) => void;
}

interface Waiting {
  readonly arrival: Arrival;
  readonly isAlive: () => boolean;
  readonly enter: () => void;
}

/** Time passes up to the next deadline that anybody has set. */
export const timePasses: Arrival = { label: "time passes", concerns: everything };

export class Gate {
  readonly #isOpen: boolean;
  #waiting: Waiting[] = [];

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  pass(arrival: Arrival, isAlive: () => boolean): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((enter) => {
      const same = this.#waiting.filter(({ arrival: { label } }) => label.split(" #")[0] === arrival.label).length;
      const label = same === 0 ? arrival.label : `${arrival.label} #${same + 1}`;
      this.#waiting.push({ arrival: { ...arrival, label }, isAlive, enter });
    });
  }

  /** What waits, by label: in an order that does not hang on when it came. */
  get ready(): readonly Arrival[] {
    this.#waiting = this.#waiting.filter(({ isAlive }) => isAlive());
    return this.#waiting.map(({ arrival }) => arrival).toSorted((a, b) => (a.label < b.label ? -1 : 1));
  }

  letIn({ label }: Arrival): void {
    const waiting = this.#waiting.find(({ arrival }) => arrival.label === label);
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    waiting?.enter();
  }
}
