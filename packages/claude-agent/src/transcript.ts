/**
 * The transcript of a session of the SDK, in the store of a session of pawl, as the SDK's `SessionStore`. So a session goes on
 * in another process, and on another machine.
 *
 * A transcript is lines of JSON, in pieces that fit under a key of the store. What is appended is a piece of its own first, and
 * joins the one before it once it is as long: a line is written again a few times, not once for each line after it. The head
 * names the pieces, and is written last: an append is seen whole or not at all.
 */
import type { SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import type { Session } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";

type Store = Session["store"];
export type Entry = SessionStoreEntry;

interface Piece {
  readonly number: number;
  readonly length: number;
}
interface Head {
  readonly next: number;
  readonly pieces: readonly Piece[];
}
const empty: Head = { next: 0, pieces: [] };

/** Characters that a piece has as JSON: a value of the store holds 32,768. */
const longest = 30_000;
const lengthOf = (text: string): number => JSON.stringify(text).length;

const cut = (text: string): readonly string[] => {
  if (lengthOf(text) <= longest) return [text];
  const half = Math.floor(text.length / 2);
  return [...cut(text.slice(0, half)), ...cut(text.slice(half))];
};

const linesOf = (entries: readonly Entry[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
const entriesOf = (text: string): Entry[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);

/** One file of the SDK: the main transcript, or that of a subagent. */
class File {
  readonly #store: Store;
  readonly #name: string;
  /** Appends are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  async #head(): Promise<Head> {
    return ((await this.#store.get(this.#name)) as Head | undefined) ?? empty;
  }

  async #textOf({ number }: Piece): Promise<string> {
    return String(await this.#store.get(`${this.#name}/${number}`));
  }

  async #entries(): Promise<Entry[]> {
    const { pieces } = await this.#head();
    return entriesOf((await Promise.all(pieces.map((piece) => this.#textOf(piece)))).join(""));
  }

  #inOrder<A>(act: () => Promise<A>): Promise<A> {
    const acted = this.#last.then(act);
    this.#last = acted.catch(() => undefined); // Whoever asked for it is told.
    return acted;
  }

  entries(): Promise<Entry[]> {
    return this.#inOrder(() => this.#entries());
  }

  /** Appends what is not there yet: the SDK says things again whose first time may have failed. */
  append(entries: readonly Entry[]): Promise<void> {
    return this.#inOrder(async () => {
      const known = new Set((await this.#entries()).map(({ uuid }) => uuid));
      const news = entries.filter(({ uuid }) => uuid === undefined || !known.has(uuid));
      if (news.length > 0) await this.#write(linesOf(news));
    });
  }

  async #write(lines: string): Promise<void> {
    const head = await this.#head();
    const kept = [...head.pieces];
    const joined: Piece[] = [];
    let text = lines;
    for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
      if (last.length > lengthOf(text) || last.length + lengthOf(text) > longest) break;
      text = (await this.#textOf(last)) + text;
      joined.push(...kept.splice(-1));
    }
    const texts = cut(text);
    const pieces = texts.map((piece, i) => ({ number: head.next + i, length: lengthOf(piece) }));
    for (const [i, piece] of texts.entries()) await this.#store.set(`${this.#name}/${head.next + i}`, piece);
    const next = { next: head.next + texts.length, pieces: [...kept, ...pieces] } satisfies Head;
    await this.#store.set(this.#name, next as unknown as Json);
    for (const { number } of joined) await this.#store.set(`${this.#name}/${number}`, null);
  }
}

/** The transcripts of one session of pawl. The folder that the SDK runs in, `projectKey`, is no part of their names. */
export class Transcripts implements SessionStore {
  readonly #store: Store;
  readonly #written: (entries: readonly Entry[]) => void;
  readonly #files = new Map<string, File>();
  #last: Promise<unknown> = Promise.resolve();

  /** `written` is told what was added to the main transcript, once it is on record. */
  constructor(store: Store, written: (entries: readonly Entry[]) => void) {
    this.#store = store;
    this.#written = written;
  }

  #file(sessionId: string, subpath = ""): File {
    const name = `claude-agent/${sessionId}/${subpath}`;
    const found = this.#files.get(name) ?? new File(this.#store, name);
    this.#files.set(name, found);
    return found;
  }

  async #subpaths(sessionId: string): Promise<readonly string[]> {
    return ((await this.#store.get(`claude-agent/${sessionId}`)) as readonly string[] | undefined) ?? [];
  }

  /** Notes that there is a transcript of a subagent. */
  #note(sessionId: string, subpath: string): Promise<void> {
    const noted = this.#last.then(async () => {
      const known = await this.#subpaths(sessionId);
      if (!known.includes(subpath)) await this.#store.set(`claude-agent/${sessionId}`, [...known, subpath]);
    });
    this.#last = noted.catch(() => undefined); // Whoever asked for it is told.
    return noted;
  }

  async append({ sessionId, subpath }: SessionKey, entries: readonly Entry[]): Promise<void> {
    if (subpath !== undefined) await this.#note(sessionId, subpath);
    await this.#file(sessionId, subpath).append(entries);
    if (subpath === undefined) this.#written(entries);
  }

  async load({ sessionId, subpath }: Pick<SessionKey, "sessionId" | "subpath">): Promise<Entry[] | null> {
    const entries = await this.#file(sessionId, subpath).entries();
    return entries.length === 0 ? null : entries;
  }

  async listSubkeys({ sessionId }: Pick<SessionKey, "sessionId">): Promise<string[]> {
    return [...(await this.#subpaths(sessionId))];
  }
}
