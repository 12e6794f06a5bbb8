/**
 * Explores the orders of arrivals: ends of steps, requests and decisions of the host, passing time. Each order is run
 * from the start. Of orders that differ only in independent arrivals one is run (partial-order reduction with sleep
 * sets).
 */
import { type Footprint, everything, isIndependent } from "./footprint.ts";
import type { Arrival, Chooser } from "./gate.ts";
import { type Json, canonicalJson } from "@pawl/tool-value";
import { timeless, violationsOf } from "./judge.ts";
import type { Scenario } from "./scenario.ts";
import { type Director, undisturbed } from "./moment.ts";
import { runScenario } from "./run.ts";
import type { Harm, Violation, Outcome } from "./outcome.ts";

export interface ScheduleOptions {
  /** Maximum number of orders. */
  readonly orders?: number;
  /** Maximum number of choices in one run; later arrivals come as they come. */
  readonly depth?: number;
  readonly things?: number;
  /** Every order must have the same result and the same effects. */
  readonly sameResult?: boolean;
  /** Runs orders that differ only in independent arrivals, too. */
  readonly all?: boolean;
  /** Faults that hit the processes in every order. */
  readonly director?: Director;
}

/** A result, the number of orders that led to it, and one of them. */
export interface ResultOfOrders {
  readonly result: Json;
  readonly orders: number;
  readonly example: readonly string[];
}

export interface ScheduleViolation extends Violation {
  /** The arrivals, in order. */
  readonly order: readonly string[];
}

export interface ScheduleReport {
  readonly isSafe: boolean;
  readonly orders: number;
  /** Runs that were skipped because another order is equivalent. */
  readonly pruned: number;
  /** Some orders were not run. */
  readonly isBounded: boolean;
  readonly results: readonly ResultOfOrders[];
  readonly violations: readonly ScheduleViolation[];
}

/** An admitted arrival, with the footprint of everything up to the next choice. */
interface Tried {
  readonly label: string;
  readonly touched: Footprint;
}

/** A choice: the arrivals that were ready, the chosen one, and those that need not be tried here. */
interface Node {
  readonly ready: readonly Arrival[];
  readonly asleep: readonly Tried[];
  readonly tried: readonly Tried[];
  readonly chosen: Arrival;
  /** The footprint of the chosen arrival; everything until it is known. */
  readonly touched: Footprint;
}

const includes = (list: readonly Tried[], { label }: Arrival): boolean => list.some((one) => one.label === label);

/**
 * Returns the arrivals that stay asleep after a choice: those tried before it, or asleep, that are independent of it.
 */
const asleepAfter = ({ asleep, tried, touched }: Node, independent: typeof isIndependent): readonly Tried[] =>
  [...asleep, ...tried].filter((before) => independent(before.touched, touched));
const dependent: typeof isIndependent = () => false;

const freshIn = (ready: readonly Arrival[], asleep: readonly Tried[], tried: readonly Tried[]) =>
  ready.filter((arrival) => !includes(asleep, arrival) && !includes(tried, arrival));

/** The choices of one run: a given prefix, then new ones. */
class Path implements Chooser {
  nodes: Node[];
  #at = 0;
  #isRedundant = false;
  #isDeep = false;
  readonly #depth: number;
  readonly #isIndependent: typeof isIndependent;

  constructor(given: readonly Node[], depth: number, independent: typeof isIndependent) {
    this.nodes = [...given];
    this.#depth = depth;
    this.#isIndependent = independent;
  }

  get isRedundant(): boolean {
    return this.#isRedundant;
  }
  get isDeep(): boolean {
    return this.#isDeep;
  }
  get order(): readonly string[] {
    return this.nodes.map(({ chosen }) => chosen.label);
  }

  touched: Chooser["touched"] = (touched) => {
    const last = this.nodes[this.#at - 1];
    if (last !== undefined) this.nodes[this.#at - 1] = { ...last, touched };
  };

  choose: Chooser["choose"] = (ready) => {
    const node = this.nodes[this.#at] ?? this.#grow(ready);
    this.#at += 1;
    if (node === undefined) return this.#isRedundant ? undefined : 0;
    return ready.findIndex(({ label }) => label === node.chosen.label);
  };

  #grow(ready: readonly Arrival[]): Node | undefined {
    if (this.nodes.length >= this.#depth) {
      this.#isDeep = true;
      return undefined;
    }
    const last = this.nodes.at(-1);
    const asleep = last === undefined ? [] : asleepAfter(last, this.#isIndependent);
    const [chosen] = freshIn(ready, asleep, []);
    if (chosen === undefined) {
      this.#isRedundant = true;
      return undefined;
    }
    const node = { ready, asleep, tried: [], chosen, touched: everything };
    this.nodes.push(node);
    return node;
  }

  /** The prefix of the next run, which changes the last choice that has an alternative (depth-first search). */
  get next(): readonly Node[] | undefined {
    for (let end = this.nodes.length; end > 0; end--) {
      const node = this.nodes[end - 1] as Node;
      const tried = [...node.tried, { label: node.chosen.label, touched: node.touched }];
      const [chosen] = freshIn(node.ready, node.asleep, tried);
      if (chosen !== undefined)
        return [...this.nodes.slice(0, end - 1), { ...node, tried, chosen, touched: everything }];
    }
    return undefined;
  }
}

interface Run {
  readonly order: readonly string[];
  readonly outcome: Outcome;
}

const resultsOf = (runs: readonly Run[]): readonly ResultOfOrders[] => {
  const results = new Map<string, ResultOfOrders>();
  for (const { order, outcome } of runs) {
    if (outcome.ended !== "done") continue;
    const result = timeless(outcome.result ?? null);
    const text = canonicalJson(result);
    const { orders, example } = results.get(text) ?? { orders: 0, example: order };
    results.set(text, { result, orders: orders + 1, example });
  }
  return [...results.values()];
};

/** Harms that another order may cause by taking another branch. */
const branching: ReadonlySet<Harm> = new Set(["other_result", "lost"]);

/** Explores the orders of a scenario's arrivals. */
export const exploreSchedules = async (scenario: Scenario, options: ScheduleOptions = {}): Promise<ScheduleReport> => {
  const { orders: most = 1000, depth = 200, things = 100_000, sameResult = false, all = false } = options;
  const { director = undisturbed } = options;
  const usual = await runScenario(scenario, { things });
  const runs: Run[] = [];
  let [pruned, isDeep] = [0, false];
  let beginning: readonly Node[] | undefined = [];
  while (beginning !== undefined && runs.length < most) {
    const path = new Path(beginning, depth, all ? dependent : isIndependent);
    const outcome = await runScenario(scenario, { things, chooser: path, director });
    isDeep ||= path.isDeep;
    if (path.isRedundant) pruned += 1;
    else runs.push({ order: path.order, outcome });
    beginning = path.next;
  }
  const violations = runs.flatMap(({ order, outcome }) =>
    violationsOf({ blows: [], outcome }, usual, scenario)
      .filter(({ harm }) => sameResult || !branching.has(harm))
      .map((violation) => ({ ...violation, order })),
  );
  const isBounded = isDeep || beginning !== undefined;
  return {
    isSafe: violations.length === 0,
    orders: runs.length,
    pruned,
    isBounded,
    results: resultsOf(runs),
    violations,
  };
};
