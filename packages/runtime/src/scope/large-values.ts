/**
 * Large values of one scope: put aside before they are recorded, and shown again to whoever is meant to see them. What
 * is stepped, and so the whole state, has references in their place; bodies, models, hosts and observers see values.
 */
import type { RuntimeOptions } from "../runtime-options.ts";
import { type Event, type State, EventCodec } from "@pawl/sansio-core";
import { type Json, decode, describe, mapValues, noLimits, parse, readOwned, stringify, utf8 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import {
  type BlobReader,
  type BlobStore,
  blobAt,
  BlobMissing,
  isHash,
  isMarked,
  referenceTo,
} from "../journal/blob.ts";
import { mayOffload, mayWait } from "./offload.ts";
import { type Platform, turnOf } from "../platform.ts";

/** Characters of a value's text from which on it is put aside, unless the host says otherwise. */
export const defaultBlobChars = 65_536;

export interface ValuesPort {
  readonly scope: string;
  /** Without a store values stay where they are. */
  readonly blobs: BlobStore | undefined;
  readonly limit: number;
  readonly hashText: (text: string) => string;
  /** Sizes of lines that the journal has rejected for want of room. */
  readonly rejected?: RejectedSizes;
  /** Resolves in a later turn of the event loop. */
  readonly turn?: () => Promise<void>;
}

/** Parsing a longer text takes some milliseconds. */
const longText = 262_144;

/** An event with references in the place of large values. `stored` resolves when the values are durable. */
export interface Offloaded {
  readonly event: Event;
  readonly stored: Promise<unknown>;
}

const isContainer = (u: unknown): u is object => typeof u === "object" && u !== null;

/** Looks at each blob that is named anywhere in something, until one is what was looked for. */
const someBlob = (root: unknown, isIt: (name: string) => boolean): boolean => {
  if (!isContainer(root)) return false;
  const rest: object[] = [root];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const blob = blobAt(next);
    if (blob === undefined) pushContainers(next, rest);
    else if (isIt(blob.name)) return true;
  }
  return false;
};

const pushContainers = (container: object, rest: object[]): void => {
  for (const part of Object.values(container)) if (isContainer(part)) rest.push(part);
};

const namesBlob = (u: unknown): boolean => someBlob(u, () => true);

const blobsIn = (u: unknown): ReadonlySet<string> => {
  const names = new Set<string>();
  someBlob(u, (name) => {
    names.add(name);
    return false;
  });
  return names;
};

const withValues = (u: unknown, texts: ReadonlyMap<string, Json>): unknown => {
  if (!isContainer(u)) return u;
  const blob = blobAt(u);
  if (blob !== undefined) {
    const value = texts.get(blob.name) as Json;
    return blob.isEncoded ? value : valueOf(value);
  }
  if (Object.getPrototypeOf(u) !== Object.prototype && !Array.isArray(u)) return u;
  if (Array.isArray(u)) return u.map((item) => withValues(item, texts));
  return Object.fromEntries(Object.entries(u).map(([key, part]) => [key, withValues(part, texts)]));
};

const valueOf = (json: Json): unknown => {
  const value = decode(json, noLimits);
  if (E.isRight(value)) return value.right;
  throw new TypeError(`a blob holds no value: ${describe(value.left)}`);
};

/** Replaces the large values of one scope by references, and references by their values. */
export class Values {
  readonly #port: ValuesPort;
  #isOver = false;
  /** Texts that are on their way to the store. */
  readonly #putting = new Map<string, string>();
  /** Resolves when everything before is inlined; whatever comes next waits for it. */
  #tail: Promise<void> | undefined;

  constructor(port: ValuesPort) {
    this.#port = port;
  }

  /** Drops what is still to be shown: the scope was abandoned. */
  end(): void {
    this.#isOver = true;
  }

  get isEmpty(): boolean {
    return this.#tail === undefined && this.#putting.size === 0;
  }

  get blobs(): BlobReader | undefined {
    return this.#port.blobs;
  }

  /** Returns the event with references, if it has large values. `line` is its line without them. */
  offload(event: Event, state: State, line: string): Offloaded | undefined {
    const referred = this.isLarge(line) ? this.#offloaded(event, state) : undefined;
    if (referred !== undefined || this.#port.rejected?.has(this.#port.scope, line.length) !== false) return referred;
    return mayWait(event) ? { event, stored: Promise.reject(new Error("its journal had no room for it")) } : undefined;
  }

  /** Takes note that the journal had no room for lines, of which this is the longest. */
  refused(characters: number): void {
    this.#port.rejected?.refused(this.#port.scope, characters);
  }

  /** Says whether a text may have large values in it. */
  isLarge(text: string): boolean {
    return this.#port.blobs !== undefined && (text.length > this.#port.limit || isMarked(text));
  }

  /** Stores the large values of an event. Returns its form with references, or undefined where it has none. */
  async keep(event: Event, state: State): Promise<Event | undefined> {
    const referred = this.#port.blobs === undefined ? undefined : this.#offloaded(event, state);
    await referred?.stored;
    return referred?.event;
  }

  #offloaded(event: Event, state: State): Offloaded | undefined {
    const { limit } = this.#port;
    const puts: Promise<void>[] = [];
    const encoded = EventCodec.encode(event) as Json;
    const mayBe = mayOffload(event, state);
    const changed = mapValues(EventCodec, encoded, (value, path) => {
      const text = stringify(value);
      if (mayBe && path.at(-1) !== "replay" && (text.length > limit || isMarked(text))) return this.#put(text, puts);
      return isMarked(text) ? this.#withoutFalse(value, puts) : value;
    });
    if (changed === encoded) return undefined;
    const read = readOwned(EventCodec, changed);
    if (E.isLeft(read)) throw new TypeError(`an event with references: ${describe(read.left)}`);
    return { event: read.right, stored: Promise.all(puts) };
  }

