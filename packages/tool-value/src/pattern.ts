/**
 * Regular expressions that search in linear time, for patterns and texts that are not trusted.
 *
 * The engine of the platform backtracks: `^(\w+\s?)*$` takes twice as long with each further letter. Here a pattern of
 * Unicode mode is compiled to an automaton without memory (Thompson's construction), and a search follows all its paths at
 * once, one code point at a time. Sets of states that were seen before are remembered (lazy determinisation), so most code
 * points cost one lookup. A search takes at most the length of the text times the size of the pattern.
 *
 * The syntax and the meaning are those of the platform's `RegExp` with the flag `u`. What no such automaton can do is
 * refused: look-around, back references, modifiers, and repetitions that make it larger than `maxStates`.
 */
import * as E from "fp-ts/lib/Either.js";

/** Largest automaton of a pattern. `.{0,4000}` takes 8,000 states. */
const maxStates = 20_000;
/** Bounds of what a pattern remembers of its searches. */
const maxRemembered = 500;
const maxSetRemembered = 64;

type Place = "start" | "end" | "word" | "other";
type Test = (point: string) => boolean;

/** A part of a pattern, as its syntax has it. */
type Part =
  | { readonly type: "one"; readonly fits: Test }
  | { readonly type: "place"; readonly holds: (before: Place, after: Place) => boolean }
  | { readonly type: "all"; readonly parts: readonly Part[] }
  | { readonly type: "any"; readonly parts: readonly Part[] }
  | { readonly type: "repeat"; readonly part: Part; readonly least: number; readonly most: number };

class Refused extends Error {}

const isWord = (place: Place): boolean => place === "word";
const isEdge = (before: Place, after: Place): boolean => isWord(before) !== isWord(after);
const places: { readonly [text: string]: (before: Place, after: Place) => boolean } = {
  "^": (before) => before === "start",
  $: (_, after) => after === "end",
  "\\b": isEdge,
  "\\B": (before, after) => !isEdge(before, after),
};

/** `i` compares without regard to case, and with `s` a dot is any character. */
export type PatternFlags = "" | "i" | "s" | "is";

/** Takes a class or an escape as the platform does, which compares it with one code point. */
const native = (text: string, flags: PatternFlags): Test => {
  const one = new RegExp(`^${text}$`, `u${flags}`);
  return (point) => one.test(point);
};

const group = /^\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))/;
const quantifier = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/;
const oneEscape =
  /^\\(?:u\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u.{4}|x..|c.|[pP]\{[^}]*\}|[^1-9k])/u;
const characterClass = /^\[(?:[^\\\]]|\\[^])*\]/;
const counts: { readonly [text: string]: readonly [number, number] } = {
  "*": [0, Infinity],
  "+": [1, Infinity],
  "?": [0, 1],
};

/** Reads a pattern that the platform has accepted already. */
class Reader {
  #rest: string;
  readonly #flags: PatternFlags;

  constructor(source: string, flags: PatternFlags) {
    this.#rest = source;
    this.#flags = flags;
  }

  #take(expected: RegExp): RegExpExecArray | undefined {
    const found = expected.exec(this.#rest) ?? undefined;
    if (found !== undefined) this.#rest = this.#rest.slice(found[0].length);
    return found;
  }

