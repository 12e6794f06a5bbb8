/** A snapshot as a state. What is read is decoded, looked through, and then believed only if every invariant holds. */
import { type Json, type ValueError, isObject, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { BatchParent, BatchRow } from "../call/batch.ts";
import { duesOf } from "../call/deadlines.ts";
import type { BodyState, CallIdentity, CallRow } from "../call/model.ts";
import { earliestDue, occupies, runningRow } from "../call/row.ts";
import type { Tool } from "../catalog/model.ts";
import { checkAll } from "../check.ts";
import { Deadlines } from "../kernel/deadline.ts";
import { approvalsOf } from "../kernel/draft.ts";
import {
  type CallRef,
  type State,
  answerBatch,
  callRef,
  effectBatch,
  requestBatch,
  stepBatch,
} from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { newestProtocol, unknownProtocol } from "../kernel/protocol.ts";
import { Table } from "../kernel/table.ts";
import { initial } from "../machine.ts";
import { type RequestRow, ownExecutionScope } from "../request/model.ts";
import type { BodyShape, CallShape } from "./call.ts";
import { flowRow } from "./under-way.ts";
import {
  type BatchShape,
  type ChildShape,
  type RequestShape,
  type SnapshotShape,
  type StepShape,
  type WaitShape,
  ownParts,
  problemOf,
  SnapshotCodec,
} from "./shape.ts";
import type { OwnWait, WaitRow } from "../wait/model.ts";

/** Tools and waits that rows refer to by place; `problemOf` has made sure that there is something at each. */
export interface Known {
  readonly tools: readonly Tool[];
  readonly waits: readonly WaitShape[];
}

const toolAt = ({ tools }: Known, place: number): Tool => tools[place] as Tool;

const bodyState = (known: Known, { manifest, settled, waits, version, ...body }: BodyShape): BodyState => ({
  ...body,
  version,
  manifest: toolAt(known, manifest),
  waits: waits.map((place) => known.waits[place]?.key ?? ""), // `problemOf` has looked.
  settled: PersistentMap.of(settled),
});

type Place = Omit<CallIdentity, "id" | "replay">;

const callRow = (known: Known, { id, replay, ...shape }: CallShape, place: Place): CallRow => {
  const row = {
    observed: shape.phase !== "requested" && shape.phase !== "preparing",
    ...shape,
    call: replay === undefined ? { ...place, id } : { ...place, id, replay },
    ...("manifest" in shape && { manifest: toolAt(known, shape.manifest) }),
    ...("body" in shape && shape.body && { body: bodyState(known, shape.body) }),
  } as CallRow;
  switch (row.phase) {
    case "running":
      return runningRow(row, row.body, row);
    case "suspended":
      return { ...row, due: earliestDue(row.body.open) };
    case "pending": {
      const { wait, ...pending } = row as typeof row & { readonly wait: number };
      return { ...pending, key: known.waits[wait]?.key ?? "" };
    }
    default:
      return row;
  }
};

interface BatchPlace {
  readonly ref: BatchRow["ref"];
  readonly request: string;
  readonly born: number;
  readonly prefix: string;
  readonly parent?: BatchParent;
  readonly step?: string;
  readonly turn?: true;
}

interface Batch {
  readonly row: BatchRow;
  readonly calls: readonly CallRow[];
}

const batchOf = (known: Known, shape: BatchShape, { prefix, ...place }: BatchPlace): Batch => {
  const { ref: batch, request, born } = place;
  const calls = shape.calls.map((call, index) => {
    const name = prefix + call.id;
    return callRow(known, call, { ref: callRef(request, name), request, name, batch, index, born });
  });
  const refs = calls.map(({ call }) => call.ref);
  const at = (index: number): CallRef => refs[index] as CallRef; // `problemOf` has looked.
  const { phase, launchedParallel, launchedSerial, triggers } = shape;
  const row: BatchRow = {
    ...place,
    calls: refs,
    phase,
    prepared: shape.prepared ?? refs.length,
    parallel: shape.parallel.map(at),
    serial: shape.serial.map(at),
    launchedParallel,
    launchedSerial,
    occupied: calls.filter(occupies).length,
    unfinished: calls.filter((call) => call.phase !== "completed").length,
    triggers,
  };
  return { row, calls };
};

const stepBatches = (known: Known, request: string, steps: readonly StepShape[]): readonly Batch[] =>
  steps.map((shape) => {
    const step = shape.calls[0]?.id ?? "";
    return batchOf(known, shape, { ref: stepBatch(request, step), request, born: shape.born, prefix: "", step });
  });

const topBatches = (known: Known, shape: RequestShape): readonly Batch[] => {
  const { request, born } = shape;
  if (shape.phase === "flow") return stepBatches(known, request, shape.steps);
  if (shape.phase === "turn") {
    return shape.calls.map((calls) => {
      const place = { ref: answerBatch(request, calls.n), request, born: calls.born, prefix: "", turn: true } as const;
      return batchOf(known, calls, place);
    });
  }
  if (shape.phase !== "running") return [];
  return [batchOf(known, shape.batch, { ref: requestBatch(request), request, born, prefix: "" })];
};

/** The batches of bodies, each after the one that its parent stands in. */
const childBatch = (known: Known, calls: ReadonlyMap<string, CallRow>, shape: ChildShape): Batch | undefined => {
  const owner = calls.get(shape.call)?.call;
  if (owner === undefined) return undefined;
  const { effect, request, born } = shape;
  const parent = { call: owner.ref, effect };
  return batchOf(known, shape, {
    ref: effectBatch(owner.ref, effect),
    request,
    born,
    prefix: `${owner.name}/${effect}/`,
    parent,
  });
};

const batchesOf = (known: Known, { requests, children }: SnapshotShape): readonly Batch[] | string => {
  const batches = requests.flatMap((shape) => topBatches(known, shape));
  const calls = new Map(batches.flatMap((batch) => batch.calls.map((row) => [row.call.ref as string, row] as const)));
  for (const shape of children) {
    const batch = childBatch(known, calls, shape);
    if (batch === undefined) return `no call \`${shape.call}\` for the batch \`${shape.effect}\``;
    batches.push(batch);
    for (const row of batch.calls) calls.set(row.call.ref, row);
  }
  return batches;
};

const requestRow = ({ scope, waits: all }: SnapshotShape, shape: RequestShape): RequestRow => {
  const { request, hash, born, executionScope = ownExecutionScope(scope.id, request), priority } = shape;
  const base = { request, hash, born, executionScope, ...(priority === undefined ? {} : { priority }) };
  if (shape.phase === "replying") {
    const { phase, replies, triggers, flow, turn } = shape;
    const ended = { ...(flow === undefined ? {} : { flow }), ...(turn === undefined ? {} : { turn }) };
    return { ...base, phase, replies, triggers, ...ended };
  }
  const waits = shape.waits.flatMap((place) => all[place]?.key ?? []);
  return { ...base, phase: "running", waits };
};

const waitRow = (shape: WaitShape, requests: readonly string[]): WaitRow => ({
  key: shape.key,
  born: shape.born,
  waiters: shape.waiters.map(({ call, effect }) => {
    const ref = call as CallRef; // W3 holds of it, or the state is not believed.
    return effect === undefined ? { call: ref } : { call: ref, effect };
  }),
  requests,
  ...(shape.terminal === undefined ? {} : { terminal: shape.terminal }),
  ...(shape.revoked ? { revoked: shape.revoked } : {}),
  ...(shape.own === undefined ? {} : { own: shape.own as OwnWait }),
});

const waitRows = ({ waits, requests }: SnapshotShape): readonly WaitRow[] => {
  const holders: string[][] = waits.map(() => []);
  for (const shape of requests) {
    for (const place of shape.phase === "replying" ? [] : shape.waits) holders[place]?.push(shape.request);
  }
  return waits.map((shape, i) => waitRow(shape, holders[i] ?? []));
};

const keyed = <Row>(rows: readonly Row[], key: (row: Row) => string): Table<Row> =>
  Table.of(rows.map((row) => [key(row), row]));

const catalogOf = ({ tools, catalog, overrides }: SnapshotShape): State["catalog"] => {
  const known = tools.slice(0, catalog);
  return {
    byName: PersistentMap.of(known.map((tool) => [tool.name, tool])),
    byId: PersistentMap.of(known.map((tool) => [tool.id, tool])),
    overrides: PersistentMap.of(Object.entries(overrides)),
  };
};

const stateOf = (shape: SnapshotShape, batches: readonly Batch[]): State | undefined => {
  const own = ownParts.map((part) => part.read(shape));
  if (own.includes(undefined)) return undefined;
  const batchRows = batches.map(({ row }) => row);
  const callRows = batches.flatMap((batch) => batch.calls);
  const calls = keyed(callRows, ({ call }) => call.ref);
  const waits = waitRows(shape);
  return {
    ...initial(shape.scope.id),
    ...(Object.assign({}, ...own) as Partial<State>),
    scope: shape.scope,
    seq: shape.seq,
    at: shape.at,
    catalog: catalogOf(shape),
    requests: keyed(
      shape.requests.map((request) => requestRow(shape, request)),
      ({ request }) => request,
    ),
    batches: keyed(batchRows, ({ ref }) => ref),
    calls,
    awaitingApproval: calls.rows().reduce((sum, row) => sum + approvalsOf(row), 0),
    waits: keyed(waits, ({ key }) => key),
    unclaimed: waits.filter(({ requests }) => requests.length === 0).length,
    sticky: PersistentMap.of(Object.entries(shape.sticky)),
    flows: PersistentMap.of(
      shape.requests.flatMap((one) => (one.phase === "flow" ? [[one.request, flowRow(one.request, one.flow)]] : [])),
    ),
    deadlines: Deadlines.of(duesOf(calls)),
  };
};

/** A newer core has to read the snapshot. */
interface NewerProtocol extends Pick<ValueError, "path" | "message"> {
  readonly code: "newer_protocol";
  readonly protocol: number;
}

/** Refuses a newer protocol before anything else is looked at: its rows may have another form. */
const newerThanKnown = (json: unknown): NewerProtocol | undefined => {
  const { scope } = (isObject(json) ? json : {}) as { readonly scope?: Json };
  const protocol = isObject(scope) ? scope["protocol"] : undefined;
  if (typeof protocol !== "number" || protocol <= newestProtocol) return undefined;
  return { code: "newer_protocol", protocol, path: ["scope", "protocol"], message: unknownProtocol(protocol) };
};

const refused = (message: string): E.Either<ValueError, never> =>
  E.left({ code: "invalid_record", path: [], message: message.toWellFormed() });

/** Rows that share a name would hide one another. */
const isWhole = (state: State, shape: SnapshotShape, batches: readonly Batch[]): boolean =>
  state.waits.size === shape.waits.length &&
  state.requests.size === shape.requests.length &&
  state.batches.size === batches.length &&
  state.calls.size === batches.reduce((sum, { calls }) => sum + calls.length, 0);

const believed = (shape: SnapshotShape): E.Either<ValueError, State> => {
  const problem = problemOf(shape);
  if (problem !== undefined) return refused(problem);
  const batches = batchesOf({ tools: shape.tools, waits: shape.waits }, shape);
  if (typeof batches === "string") return refused(batches);
  const state = stateOf(shape, batches);
  if (state === undefined || !isWhole(state, shape, batches)) return refused("two rows have one name");
  const broken = checkAll(state);
  return broken === undefined ? E.right(state) : refused(broken);
};

/** The state that a snapshot was made of; or why there is none here. Never throws. */
export const restore = (json: unknown): E.Either<ValueError | NewerProtocol, State> => {
  const newer = newerThanKnown(json);
  if (newer !== undefined) return E.left(newer);
  const shape = read(SnapshotCodec, json);
  if (E.isLeft(shape)) return shape;
  try {
    return believed(shape.right);
  } catch {
    return refused("the rows do not fit together");
  }
};
