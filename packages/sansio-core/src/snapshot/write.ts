/** A state as a snapshot: what it says is a function of what the state holds, not of how it came to hold it. */
import { type Json, type Slices, encodeSlices, mapSlices, sliceOf, stringifyRecord } from "@pawl/tool-value";
import type { BatchRow } from "../call/batch.ts";
import type { BodyState, CallRow } from "../call/model.ts";
import { bodyOf } from "../call/row.ts";
import { ToolCodec } from "../catalog/concern.ts";
import type { Tool } from "../catalog/model.ts";
import type { FlowRow } from "../flow/model.ts";
import { waitingsOf } from "../flow/strand.ts";
import { type CallRef, type State, answerBatch, stepBatch } from "../kernel/vocabulary.ts";
import { isTurn } from "../request/concern.ts";
import { ReplyCodec, type RequestRow, ownExecutionScope } from "../request/model.ts";
import { type BodyShape, CallCodec, type CallShape } from "./call.ts";
import { byPlace, flowShape } from "./under-way.ts";
import {
  type BatchShape,
  type CalledShape,
  type ChildShape,
  type RequestShape,
  type SnapshotShape,
  type StepShape,
  type WaitShape,
  ownParts,
  SnapshotCodec,
  snapshotVersion,
} from "./shape.ts";
import type { WaitRow } from "../wait/model.ts";

const textOf = (tool: Tool): string => stringifyRecord(ToolCodec.encode(tool));

const byText = ([a]: readonly [string, Tool], [b]: readonly [string, Tool]): number => (a < b ? -1 : 1);
const byId = (a: Tool, b: Tool): number => (a.id < b.id ? -1 : 1);

/** A call has the manifest that it was prepared under, which the catalog may have no longer. */
const manifestOf = (row: CallRow): Tool | undefined => ("manifest" in row ? row.manifest : undefined);

/** Manifests of calls that are not the catalog's own, or not the very same. */
const foreignOf = ({ calls }: State, known: ReadonlyMap<Tool, number>): ReadonlySet<Tool> => {
  const foreign = new Set<Tool>();
  for (const row of calls.rows()) {
    for (const tool of [manifestOf(row), bodyOf(row)?.manifest]) {
      if (tool !== undefined && !known.has(tool)) foreign.add(tool);
    }
  }
  return foreign;
};

interface Manifests {
  /** Those of the catalog first. */
  readonly tools: readonly Tool[];
  readonly catalog: number;
  readonly at: (tool: Tool) => number;
}

export const manifestsOf = (state: State): Manifests => {
  const tools = state.catalog.byId.values().toSorted(byId);
  const catalog = tools.length;
  const places = new Map<Tool, number>(tools.map((tool, i) => [tool, i]));
  const at = (tool: Tool): number => places.get(tool) ?? 0;
  const foreign = foreignOf(state, places);
  if (foreign.size === 0) return { tools, catalog, at };
  const texts = new Map<string, number>(tools.map((tool, i) => [textOf(tool), i]));
  for (const [text, tool] of [...foreign].map((one) => [textOf(one), one] as const).toSorted(byText)) {
    const place = texts.get(text) ?? tools.length;
    if (place === tools.length) tools.push(tool);
    texts.set(text, place);
    places.set(tool, place);
  }
  return { tools, catalog, at };
};

/** A state on its way out, with what its rows refer to by place. */
interface Source {
  readonly state: State;
  readonly manifests: Manifests;
  /** Waits in their order, and their places by key. */
  readonly inOrder: readonly WaitRow[];
  readonly waits: ReadonlyMap<string, number>;
  /** The calls of large batches: these are written before all else, a slice at a time. */
  readonly ahead: Map<BatchRow, readonly CallShape[]>;
}

const placeOf = ({ waits }: Source, key: string): number => waits.get(key) ?? 0;

/** Keys that are listed and have become others' since are left out. */
const isKept = ({ state }: Source, key: string): boolean => state.waits.at(key)?.own !== undefined;

const bodyShape = (source: Source, { manifest, settled, waits, version, ...body }: BodyState): BodyShape => ({
  ...body,
  manifest: source.manifests.at(manifest),
  waits: waits.filter((key) => isKept(source, key)).map((key) => placeOf(source, key)),
  settled: [...settled].toSorted(byPlace),
  ...(version !== undefined && { version }),
});

