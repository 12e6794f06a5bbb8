/**
 * Where things arrive from outside of the program: a step's end, a host's word, time. In an explored world they wait
 * at a gate until the explorer lets one in; in any other they walk through.
 */

/** Something that arrives when it is let in. */
export interface Arrival {
  /** What it is, the same in every run. */
  readonly label: string;
  /** Whose it is: the scope that takes it, and the request in it; what has none concerns everybody. */
  readonly scope?: string;
  readonly request?: string;
}

/** Which of what can arrive does so now; none: this run is of no interest any more. */
export type Choose = (ready: readonly Arrival[]) => number | undefined;

interface Waiting {
  readonly arrival: Arrival;
  readonly isAlive: () => boolean;
  readonly enter: () => void;
}

/** Time passes up to the next deadline that anybody has set. */
export const timePasses: Arrival = { label: "time passes" };

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

/** Whether it makes no difference which of two comes first: they concern other scopes, or other requests of one. */
export const isIndependent = (a: Arrival, b: Arrival): boolean => {
  if (a.scope === undefined || b.scope === undefined) return false;
  if (a.scope !== b.scope) return true;
  return a.request !== undefined && b.request !== undefined && a.request !== b.request;
};
