/**
 * A persistent map of rows by their keys: a trie over the hashes of the keys, five bits of a hash a level. A write
 * copies one branch a level and shares the rest with the map before it.
 *
 *   branch   bits: which of 32 places are taken     slots: what is there, without gaps
 *   leaf     a key with its row, chained to those whose keys have the same hash
 *
 * A branch never holds a single leaf and nothing else, so that a map's shape depends on its keys alone.
 */

type Key = string | number;

interface Leaf<K, Row> {
  readonly slots: undefined;
  readonly size: number;
  readonly hash: number;
  readonly key: K;
  readonly row: Row;
  readonly next: Leaf<K, Row> | undefined;
}
interface Branch<K, Row> {
  readonly slots: readonly Node<K, Row>[];
  readonly size: number;
  readonly bits: number;
}
type Node<K, Row> = Leaf<K, Row> | Branch<K, Row>;

/** FNV-1a of a text; a number is its own hash. */
export const hashOf = (key: Key): number => {
  if (typeof key === "number") return key | 0;
  let hash = -2_128_831_035;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 16_777_619);
  return hash ^ (hash >>> 15);
};

const bitOf = (hash: number, shift: number): number => 1 << ((hash >>> shift) & 31);

/** How many bits are set: the place of a bit among the slots is how many come before it. */
const countOf = (bits: number): number => {
  const pairs = bits - ((bits >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
};

const leafOf = <K extends Key, Row>(key: K, row: Row): Leaf<K, Row> => ({
  slots: undefined,
  size: 1,
  hash: hashOf(key),
  key,
  row,
  next: undefined,
});
const chained = <K, Row>({ slots, hash, key, row }: Leaf<K, Row>, next: Leaf<K, Row> | undefined): Leaf<K, Row> => ({
  slots,
  size: next === undefined ? 1 : next.size + 1,
  hash,
  key,
  row,
  next,
});

/** Joins two nodes whose hashes differ at the branch where they part. */
const fork = <K, Row>(one: Leaf<K, Row>, other: Leaf<K, Row>, shift: number): Branch<K, Row> => {
  const [a, b] = [bitOf(one.hash, shift), bitOf(other.hash, shift)];
  const size = one.size + other.size;
  if (a === b) return { slots: [fork(one, other, shift + 5)], size, bits: a };
  return { slots: a >>> 0 < b >>> 0 ? [one, other] : [other, one], size, bits: a | b };
};

const inChain = <K, Row>(chain: Leaf<K, Row> | undefined, key: K): Leaf<K, Row> | undefined => {
  let found = chain;
  while (found !== undefined && found.key !== key) found = found.next;
  return found;
};

/** The chain without a key: the same one where it has no such key. */
const unchained = <K, Row>(chain: Leaf<K, Row>, key: K): Leaf<K, Row> | undefined => {
  if (chain.key === key || chain.next === undefined) return chain.key === key ? chain.next : chain;
  const next = unchained(chain.next, key);
  return next === chain.next ? chain : chained(chain, next);
};

const put = <K, Row>(node: Node<K, Row>, one: Leaf<K, Row>, shift: number): Node<K, Row> => {
  if (node.slots === undefined) {
    if (node.hash !== one.hash) return fork(node, one, shift);
    const before = inChain(node, one.key);
    return before !== undefined && before.row === one.row ? node : chained(one, unchained(node, one.key));
  }
  const bit = bitOf(one.hash, shift);
  const at = countOf(node.bits & (bit - 1));
  const slots = node.slots.slice();
  if ((node.bits & bit) === 0) {
    slots.splice(at, 0, one);
    return { slots, size: node.size + 1, bits: node.bits | bit };
  }
  const before = slots[at] as Node<K, Row>;
  const after = put(before, one, shift + 5);
  if (after === before) return node;
  slots[at] = after;
  return { slots, size: node.size - before.size + after.size, bits: node.bits };
};

const remove = <K, Row>(node: Node<K, Row>, hash: number, key: K, shift: number): Node<K, Row> | undefined => {
  if (node.slots === undefined) return node.hash === hash ? unchained(node, key) : node;
  const bit = bitOf(hash, shift);
  if ((node.bits & bit) === 0) return node;
  const at = countOf(node.bits & (bit - 1));
  const before = node.slots[at] as Node<K, Row>;
  const after = remove(before, hash, key, shift + 5);
  if (after === before) return node;
  const slots = after === undefined ? node.slots.toSpliced(at, 1) : node.slots.with(at, after);
  const [first] = slots;
  if (slots.length === 1 && first?.slots === undefined) return first;
  return { slots, size: node.size - 1, bits: after === undefined ? node.bits & ~bit : node.bits };
};

/** The leaves of one hash, as writes in this order leave them. */
const chainOf = <K, Row>(leaves: readonly Leaf<K, Row>[]): Leaf<K, Row> => {
  const [first, ...rest] = leaves as readonly [Leaf<K, Row>, ...Leaf<K, Row>[]];
  return rest.reduce((chain, leaf) => chained(leaf, unchained(chain, leaf.key)), first);
};

/** Builds the node that writing these leaves one by one would end in, at a fraction of the cost. There is at least one. */
const built = <K, Row>(leaves: readonly Leaf<K, Row>[], shift: number): Node<K, Row> => {
  const hash = leaves[0]?.hash;
  if (leaves.every((leaf) => leaf.hash === hash)) return chainOf(leaves);
  const places: (Leaf<K, Row>[] | undefined)[] = [];
  for (const leaf of leaves) (places[(leaf.hash >>> shift) & 31] ??= []).push(leaf);
  const slots: Node<K, Row>[] = [];
  let [size, bits] = [0, 0];
  for (let place = 0; place < 32; place += 1) {
    const some = places[place];
    if (some === undefined) continue;
    const slot = some.length === 1 ? (some[0] as Leaf<K, Row>) : built(some, shift + 5);
    slots.push(slot);
    size += slot.size;
    bits |= 1 << place;
  }
  return { slots, size, bits };
};

const visit = <K, Row>(node: Node<K, Row> | undefined, look: (row: Row, key: K) => void): void => {
  if (node === undefined) return;
  if (node.slots !== undefined) {
    for (const slot of node.slots) visit(slot, look);
    return;
  }
  look(node.row, node.key);
  visit(node.next, look);
};

/** Returns whether the test holds for any row; stops at the first. */
const anyOf = <K, Row>(node: Node<K, Row> | undefined, isSo: (row: Row, key: K) => boolean): boolean => {
  if (node === undefined) return false;
  if (node.slots === undefined) return isSo(node.row, node.key) || anyOf(node.next, isSo);
  for (const slot of node.slots) if (anyOf(slot, isSo)) return true;
  return false;
};

/** Holds rows by their keys; a write returns a new map and leaves the old one as it was. */
export class PersistentMap<K extends Key, Row> {
  readonly #root: Node<K, Row> | undefined;

  private constructor(root: Node<K, Row> | undefined) {
    this.#root = root;
  }

  static readonly #empty = new PersistentMap<never, never>(undefined);

  static empty<K extends Key, Row>(): PersistentMap<K, Row> {
    return PersistentMap.#empty as PersistentMap<K, Row>;
  }

  static of<K extends Key, Row>(rows: Iterable<readonly [K, Row]>): PersistentMap<K, Row> {
    const leaves = Array.from(rows, ([key, row]) => leafOf(key, row));
    return leaves.length === 0 ? PersistentMap.empty() : new PersistentMap(built(leaves, 0));
  }

  get size(): number {
    return this.#root === undefined ? 0 : this.#root.size;
  }

  /** Finds what holds the row of a key. Whoever looks into several maps gives the key's hash, which takes longest. */
  find(key: K, hash = hashOf(key)): { readonly row: Row } | undefined {
    let node = this.#root;
    for (let shift = 0; node?.slots !== undefined; shift += 5) {
      const bit = bitOf(hash, shift);
      node = (node.bits & bit) === 0 ? undefined : node.slots[countOf(node.bits & (bit - 1))];
    }
    return inChain(node, key);
  }

  get(key: K): Row | undefined {
    return this.find(key)?.row;
  }
  has(key: K): boolean {
    return this.find(key) !== undefined;
  }

  set(key: K, row: Row): PersistentMap<K, Row> {
    const one = leafOf(key, row);
    const root = this.#root === undefined ? one : put(this.#root, one, 0);
    return root === this.#root ? this : new PersistentMap(root);
  }
  delete(key: K): PersistentMap<K, Row> {
    const root = this.#root === undefined ? undefined : remove(this.#root, hashOf(key), key, 0);
    return root === this.#root ? this : new PersistentMap(root);
  }

  /** Iterates in no order that means anything. */
  forEach(look: (row: Row, key: K) => void): void {
    visit(this.#root, look);
  }
  some(isSo: (row: Row, key: K) => boolean): boolean {
    return anyOf(this.#root, isSo);
  }
  keys(): K[] {
    const keys: K[] = [];
    this.forEach((_, key) => keys.push(key));
    return keys;
  }
  values(): Row[] {
    const rows: Row[] = [];
    this.forEach((row) => rows.push(row));
    return rows;
  }
  entries(): [K, Row][] {
    const entries: [K, Row][] = [];
    this.forEach((row, key) => entries.push([key, row]));
    return entries;
  }
  [Symbol.iterator](): Iterator<[K, Row]> {
    return this.entries()[Symbol.iterator]();
  }
}
