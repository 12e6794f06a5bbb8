/**
 * Tries the orders in which things can arrive: the ends of steps, the host's calls and decisions, the passing of time.
 * Every order is run from its beginning; of two orders that differ only in what is independent one is run (sleep sets).
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
  /** So many orders are run. */
  readonly orders?: number;
  /** So many choices are made in one run; what comes after is taken as it comes. */
  readonly depth?: number;
  readonly things?: number;
  /** Whether every order has to come to the same result, by the same effects. */
  readonly sameResult?: boolean;
  /** Whether orders are run as well that differ only in what is independent. */
  readonly all?: boolean;
  /** What befalls the processes, in every order. */
  readonly director?: Director;
}

/** A result, in how many orders it came about, and one of them. */
export interface ResultOfOrders {
  readonly result: Json;
  readonly orders: number;
  readonly example: readonly string[];
}

export interface ScheduleViolation extends Violation {
  /** What arrived, in order. */
  readonly order: readonly string[];
}

export interface ScheduleReport {
  readonly isSafe: boolean;
  readonly orders: number;
  /** Runs that were left, since another order comes to the same. */
  readonly pruned: number;
  /** Whether there are orders that were not run. */
  readonly isBounded: boolean;
  readonly results: readonly ResultOfOrders[];
  readonly violations: readonly ScheduleViolation[];
}

/** What was let in, and what all that came of it touched, up to the next choice. */
interface Tried {
  readonly label: string;
  readonly touched: Footprint;
}

/** A place where there was a choice: what could arrive, what does in this run, and what need not be tried here. */
interface Node {
  readonly ready: readonly Arrival[];
  readonly asleep: readonly Tried[];
  readonly tried: readonly Tried[];
  readonly chosen: Arrival;
  /** Of what was chosen; as long as it is not known, all. */
  readonly touched: Footprint;
}

const includes = (list: readonly Tried[], { label }: Arrival): boolean => list.some((one) => one.label === label);

/** What need not be tried after a choice: what was tried before it, or slept, and makes no difference to it. */
const asleepAfter = ({ asleep, tried, touched }: Node, independent: typeof isIndependent): readonly Tried[] =>
  [...asleep, ...tried].filter((before) => independent(before.touched, touched));
const dependent: typeof isIndependent = () => false;

const freshIn = (ready: readonly Arrival[], asleep: readonly Tried[], tried: readonly Tried[]) =>
  ready.filter((arrival) => !includes(asleep, arrival) && !includes(tried, arrival));

/** The choices of one run: those of its beginning are given, those of its end are new. */
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

  /** The beginning of the next run: the last choice that can be made otherwise is. */
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

/** What another order may come to, since it may take another branch. */
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
