/**
 * Effects and flows in a snapshot. Of a flow's row the bindings alone are not plain. Of effects there may be thousands of
 * settled ones, and all that is asked of them is their key, hash, status and place: so each is a tuple, `[key, hash, code,
 * attempt, requested, waited, index, back, winner, since]`, and what is nothing at its end is left out.
 *
 *   code    4 × the kind's place in `effectKinds`, 2 for a step that may run only once, 1 for an error
 *   waited  from the request to the end, in events
 *   index   among the answers of the event that settled it
 *   back    from the end to the event that holds the value, in events
 *   winner  of a select: the key that won
 *   since   of an answer that was reused: from its first place to the end, in events
 */
import {
  type Codec,
  boolean,
  codecFrom,
  defaulted,
  optional,
  record,
  refuse,
  string,
  u64,
  array,
  dict,
  json,
  lazy,
  list,
  tagged,
  text,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type SettledEffect, effectKinds } from "../call/effect/effect.ts";
import type { StreamAttempt, StreamGroup, StreamRow } from "../call/effect/stream.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { Invariant } from "../kernel/error.ts";
import { EndingCodec, specFields } from "../flow/codec.ts";
import type { FlowRow, Frame, Part, Strand, StrandState } from "../flow/model.ts";
import { boundTexts } from "../flow/strand.ts";

/** A snapshot leaves out what goes without saying. */
export const isNone = (n: number): boolean => n === 0;
export const isFalse = (flag: boolean): boolean => !flag;

type SettledEntry = readonly [key: string, effect: SettledEffect];

const written = ([key, effect]: SettledEntry): readonly (string | number | null)[] => {
  const { kind, hash, status, attempt, requested, settled, index, first, value, winner, once } = effect;
  const code = 4 * effectKinds.indexOf(kind) + 2 * Number(once) + Number(status === "err");
  const tuple = [key, hash, code, attempt, requested, settled - requested, index, settled - value];
  if (first !== undefined) return [...tuple, winner ?? null, settled - first];
  if (winner !== undefined) return [...tuple, winner];
  const last = tuple.findLastIndex((part) => part !== 0);
  return tuple.slice(0, Math.max(last + 1, 6));
};

const isCount = (u: unknown): u is number => u64.is(u);
const isText = (u: unknown): u is string => string.is(u);

const entryOf = (u: unknown): SettledEntry | undefined => {
  if (!Array.isArray(u) || u.length < 6 || u.length > 10) return undefined;
  const [key, hash, code, attempt, requested, waited, index = 0, back = 0, won, since = 0] = u as readonly unknown[];
  const winner = won === null && u.length === 10 ? undefined : won;
  if (!isText(key) || !isText(hash) || !(winner === undefined || isText(winner))) return undefined;
  if (!isCount(code) || !isCount(attempt) || !isCount(requested) || !isCount(waited)) return undefined;
  const kind = effectKinds[Math.floor(code / 4)];
  const settled = requested + waited;
  if (!isCount(index) || !isCount(back) || kind === undefined || !isCount(settled) || back > settled) return undefined;
  if (!isCount(since) || since > settled) return undefined;
  const status = code % 2 === 1 ? "err" : "ok";
  const once = code % 4 >= 2;
  const first = since === 0 ? undefined : settled - since;
  return [key, { kind, hash, status, attempt, requested, settled, index, first, value: settled - back, winner, once }];
};

export const SettledCodec: Codec<SettledEntry> = codecFrom<SettledEntry>(
  "a settled effect",
  (u): u is SettledEntry => Array.isArray(u) && u.length === 2,
  (u, c) => {
    const entry = entryOf(u);
    return entry === undefined ? refuse(u, c, "invalid value: expected the tuple of a settled effect") : E.right(entry);
  },
  written,
);

/** By their places in the log, which no two share. */
export const byPlace = ([, a]: SettledEntry, [, b]: SettledEntry): number => a.settled - b.settled || a.index - b.index;

const isPlaces = (u: unknown): u is readonly number[] => Array.isArray(u) && u.every(isCount);