  #put(text: string, puts: Promise<void>[]): Json {
    const { blobs, scope, hashText } = this.#port;
    const bytes = utf8(text);
    const name = blobs?.fresh?.() ?? hashText(text);
    if (blobs === undefined) return referenceTo(name, bytes.length);
    this.#putting.set(name, text);
    puts.push(blobs.put(scope, name, bytes).finally(() => void this.#putting.delete(name)));
    return referenceTo(name, bytes.length);
  }

  /** Keeps a value in the event, except what only looks like a reference: that is stored, and named by a true one. */
  #withoutFalse(value: Json, puts: Promise<void>[]): Json {
    if (typeof value !== "object" || value === null) return value;
    if (blobAt(value) !== undefined) return this.#put(stringify(value), puts);
    if (Array.isArray(value)) return value.map((item) => this.#withoutFalse(item as Json, puts));
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, this.#withoutFalse(part as Json, puts)]),
    );
  }

  async #read(name: string): Promise<Json> {
    const text = this.#putting.get(name) ?? (await this.#stored(name));
    const json = parse(text, noLimits);
    if (text.length > longText) await this.#port.turn?.(); // Others are served before it is decoded.
    if (E.isLeft(json)) throw new BlobMissing("blob_corrupt", this.#port.scope, name);
    return json.right;
  }

  async #stored(name: string): Promise<string> {
    const { blobs, scope, hashText } = this.#port;
    const bytes = await blobs?.read(scope, name);
    if (bytes === undefined) throw new BlobMissing("blob_missing", scope, name);
    const text = new TextDecoder().decode(bytes);
    if (isHash(name) && hashText(text) !== name) throw new BlobMissing("blob_corrupt", scope, name);
    return text;
  }

  /** Inlines: returns the same with values in the place of references. */
  async of<A>(what: A): Promise<A> {
    const names = this.#port.blobs === undefined ? [] : [...blobsIn(what)];
    if (names.length === 0) return what;
    const texts = await Promise.all(names.map(async (name) => [name, await this.#read(name)] as const));
    return withValues(what, new Map(texts)) as A;
  }

  /**
   * Does something with what is recorded: at once, or in its turn where a value has to be read, or one before it is
   * being read. What did not come from a record is not to be shown: what looks like a reference there is none.
   */
  inOrder<A>(what: A, act: (shown: A) => void, failed: (thrown: unknown) => void): void {
    const isPlain = this.#port.blobs === undefined || !namesBlob(what);
    if (this.#tail === undefined && isPlain) return act(what);
    const shown = isPlain ? Promise.resolve(what) : this.of(what);
    const before = this.#tail;
    const turn = (async () => {
      await before;
      try {
        const value = await shown;
        if (!this.#isOver) act(value);
      } catch (thrown) {
        failed(thrown);
      }
    })();
    this.#tail = turn;
    void turn.then(() => {
      if (this.#tail === turn) this.#tail = undefined;
    });
  }
}

export const valuesOf = (
  { journal, platform, blobChars = defaultBlobChars }: Pick<RuntimeOptions, "journal" | "platform" | "blobChars">,
  scope: string,
  rejected: RejectedSizes,
): Values =>
  new Values({
    scope,
    blobs: journal.blobs,
    limit: blobChars,
    hashText: platform.hashText,
    rejected,
    turn: () => turnOf(platform),
  });

/** Shorter lines are never the reason that a journal is full. */
const leastLine = 4096;
const rememberedMs = 60_000;

interface Rejected {
  readonly characters: number;
  readonly until: number;
}

export class RejectedSizes {
  readonly #platform: Pick<Platform, "monotonic">;
  readonly #refused = new Map<string, Rejected>();

  constructor(platform: Pick<Platform, "monotonic">) {
    this.#platform = platform;
  }

  /** There was no room for a line of so many characters. */
  refused(scope: string, characters: number): void {
    if (characters < leastLine) return;
    const until = this.#platform.monotonic() + rememberedMs;
    this.#refused.set(scope, { characters: Math.min(characters, this.#most(scope)), until });
  }

  has(scope: string, characters: number): boolean {
    return characters < leastLine || characters < this.#most(scope);
  }

  #most(scope: string): number {
    const refused = this.#refused.get(scope);
    if (refused === undefined) return Infinity;
    if (this.#platform.monotonic() < refused.until) return refused.characters;
    this.#refused.delete(scope);
    return Infinity;
  }
}