  any(): Part {
    const parts = [this.#all()];
    while (this.#take(/^\|/) !== undefined) parts.push(this.#all());
    return { type: "any", parts };
  }

  #all(): Part {
    const parts: Part[] = [];
    while (this.#rest !== "" && !/^[|)]/.test(this.#rest)) parts.push(this.#repeated(this.#part()));
    return { type: "all", parts };
  }

  #part(): Part {
    const place = this.#take(/^(?:\^|\$|\\[bB])/);
    if (place !== undefined) return { type: "place", holds: places[place[0]] ?? (() => false) };
    if (this.#take(group) !== undefined) {
      const inner = this.any();
      this.#take(/^\)/);
      return inner;
    }
    if (this.#rest.startsWith("(")) {
      throw new Refused(
        /^\(\?<?[=!]/.test(this.#rest) ? "look-around is not supported" : "modifiers are not supported",
      );
    }
    if (/^\\[1-9k]/.test(this.#rest)) throw new Refused("back references are not supported");
    const written = this.#take(oneEscape) ?? this.#take(characterClass) ?? this.#take(/^\./);
    if (written !== undefined) return { type: "one", fits: native(written[0], this.#flags) };
    const literal = this.#take(/^[^]/u)?.[0] ?? "";
    if (this.#flags.includes("i")) return { type: "one", fits: native(literal, this.#flags) };
    return { type: "one", fits: (point) => point === literal };
  }

  #repeated(part: Part): Part {
    const found = this.#take(quantifier);
    if (found === undefined) return part;
    const [, sign, from, comma, to] = found;
    const exact = Number(from);
    const [least, most] = (sign === undefined ? undefined : counts[sign]) ?? [
      exact,
      comma === undefined ? exact : to === "" || to === undefined ? Infinity : Number(to),
    ];
    return { type: "repeat", part, least, most };
  }
}

/** A state of the automaton. Without a test it is passed without reading, if its place holds. */
interface Node {
  readonly fits?: Test;
  readonly holds?: (before: Place, after: Place) => boolean;
  readonly next: number[];
}

const finalState = 0;

/** Builds the automaton from its end: each part is put before the state that follows it. */
class Builder {
  readonly nodes: Node[] = [{ next: [] }];

  #add(node: Node): number {
    if (this.nodes.length >= maxStates) throw new Refused(`its repetitions take more than ${maxStates} states`);
    return this.nodes.push(node) - 1;
  }

  before(part: Part, next: number): number {
    if (part.type === "one") return this.#add({ fits: part.fits, next: [next] });
    if (part.type === "place") return this.#add({ holds: part.holds, next: [next] });
    if (part.type === "any") return this.#add({ next: part.parts.map((one) => this.before(one, next)) });
    if (part.type === "all") return part.parts.reduceRight((after, one) => this.before(one, after), next);
    return this.#repeat(part, next);
  }

  #repeat({ part, least, most }: Extract<Part, { type: "repeat" }>, next: number): number {
    let first = next;
    if (most === Infinity) {
      const loop: Node = { next: [next] };
      first = this.#add(loop);
      loop.next.push(this.before(part, first));
    }
    const optional = most === Infinity ? 0 : most - least;
    for (let i = 0; i < optional; i += 1) first = this.#add({ next: [next, this.before(part, first)] });
    for (let i = 0; i < least; i += 1) first = this.before(part, first);
    return first;
  }
}

/** A set of states between two code points, and where each next code point leads. */
interface Between {
  readonly states: readonly number[];
  readonly before: Place;
  /** By the next code point; undefined where the pattern is found before it. */
  readonly after: Map<string, Between | undefined>;
}

const wordPoint = /^\w$/;

class Automaton {
  readonly #nodes: readonly Node[];
  readonly #first: number;
  /** Holds for each state the last walk that met it. */
  readonly #metBy: Uint32Array;
  #walk = 0;
  #remembered = new Map<string, Between>();

  constructor(nodes: readonly Node[], first: number) {
    this.#nodes = nodes;
    this.#first = first;
    this.#metBy = new Uint32Array(nodes.length);
  }

  #isNew(state: number): boolean {
    if (this.#metBy[state] === this.#walk) return false;
    this.#metBy[state] = this.#walk;
    return true;
  }

  /** Follows all states that are passed without reading. Returns undefined if the final state is among them. */
  #reached({ states, before }: Between, after: Place): readonly Node[] | undefined {
    this.#walk += 1;
    const open = [...states];
    const reading: Node[] = [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (!this.#isNew(at)) continue;
      if (at === finalState) return undefined;
      const node = this.#nodes[at] ?? { next: [] };
      if (node.fits !== undefined) reading.push(node);
      else if (node.holds?.(before, after) ?? true) open.push(...node.next);
    }
    return reading;
  }

  #between(states: readonly number[], before: Place): Between {
    if (states.length > maxSetRemembered) return { states, before, after: new Map() };
    const key = `${before} ${states.toSorted((a, b) => a - b).join(" ")}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    if (this.#remembered.size >= maxRemembered) this.#remembered = new Map();
    const made = { states, before, after: new Map() };
    this.#remembered.set(key, made);
    return made;
  }

  #read(from: Between, point: string): Between | undefined {
    const place = wordPoint.test(point) ? "word" : "other";
    const reading = this.#reached(from, place);
    if (reading === undefined) return undefined;
    this.#walk += 1;
    const states = [this.#first];
    this.#isNew(this.#first);
    for (const { fits, next } of reading) {
      if (fits?.(point) ?? false) states.push(...next.filter((state) => this.#isNew(state)));
    }
    return this.#between(states, place);
  }

  #next(from: Between, point: string): Between | undefined {
    if (from.after.has(point)) return from.after.get(point);
    const next = this.#read(from, point);
    if (next !== undefined && next.states.length > maxSetRemembered) return next;
    if (from.after.size >= maxRemembered) from.after.clear();
    from.after.set(point, next);
    return next;
  }

  /** Returns whether the pattern is found anywhere in the text. */
  find(text: string): boolean {
    let at: Between | undefined = this.#between([this.#first], "start");
    for (const point of text) {
      at = this.#next(at, point);
      if (at === undefined) return true;
    }
    return this.#reached(at, "end") === undefined;
  }
}

/** Compiles a pattern of Unicode mode to a search in linear time, or says why it cannot. */
export const linearPattern = (
  source: string,
  flags: PatternFlags = "",
): E.Either<string, (text: string) => boolean> => {
  try {
    new RegExp(source, `u${flags}`).test("");
    const builder = new Builder();
    const automaton = new Automaton(builder.nodes, builder.before(new Reader(source, flags).any(), finalState));
    return E.right((text) => automaton.find(text));
  } catch (thrown) {
    if (thrown instanceof Refused || thrown instanceof SyntaxError) return E.left(thrown.message);
    throw thrown;
  }
};