/** Reads and writes rows of numbers as one list. */
const rowsOf = <A>(
  name: string,
  write: (row: A) => readonly number[],
  width: number,
  read: (at: (column: number) => number) => A,
): Codec<readonly A[]> =>
  codecFrom<readonly A[]>(
    name,
    (u): u is readonly A[] => Array.isArray(u),
    (u, c) => {
      if (!isPlaces(u) || u.length % width !== 0)
        return refuse(u, c, `invalid value: expected ${name}, ${width} numbers each`);
      return E.right(Array.from({ length: u.length / width }, (_, row) => read((i) => u[row * width + i] ?? 0)));
    },
    (rows) => rows.flatMap(write),
  );

const AttemptsCodec = rowsOf<StreamAttempt>(
  "attempts of a stream",
  ({ seq, from, keep }) => [seq, from, keep],
  3,
  (at) => ({
    seq: at(0),
    from: at(1),
    keep: at(2),
  }),
);
const GroupsCodec = rowsOf<StreamGroup>(
  "groups of a stream",
  ({ seq, from }) => [seq, from],
  2,
  (at) => ({
    seq: at(0),
    from: at(1),
  }),
);

export const isOne = (n: number): boolean => n === 1;
const isEmpty = (rows: readonly unknown[]): boolean => rows.length === 0;
export const StreamCodec: Codec<StreamRow> = record<StreamRow>("struct Stream", {
  name: string,
  resumes: defaulted(boolean, false, isFalse),
  attempts: AttemptsCodec,
  groups: defaulted(GroupsCodec, [], isEmpty),
  chunks: defaulted(u64, 0, isNone),
  bytes: defaulted(u64, 0, isNone),
  last: optional(u64),
  run: defaulted(u64, 1, isOne),
  isDone: defaulted(boolean, false, isFalse),
});

type StateShape =
  | Exclude<StrandState, { readonly type: "walking" | "branches" }>
  | { readonly type: "branches"; readonly step: number; readonly strands: readonly StrandShape[] };

interface StrandShape extends Omit<Strand, "bindings" | "state"> {
  readonly bindings: { readonly [name: string]: string };
  readonly state: StateShape;
}

export interface FlowShape extends Omit<FlowRow, "request" | "root"> {
  readonly root: StrandShape;
}

const isEmptyText = (said: string): boolean => said === "";
const output = defaulted(text, "", isEmptyText);
const flag = defaulted(boolean, false, isFalse);

const PartCodec: Codec<Part> = tagged<Part, "type">("Part", "type", {
  flow: { executed: u64 },
  branch: { index: u64 },
  // oxlint-disable-next-line unicorn/no-thenable -- the side of a condition
  then: {},
  else: {},
  turn: { variable: string, items: array(text), index: u64, output },
});
const FrameCodec: Codec<Frame> = record<Frame>("struct Frame", { part: PartCodec, next: u64, output });

const waiting = { id: string, step: u64, born: u64 };
const StateCodec: Codec<StateShape> = tagged<StateShape, "type">("StrandState", "type", {
  call: waiting,
  lambda: waiting,
  branches: { step: u64, strands: array(lazy("struct Strand", () => StrandCodec)) },
  over: { ending: EndingCodec },
});
const StrandCodec: Codec<StrandShape> = record<StrandShape>("struct Strand", {
  bindings: dict(text),
  counter: u64,
  frames: array(FrameCodec),
  state: StateCodec,
});

export const FlowRowCodec: Codec<FlowShape> = record<FlowShape>("struct FlowRow", {
  ...specFields,
  startedAt: u64,
  root: StrandCodec,
  cancelled: flag,
  gone: flag,
  walked: u64,
  written: u64,
  triggers: list(json),
});

const stateShape = (state: StrandState): StateShape => {
  if (state.type === "branches") return { ...state, strands: state.strands.map(strandShape) };
  if (state.type === "walking") throw new Invariant("a strand walks on between two events");
  return state;
};
const strandShape = (strand: Strand): StrandShape => ({
  counter: strand.counter,
  frames: strand.frames,
  bindings: boundTexts(strand),
  state: stateShape(strand.state),
});

export const flowShape = ({ root, ...row }: FlowRow): FlowShape => ({ ...row, root: strandShape(root) });

const strandRow = ({ bindings, state, ...strand }: StrandShape): Strand => ({
  ...strand,
  bindings: PersistentMap.of(Object.entries(bindings)),
  state: state.type === "branches" ? { ...state, strands: state.strands.map(strandRow) } : state,
});

export const flowRow = (request: string, { root, ...row }: FlowShape): FlowRow => ({
  ...row,
  request,
  root: strandRow(root),
});
