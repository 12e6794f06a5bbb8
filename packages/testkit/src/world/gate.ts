/**
 * The gate for arrivals from outside of the program: ends of steps, requests of the host, time. In an explored world
 * they wait until the explorer admits one; otherwise they pass.
 */

import { type Footprint, everything } from "./footprint.ts";

/** Something that arrives once it is admitted. */
export interface Arrival {
  /** A name that is the same in every run. */
  readonly label: string;
  /** Its own footprint, besides the events that follow. */
  readonly concerns?: Footprint;
}

/** Decides the order of arrivals. */
export interface Chooser {
  /** Picks the next arrival. Undefined ends a run that would repeat another one. */
  readonly choose: (ready: readonly Arrival[]) => number | undefined;
  /** Reports the footprint of everything that the last choice caused. */
  readonly touched: (footprint: Footprint) => void;
}

/** The process dies, and the next one, which is of a newer release, upgrades what it left. */
export const nextRelease: Arrival = { label: "the next release", concerns: everything };

interface Waiting {
  readonly arrival: Arrival;
  readonly isAlive: () => boolean;
  readonly enter: () => void;
}

/** Time passes to the next deadline. */
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

  /** The waiting arrivals, sorted by label, which does not depend on when they came. */
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
