/**
 * Lists all that the client of a hibernating connection waits for: its hello, its open questions, and its executors. The platform takes an
 * object out of memory while its sockets stay open; when it wakes, the same frames are taken once more, and what the client has
 * been told already is not told again.
 *
 * A question is written only when it has waited for a while: an object with a question younger than that does not sleep.
 */
import { type Frame } from "@pawl/runtime";
import { isAfter, cursorAfter } from "@pawl/runtime/driver";
import { ClientFrame, type HostFrame, frameText, readFrame } from "@pawl/wire/frame";
import * as E from "fp-ts/lib/Either.js";
import type { Row, Tables } from "./table.ts";

interface QuestionRow extends Row {
  readonly id: number;
  readonly frame: string;
}

/** Time after which what a client waits for is written down. It is less than the platform takes to let an object sleep. */
const writeMs = 1000;
/** The hello has no number of its own. */
const helloId = -1;

type Subscribing = Extract<ClientFrame, { readonly type: "observe" | "watch" | "stream" }>;

const cursorOf = (frame: Frame) => {
  if (frame.type === "observed") return frame.cursor;
  return frame.type === "gap" ? frame.to : undefined;
};

/** Returns the question of a subscription as it goes on behind a frame. */
const behind = (asked: Subscribing, said: HostFrame): Subscribing => {
  if (asked.type === "observe" && said.type === "observed") return { ...asked, after: said.cursor };
  if (asked.type === "watch" && said.type === "watching") return { ...asked, from: said.cursor };
  if (asked.type === "watch" && said.type === "watched") {
    const cursor = cursorOf(said.frame);
    const isNewer = cursor !== undefined && (asked.from === undefined || isAfter(cursor, asked.from));
    return isNewer ? { ...asked, from: cursor } : asked;
  }
  if (asked.type === "stream" && said.type === "streamed") {
    const { at, attempt } = cursorAfter(said.frame, { attempt: asked.attempt ?? 1, at: asked.from ?? 0 });
    return { ...asked, from: at, attempt };
  }
  return asked;
};

const isSubscribing = (frame: ClientFrame): frame is Subscribing =>
  frame.type === "observe" || frame.type === "watch" || frame.type === "stream";

const idOf = (frame: ClientFrame): number | undefined => {
  if (frame.type === "hello") return helloId;
  const isQuestion = "scope" in frame && "id" in frame;
  return isQuestion || frame.type === "execute" ? frame.id : undefined;
};

/** Frames of a host that end no question. */
const between: ReadonlySet<HostFrame["type"]> = new Set(["observed", "watching", "watched", "streamed"]);

export class Asked {
  readonly #tables: Tables;
  readonly #connection: string;
  readonly #open = new Map<number, ClientFrame>();
  readonly #unwritten = new Set<number>();
  readonly #written = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tables: Tables, connection: string) {
    this.#tables = tables;
    this.#connection = connection;
  }

  /** Reads what was written down before the object slept, in the order in which it was asked. */
  restore(): readonly ClientFrame[] {
    const rows = this.#tables.read<QuestionRow>("question", "WHERE connection = ? ORDER BY rowid", this.#connection);
    return rows.flatMap(({ id, frame: head }) => {
      const frame = readFrame(ClientFrame, this.#tables.whole(this.#rowOf(id), head), Infinity);
      if (E.isLeft(frame)) return [];
      this.#open.set(id, frame.right);
      this.#written.add(id);
      return [frame.right];
    });
  }

  #rowOf(id: number): string {
    return `question ${id} ${this.#connection}`;
  }

  /** Takes note of a frame of the client's. */
  heard(frame: ClientFrame): void {
    const id = idOf(frame);
    if (id !== undefined) this.#keep(id, frame);
  }

  #keep(id: number, frame: ClientFrame): void {
    this.#open.set(id, frame);
    this.#unwritten.add(id);
    this.#timer ??= setTimeout(() => this.#write(), writeMs);
  }

  /** Takes note of a frame that the client is sent. */
  said(frame: HostFrame): void {
    const asked = "id" in frame && frame.id !== undefined ? this.#open.get(frame.id) : undefined;
    if (asked === undefined || !("id" in asked)) return;
    if (isSubscribing(asked) && between.has(frame.type)) return this.#moveOn(asked, behind(asked, frame));
    // An executor is registered until its connection ends, or it says farewell.
    if (asked.type === "execute" && frame.type === "done" && asked.farewell !== true) return;
    this.#forget(asked.id);
  }

  #moveOn(asked: Subscribing, next: Subscribing): void {
    if (next !== asked) this.#keep(asked.id, next);
  }

  #forget(id: number): void {
    this.#open.delete(id);
    this.#unwritten.delete(id);
    if (this.#written.delete(id)) this.#remove(id);
  }

  #remove(id: number): void {
    this.#tables.remove("rest", "WHERE owner = ?", this.#rowOf(id));
    this.#tables.remove("question", "WHERE connection = ? AND id = ?", this.#connection, id);
  }

  #write(): void {
    this.#timer = undefined;
    this.#tables.need("question");
    for (const id of this.#unwritten) {
      const frame = this.#open.get(id);
      if (frame === undefined) continue;
      const head = this.#tables.cut(this.#rowOf(id), frameText(ClientFrame, frame));
      this.#tables.exec(
        `INSERT INTO question (connection, id, frame) VALUES (?, ?, ?)
          ON CONFLICT (connection, id) DO UPDATE SET frame = excluded.frame`,
        this.#connection,
        id,
        head,
      );
      this.#written.add(id);
    }
    this.#unwritten.clear();
  }

  /** Forgets all: the connection has ended. */
  end(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    for (const id of this.#written) this.#remove(id);
    this.#open.clear();
    this.#unwritten.clear();
    this.#written.clear();
  }
}
