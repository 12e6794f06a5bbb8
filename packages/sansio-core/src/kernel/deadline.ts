/**
 * Many deadlines, one answer: which is the next. A persistent pairing heap of (at, birth, key). Entries are never
 * searched: one whose row has another deadline by now is stale, and falls out when it comes to the root.
 */

export interface Deadline {
  /** Scope time in milliseconds. */
  readonly at: number;
  /** The sequence of the event that set it: of two deadlines at one time the older passes first. */
  readonly birth: number;
}

/** The deadline that an event sets; time counts no farther than a number does. */
export const deadlineIn = ({ at, seq }: { readonly at: number; readonly seq: number }, ms: number): Deadline => ({
  at: Math.min(at + ms, Number.MAX_SAFE_INTEGER),
  birth: seq,
});

export interface Due extends Deadline {
  /** The row that it belongs to. */
  readonly key: string;
}

interface Node extends Due {
  readonly below: List | undefined;
}
interface List {
  readonly node: Node;
  readonly rest: List | undefined;
}

/** A total order, so that what passes first depends on data alone. */
export const isBefore = (a: Due, b: Due): boolean => {
  if (a.at !== b.at) return a.at < b.at;
  if (a.birth !== b.birth) return a.birth < b.birth;
  return a.key < b.key;
};

/** The one that passes first. */
export const earlierOf = (a: Due | undefined, b: Due | undefined): Due | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  return isBefore(b, a) ? b : a;
};

export const isSameDeadline = (a: Deadline | undefined, b: Deadline | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.at === b.at && a.birth === b.birth);

const under = (root: Node, child: Node): Node => ({
  at: root.at,
  birth: root.birth,
  key: root.key,
  below: { node: child, rest: root.below },
});
const merge = (a: Node, b: Node): Node => (isBefore(b, a) ? under(b, a) : under(a, b));

/** Merges what is left without the root: neighbours in pairs, then all of them from the last. */
const mergeAll = (list: List | undefined): Node | undefined => {
  const pairs: Node[] = [];
  for (let rest = list; rest !== undefined; rest = rest.rest?.rest) {
    pairs.push(rest.rest === undefined ? rest.node : merge(rest.node, rest.rest.node));
  }
  return pairs.reduceRight<Node | undefined>((all, pair) => (all === undefined ? pair : merge(pair, all)), undefined);
};

export class Deadlines {
  readonly #root: Node | undefined;
  /** Entries, stale ones included. */
  readonly size: number;

  private constructor(root: Node | undefined, size: number) {
    this.#root = root;
    this.size = size;
  }

  static readonly none = new Deadlines(undefined, 0);

  static of(dues: Iterable<Due>): Deadlines {
    let all = Deadlines.none;
    for (const due of dues) all = all.add(due);
    return all;
  }

  get next(): Due | undefined {
    return this.#root;
  }

  add(due: Due): Deadlines {
    const node: Node = { at: due.at, birth: due.birth, key: due.key, below: undefined };
    return new Deadlines(this.#root === undefined ? node : merge(this.#root, node), this.size + 1);
  }

  withoutNext(): Deadlines {
    return this.#root === undefined ? this : new Deadlines(mergeAll(this.#root.below), this.size - 1);
  }

  /** Without the stale entries at the root, so that the next one is true. */
  settled(isTrue: (due: Due) => boolean): Deadlines {
    if (this.#root === undefined || isTrue(this.#root)) return this;
    let rest = this.withoutNext();
    while (rest.next !== undefined && !isTrue(rest.next)) rest = rest.withoutNext();
    return rest;
  }
}
