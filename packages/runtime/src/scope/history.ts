/**
 * The past of a scope, read from its log: lines back to events and states, one event or the state before it, and an index of what has
 * left the state. A line that this core would not write is a fault: the scope is quarantined until somebody has looked.
 */
import * as E from "fp-ts/lib/Either.js";
import {
  type Fault,
  type Recorded,
  type State,
  describeFault,
  follow,
  initial,
  recordedOf,
  type Event,
  type Finished,
} from "@pawl/sansio-core";
import { describe, parseRecord } from "@pawl/tool-value";
import type { JournalLine } from "../journal/journal.ts";
import { isSealedLine, sealedHere } from "../journal/seal.ts";
import type { Access } from "./access.ts";
import { Refused, newerProtocol } from "../error.ts";
import type { Platform } from "../platform.ts";

/** Thrown where a log is not what this core would have written. The scope stays closed until somebody has looked. */
export class Quarantined extends Error {
  override readonly name = "Quarantined";
  readonly code = "quarantined";
  readonly fault: Fault | undefined;
  constructor(scope: string, message: string, fault?: Fault) {
    super(`scope ${scope} is quarantined: ${message}`);
    this.fault = fault;
  }
}

/** Decodes a line. The store is trusted to give back what it was given, and checked all the same. */
export const recordedIn = (scope: string, { seq, line }: JournalLine): Recorded => {
  if (isSealedLine(line)) throw sealedHere(scope);
  const json = parseRecord(line);
  const recorded = E.isLeft(json) ? json : recordedOf(json.right);
  if (E.isLeft(recorded)) throw new Quarantined(scope, `line ${seq}: ${describe(recorded.left)}`);
  return recorded.right;
};

/** Returns the protocol that a scope has after an event that sets it. */
const protocolIn = (event: Event): number | undefined => {
  if (event.type === "scope.opened") return event.protocol;
  return event.type === "scope.upgraded" ? event.to : undefined;
};

/** Returns the state after a recorded event. Throws `newer_protocol` where this core is too old for it. */
export const stateAfter = (scope: string, state: State, recorded: Recorded, seq: number): State => {
  const followed = follow(state, recorded, seq);
  if (E.isLeft(followed)) {
    const protocol = protocolIn(recorded.event);
    if (followed.left.code === "newer_protocol" && protocol !== undefined) throw newerProtocol(scope, protocol);
    throw new Quarantined(scope, describeFault(followed.left), followed.left);
  }
  return followed.right.state;
};

/** Returns the state after these lines, which follow on `from`. */
export const foldLines = (scope: string, lines: readonly JournalLine[], from: State = initial(scope)): State => {
  let state = from;
  for (const line of lines) state = stateAfter(scope, state, recordedIn(scope, line), line.seq);
  return state;
};

export type ReadLines = (from: number) => Promise<readonly JournalLine[]>;

export const linesAt = async (readLines: ReadLines, seqs: readonly number[]): Promise<readonly JournalLine[]> => {
  if (seqs.length === 0) return [];
  const wanted = new Set(seqs);
  return (await readLines(seqs.reduce((a, b) => Math.min(a, b)))).filter(({ seq }) => wanted.has(seq));
};

export const eventsIn = (scope: string, lines: readonly JournalLine[]): ReadonlyMap<number, Recorded> => {
  const events = new Map<number, Recorded>();
  for (const line of lines) events.set(line.seq, recordedIn(scope, line));
  return events;
};

/** Lines that are folded in one turn: the scope's own work goes on in between. */
const linesPerTurn = 1000;

/** Gives others a turn of the event loop. */
export const turn = (platform: Platform): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve));

export const turnAfter = async (platform: Platform, seq: number): Promise<void> => {
  if (seq % linesPerTurn === 0) await turn(platform);
};

const gone = (scope: string, seq: number): Refused =>
  new Refused("gone", `event ${seq} of ${scope} is past the log's retention: what it was is not known any more`);

export const eventAt = async ({ runner, readLines }: Access, seq: number): Promise<Recorded> => {
  const [line] = await readLines(seq, seq);
  if (line?.seq !== seq) throw gone(runner.id, seq);
  return recordedIn(runner.id, line);
};

export const stateBefore = async (access: Access, seq: number): Promise<State> => {
  const { id } = access.runner;
  const lines = await access.readLines(1, seq - 1); // First: what retention takes meanwhile is in the state by then.
  let state = await access.begun();
  if (state.seq >= seq) throw gone(id, seq);
  for (const line of lines) {
    if (line.seq > state.seq) state = stateAfter(id, state, recordedIn(id, line), line.seq);
    await turnAfter(access.platform, line.seq);
  }
  return state;
};

/** Lines that are looked at in one turn: the scope's own work goes on in between. */
const scannedPerTurn = 10_000;

/** Returns the events of some types that the log still has. Other lines are not decoded. */
export const eventsOfTypes = async (
  access: Access,
  types: ReadonlySet<Event["type"]>,
): Promise<readonly Recorded[]> => {
  const { runner, readLines } = access;
  await runner.whenDurable();
  const names = [...types].map((type) => JSON.stringify(type));
  const found: Recorded[] = [];
  for (const [i, line] of (await readLines(1)).entries()) {
    if (names.some((name) => line.line.includes(name))) {
      const recorded = recordedIn(runner.id, line);
      if (types.has(recorded.event.type)) found.push(recorded);
    }
    if (i % scannedPerTurn === scannedPerTurn - 1) await turn(access.platform);
  }
  return found;
};

type Kind = Finished["kind"];

const place = (kind: Kind, id: string): string => `${kind} ${id}`;

/** How many entries are kept of a scope that began in this session, so that the store need not be asked at all. */
const mostKnown = 512;

export class FinishedIndex {
  readonly #find: (kind: Kind, id: string) => Promise<number | undefined>;
  readonly #durable: () => number;
  /** By kind and id: the event that finished it, and the one with which it left. */
  readonly #recent = new Map<string, { readonly seq: number; readonly left: number }>();
  #knowsAll: boolean;
  #lookups = 0;

  constructor(
    find: (kind: Kind, id: string) => Promise<number | undefined>,
    durable: () => number,
    scope: { readonly isNew: boolean },
  ) {
    this.#find = find;
    this.#durable = durable;
    this.#knowsAll = scope.isNew;
  }

  /** Takes note of what left the state with an event. */
  note(finished: readonly Finished[], left: number): void {
    if (finished.length === 0) return;
    for (const { kind, id, seq = left } of finished) {
      this.#recent.delete(place(kind, id));
      this.#recent.set(place(kind, id), { seq, left });
    }
    if (this.#recent.size > mostKnown) this.#knowsAll = false;
    if (!this.#knowsAll && this.#lookups === 0) this.#forget();
  }

  /** Forgets what is durable: the store has it. */
  #forget(): void {
    const durable = this.#durable();
    for (const [id, { left }] of this.#recent) {
      if (left > durable) return;
      this.#recent.delete(id);
    }
  }

  /** Looks something up and goes on with it at once, so that nothing can finish between the answer and what follows. */
  async lookup<A>(kind: Kind, id: string, then: (seq: number | undefined) => A): Promise<A> {
    this.#lookups += 1;
    try {
      const recent = this.#recent.get(place(kind, id));
      if (recent !== undefined || this.#knowsAll) return then(recent?.seq);
      const stored = await this.#find(kind, id);
      return then(this.#recent.get(place(kind, id))?.seq ?? stored);
    } finally {
      this.#lookups -= 1;
    }
  }

  find(kind: Kind, id: string): Promise<number | undefined> {
    return this.lookup(kind, id, (seq) => seq);
  }
}
