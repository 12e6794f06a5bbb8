/**
 * The shape of a snapshot: plain JSON of a version, rows in order of birth. Calls stand in their batch, and the batch of a
 * request in the request, so that names and places need not be said; what counts or lists rows is left out as well.
 */
import {
  type Codec,
  type TypeOf,
  array,
  boolean,
  defaulted,
  dict,
  json,
  list,
  oneOf,
  optional,
  record,
  Resolution,
  string,
  struct,
  structs,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import type { StickyDecision } from "../call/approval.ts";
import type { BatchRow } from "../call/batch.ts";
import { AvailabilityCodec, ToolCodec } from "../catalog/concern.ts";
import type { SnapshotPart } from "../concern.ts";
import { concerns } from "../concerns.ts";
import { FlowEndCodec } from "../flow/codec.ts";
import { Options } from "../kernel/options.ts";
import type { State } from "../kernel/vocabulary.ts";
import { ReplyCodec } from "../request/model.ts";
import { type ScopeRow, type ScopeStatus, VersionsCodec } from "../scope/model.ts";
import { type BodyShape, type CallShape, CallCodec } from "./call.ts";
import { isFalse, isNone, FlowRowCodec } from "./under-way.ts";
import { TurnEndCodec } from "../turn/codec.ts";
import type { Terminal } from "../wait/model.ts";

/** The version that is written, and the only one that is read so far. */
export const snapshotVersion = 1;

const isRunning = (phase: BatchRow["phase"]): boolean => phase === "running";
const isEmptyDict = (map: object): boolean => Object.keys(map).length === 0;

const places = list(u64);
const triggers = list(json);
const phases = ["preparing", "running", "cancelling", "ended"] as const;

// Their types have names, so that declarations spell each of them out once.

const batchFields = {
  phase: defaulted<BatchRow["phase"]>(oneOf("a batch phase", ...phases), "running", isRunning),
  /** Absent: all of them. */
  prepared: optional(u64),
  /** Places of calls in the batch. */
  parallel: places,
  serial: places,
  launchedParallel: defaulted(u64, 0, isNone),
  launchedSerial: defaulted(u64, 0, isNone),
  triggers,
  calls: array(CallCodec),
};
const batchStruct = struct("struct Batch", batchFields);
export interface BatchShape extends TypeOf<typeof batchStruct> {}
const BatchCodec: Codec<BatchShape> = batchStruct;

/** A batch that a body made. */
const childStruct = struct("struct Child", {
  call: string,
  effect: string,
  request: string,
  born: u64,
  ...batchFields,
});
export interface ChildShape extends TypeOf<typeof childStruct> {}
const ChildCodec: Codec<ChildShape> = childStruct;

/** A batch of a step of a flow; its call names the step. */
const stepStruct = struct("struct Step", { born: u64, ...batchFields });
export interface StepShape extends TypeOf<typeof stepStruct> {}
const StepCodec: Codec<StepShape> = stepStruct;

/** The batch of an answer's calls; `n` is its model call. */
const calledStruct = struct("struct Called", { n: u64, born: u64, ...batchFields });
export interface CalledShape extends TypeOf<typeof calledStruct> {}
const CalledCodec: Codec<CalledShape> = calledStruct;

/** `executionScope` is absent where it is the request's own; `waits` are places among the waits of the snapshot. */
const base = { request: string, hash: string, born: u64, executionScope: optional(string), priority: optional(u64) };
const RequestCodec = structs("Request", "phase", {
  running: { ...base, waits: places, batch: BatchCodec },
  flow: { ...base, waits: places, flow: FlowRowCodec, steps: list(StepCodec) },
  /** `calls`: the batch of its answer, where one is under way. */
  turn: { ...base, waits: places, calls: list(CalledCodec) },
  replying: {
    ...base,
    replies: array(ReplyCodec),
    triggers,
    flow: optional(FlowEndCodec),
    turn: optional(TurnEndCodec),
  },
});
export type RequestShape = TypeOf<typeof RequestCodec>;

const TerminalCodec: Codec<Terminal> = record<Terminal>("struct Terminal", { resolution: Resolution, seq: u64 });
const WaitCodec = struct("struct Wait", {
  key: string,
  born: u64,
  waiters: list(struct("struct Waiter", { call: string, effect: optional(string) })),
  terminal: optional(TerminalCodec),
  revoked: defaulted(boolean, false, isFalse),
  own: optional(struct("struct OwnWait", { call: string, life: optional(u64) })),
});
export type WaitShape = TypeOf<typeof WaitCodec>;

const StickyCodec: Codec<StickyDecision> = tagged<StickyDecision, "decision">("StickyDecision", "decision", {
  approve: { by: string },
  reject: { by: string, reason: text },
});

const StatusCodec: Codec<ScopeStatus> = tagged<ScopeStatus, "type">("ScopeStatus", "type", {
  open: {},
  moving: { to: string, nonce: string, reopened: boolean },
  moved: { to: string, nonce: string },
});
const ScopeCodec: Codec<ScopeRow> = record<ScopeRow>("struct Scope", {
  id: string,
  epoch: u64,
  owner: string,
  protocol: u64,
  options: Options,
  status: StatusCodec,
  versions: optional(VersionsCodec),
});

/** Rows that no other concern's rows refer to by place: each concern writes its own, in the order of the list. */
export const ownParts: readonly SnapshotPart<object, Partial<State>>[] = concerns.flatMap((concern) =>
  "snapshot" in concern ? (concern.snapshot ?? []) : [],
);
const partFields = Object.assign({}, ...ownParts.map(({ fields }) => fields)) as {};

/** Reads and writes a state as plain JSON. */
export const SnapshotCodec = struct("struct Snapshot", {
  version: u64,
  scope: ScopeCodec,
  seq: u64,
  at: u64,
  /** The manifests that the catalog has, by id, then those that only calls still have. */
  tools: list(ToolCodec),
  catalog: defaulted(u64, 0, isNone),
  overrides: defaulted(dict(AvailabilityCodec), {}, isEmptyDict),
  sticky: defaulted(dict(StickyCodec), {}, isEmptyDict),
  waits: list(WaitCodec),
  requests: list(RequestCodec),
  children: list(ChildCodec),
  ...partFields,
});
export type SnapshotShape = TypeOf<typeof SnapshotCodec>;

// Problems that codecs cannot see: a version that nobody reads, and places at which nothing stands.

const bodyOf = (shape: CallShape): BodyShape | undefined => ("body" in shape ? shape.body : undefined);

const manifestsOf = (shape: CallShape): readonly number[] => {
  const body = bodyOf(shape);
  const own = "manifest" in shape ? [shape.manifest] : [];
  return body === undefined ? own : [...own, body.manifest];
};

const problemOfCall = (shape: CallShape, { tools, waits }: SnapshotShape): string | undefined => {
  const manifest = manifestsOf(shape).find((place) => place >= tools.length);
  if (manifest !== undefined) return `call \`${shape.id}\`: no tool ${manifest} among ${tools.length}`;
  if (shape.phase === "pending" && shape.wait >= waits.length) return `call \`${shape.id}\`: no wait ${shape.wait}`;
  const body = bodyOf(shape);
  const wait = body?.waits.find((place) => place >= waits.length);
  if (wait !== undefined) return `call \`${shape.id}\`: no wait ${wait} among ${waits.length}`;
  const isDouble = body !== undefined && new Set(body.settled.map(([key]) => key)).size !== body.settled.length;
  return isDouble ? `call \`${shape.id}\`: two settled effects have one key` : undefined;
};

const problemOfBatch = (batch: BatchShape, shape: SnapshotShape): string | undefined => {
  const size = batch.calls.length;
  const place = [...batch.parallel, ...batch.serial].find((index) => index >= size);
  if (place !== undefined) return `no call ${place} in a batch of ${size}`;
  const { parallel, serial, launchedParallel, launchedSerial, prepared = 0 } = batch;
  if (launchedParallel > parallel.length || launchedSerial > serial.length || prepared > size) {
    return `a batch of ${size} is farther than its end`;
  }
  for (const call of batch.calls) {
    const problem = problemOfCall(call, shape);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const batchesOf = (request: RequestShape): readonly BatchShape[] => {
  if (request.phase === "running") return [request.batch];
  if (request.phase === "turn") return request.calls;
  return request.phase === "flow" ? request.steps : [];
};

export const problemOf = (shape: SnapshotShape): string | undefined => {
  const { version, tools, catalog, waits, requests, children } = shape;
  if (version !== snapshotVersion) return `expected version ${snapshotVersion}, found ${version}`;
  if (catalog > tools.length) return `a catalog of ${catalog} among ${tools.length} tools`;
  const held = requests.flatMap((request) => (request.phase === "replying" ? [] : request.waits));
  const place = held.find((index) => index >= waits.length);
  if (place !== undefined) return `no wait ${place} among ${waits.length}`;
  const batches = requests.flatMap(batchesOf);
  for (const batch of [...batches, ...children]) {
    const problem = problemOfBatch(batch, shape);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
