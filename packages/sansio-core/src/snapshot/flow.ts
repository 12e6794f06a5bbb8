/** Flows on their way into a snapshot and back: a row is plain, but for its bindings. */
import {
  type Codec,
  array,
  boolean,
  defaulted,
  dict,
  json,
  lazy,
  list,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { Invariant } from "../kernel/error.ts";
import { EndingCodec, specFields } from "../flow/codec.ts";
import type { FlowRow, Frame, Part, Strand, StrandState } from "../flow/model.ts";
import { boundTexts } from "../flow/strand.ts";
import { isFalse } from "./effect.ts";

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

const isEmpty = (said: string): boolean => said === "";
const output = defaulted(text, "", isEmpty);
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