const maybe = <K extends string, V>(key: K, value: V | undefined): { readonly [k in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [k in K]?: V };

/** A row as it is written: names are places. The codec leaves out what follows from the rest. */
const callShape = (source: Source, { call: { id, replay }, ...row }: CallRow): CallShape =>
  ({
    ...row,
    id,
    replay,
    ...("manifest" in row && { manifest: source.manifests.at(row.manifest) }),
    ...("body" in row && row.body && { body: bodyShape(source, row.body) }),
    ...(row.phase === "pending" && { wait: placeOf(source, row.key) }),
  }) as CallShape;

const callShapes = (source: Source, refs: readonly CallRef[]): readonly CallShape[] =>
  refs.flatMap((ref) => {
    const row = source.state.calls.at(ref);
    return row === undefined ? [] : [callShape(source, row)];
  });

const batchShape = (source: Source, row: BatchRow): BatchShape => {
  const { phase, prepared, launchedParallel, launchedSerial, triggers } = row;
  const places = new Map<CallRef, number>(row.calls.map((ref, i) => [ref, i]));
  const placesOf = (refs: readonly CallRef[]): readonly number[] => refs.map((ref) => places.get(ref) ?? 0);
  return {
    phase,
    ...maybe("prepared", prepared === row.calls.length ? undefined : prepared),
    parallel: placesOf(row.parallel),
    serial: placesOf(row.serial),
    launchedParallel,
    launchedSerial,
    triggers,
    calls: source.ahead.get(row) ?? callShapes(source, row.calls),
  };
};

/** The batches of a flow's steps, as its strands wait for them. */
const stepShapes = (source: Source, flow: FlowRow): readonly StepShape[] =>
  waitingsOf(flow, "call").flatMap(({ id }) => {
    const batch = source.state.batches.at(stepBatch(flow.request, id));
    return batch === undefined ? [] : [{ born: batch.born, ...batchShape(source, batch) }];
  });

/** The batch of an answer's calls, where the turn waits for one. */
const calledShapes = (source: Source, request: string): readonly CalledShape[] => {
  const { running } = source.state.conversation;
  if (running?.request !== request || running.phase.type !== "calling") return [];
  const batch = source.state.batches.at(answerBatch(request, running.phase.n));
  return batch === undefined ? [] : [{ n: running.phase.n, born: batch.born, ...batchShape(source, batch) }];
};

const requestShape = (source: Source, row: RequestRow, batch: BatchRow | undefined): RequestShape => {
  const { request, hash, born } = row;
  const isOwn = row.executionScope === ownExecutionScope(source.state.scope.id, request);
  const base = {
    request,
    hash,
    born,
    ...maybe("executionScope", isOwn ? undefined : row.executionScope),
    ...maybe("priority", row.priority),
  };
  if (row.phase === "replying") {
    const { phase, replies, triggers, flow: end, turn } = row;
    return { ...base, phase, replies, triggers, ...maybe("flow", end), ...maybe("turn", turn) };
  }
  const waits = row.waits.map((key) => placeOf(source, key));
  const flow = source.state.flows.get(request);
  if (flow !== undefined)
    return { ...base, phase: "flow", waits, flow: flowShape(flow), steps: stepShapes(source, flow) };
  if (isTurn(source.state, request)) return { ...base, phase: "turn", waits, calls: calledShapes(source, request) };
  const calls = { ...emptyBatch, ...(batch === undefined ? {} : batchShape(source, batch)) };
  return { ...base, phase: row.phase, waits, batch: calls };
};

const emptyBatch: BatchShape = {
  phase: "running",
  parallel: [],
  serial: [],
  launchedParallel: 0,
  launchedSerial: 0,
  triggers: [],
  calls: [],
};

const childShapes = (source: Source, row: BatchRow): readonly ChildShape[] => {
  const { parent, request, born } = row;
  if (parent === undefined) return [];
  return [{ call: parent.call, effect: parent.effect, request, born, ...batchShape(source, row) }];
};

const waitShape = ({ key, born, waiters, terminal, revoked, own }: WaitRow): WaitShape => ({
  key,
  born,
  waiters,
  ...maybe("terminal", terminal),
  revoked: revoked === true,
  ...maybe("own", own),
});

interface Aged {
  readonly born: number;
}
const byBirth = (a: Aged, b: Aged): number => a.born - b.born;

/** Several waits, and several entries of the outbox, may be born of one event. */
const byBirthAndKey = <A extends Aged & { readonly key: string }>(a: A, b: A): number =>
  a.born - b.born || (a.key < b.key ? -1 : 1);

const sourceOf = (state: State): Source => {
  const inOrder = state.waits.rows().toSorted(byBirthAndKey);
  const waits = new Map(inOrder.map(({ key }, i) => [key, i]));
  return { state, manifests: manifestsOf(state), inOrder, waits, ahead: new Map() };
};

/** Returns the state as the shape that snapshots store. */
export const shapeOf = (state: State): SnapshotShape => shapeFrom(sourceOf(state));

const shapeFrom = (source: Source): SnapshotShape => {
  const { state, manifests } = source;
  const { scope, seq, at, catalog } = state;
  const batches = state.batches.rows().toSorted(byBirth);
  const top = new Map(
    batches
      .filter(({ parent, step, turn }) => parent === undefined && step === undefined && turn === undefined)
      .map((row) => [row.request, row]),
  );
  const requests = state.requests.rows().toSorted(byBirth);
  return {
    version: snapshotVersion,
    scope,
    seq,
    at,
    tools: manifests.tools,
    catalog: manifests.catalog,
    overrides: Object.fromEntries(catalog.overrides),
    sticky: Object.fromEntries(state.sticky),
    waits: source.inOrder.map(waitShape),
    requests: requests.map((row) => requestShape(source, row, top.get(row.request))),
    children: batches.flatMap((row) => childShapes(source, row)),
    ...(Object.assign({}, ...ownParts.map((part) => part.write(state))) as object),
  };
};

/** Plain JSON, from which `restore` makes a state that does what this one does. */
export const snapshot = (state: State): Json => SnapshotCodec.encode(shapeOf(state)) as Json;

/** As `snapshot`; of large batches, and of many replies, a slice at a time is looked at. */
export function* snapshotSlices(state: State): Slices<Json> {
  const source = sourceOf(state);
  yield;
  for (const batch of state.batches.rows()) {
    if (batch.calls.length <= sliceOf) continue;
    const calls = yield* mapSlices(batch.calls, (refs) => callShapes(source, refs));
    yield* encodeSlices(CallCodec, calls);
    source.ahead.set(batch, calls);
  }
  for (const row of state.requests.rows()) if (row.phase === "replying") yield* encodeSlices(ReplyCodec, row.replies);
  return SnapshotCodec.encode(shapeFrom(source)) as Json;
}
