/**
 * What a snapshot is: plain JSON of a version, rows in order of birth. Calls stand in their batch, and the batch of a
 * request in the request, so that names and places need not be said; what counts or lists rows is left out as well.
 */
import {
  type Codec,
  type Json,
  Resolution,
  array,
  boolean,
  defaulted,
  dict,
  json,
  oneOf,
  optional,
  record,
  string,
  text,
  tagged,
  u64,
} from "@pawl/tool-value";
import type { StickyDecision } from "../call/approval-model.ts";
import type { BatchRow } from "../call/batch-model.ts";
import type { Asked, RunRow, TaskRow } from "../run/model.ts";
import { catalogEvents } from "../catalog/codec.ts";
import type { Availability, Tool } from "../catalog/model.ts";
import { FlowEndCodec } from "../flow/codec.ts";
import type { FlowEnd } from "../flow/model.ts";
import type { DeletionRow, HandleRow } from "../link/handle-model.ts";
import { WakeDeliveryCodec } from "../message/codec.ts";
import { Options } from "../kernel/options.ts";
import type { WakeDelivery } from "../process/wake.ts";
import { ReplyCodec } from "../request/codec.ts";
import type { Reply } from "../request/model.ts";
import type { ScheduleRow } from "../schedule/model.ts";
import type { ScopeRow, ScopeStatus } from "../scope/model.ts";
import type { Terminal } from "../wait/model.ts";
import { AskedCodec, RunRowCodec, ScheduleRowCodec, TaskRowCodec } from "./background.ts";
import { CallCodec, type CallShape } from "./call.ts";
import { FlowRowCodec, type FlowShape } from "./flow.ts";
import { isEmpty, isFalse, isNone } from "./left-out.ts";
import { DeletionCodec, HandleCodec, LinkCodec, type LinkShape } from "./link.ts";
import { ProcessCodec, type ProcessShape } from "./process.ts";

/** The version that is written, and the only one that is read so far. */
export const snapshotVersion = 1;

export interface BatchShape {
  readonly phase: BatchRow["phase"];
  /** Absent: all of them. */
  readonly prepared?: number;
  /** Places of calls in the batch. */
  readonly parallel: readonly number[];
  readonly serial: readonly number[];
  readonly launchedParallel: number;
  readonly launchedSerial: number;
  readonly triggers: readonly Json[];
  readonly calls: readonly CallShape[];
}

/** A batch that a body made. */
export interface ChildShape extends BatchShape {
  readonly call: string;
  readonly effect: string;
  readonly request: string;
  readonly born: number;
}

/** A batch of a step of a flow; its call names the step. */
export interface StepShape extends BatchShape {
  readonly born: number;
}

interface RequestBase {
  readonly request: string;
  readonly hash: string;
  readonly born: number;
  /** Absent: the request's own. */
  readonly executionScope?: string;
}
export type RequestShape =
  /** `waits`: places among the waits of the snapshot. */
  | (RequestBase & { readonly phase: "running"; readonly waits: readonly number[]; readonly batch: BatchShape })
  | (RequestBase & {
      readonly phase: "flow";
      readonly waits: readonly number[];
      readonly flow: FlowShape;
      readonly steps: readonly StepShape[];
    })
  | (RequestBase & {
      readonly phase: "replying";
      readonly replies: readonly Reply[];
      readonly triggers: readonly Json[];
      readonly flow?: FlowEnd;
    });

export interface WaiterShape {
  readonly call: string;
  readonly effect?: string;
}
export interface WaitShape {
  readonly key: string;
  readonly born: number;
  readonly waiters: readonly WaiterShape[];
  readonly terminal?: Terminal;
  readonly revoked: boolean;
}

export interface OutboxShape {
  readonly key: string;
  /** Of outside work that is to end; of a wake there is the wake. */
  readonly call?: string;
  readonly wake?: WakeDelivery;
  /** Of what a session is told. */
  readonly text?: string;
  readonly schedule?: string;
  readonly born: number;
}

export interface SnapshotShape {
  readonly version: number;
  readonly scope: ScopeRow;
  readonly seq: number;
  readonly at: number;
  /** The manifests that the catalog has, by id, then those that only calls still have. */
  readonly tools: readonly Tool[];
  readonly catalog: number;
  readonly overrides: { readonly [name: string]: Availability };
  readonly sticky: { readonly [tool: string]: StickyDecision };
  readonly waits: readonly WaitShape[];
  readonly requests: readonly RequestShape[];
  readonly children: readonly ChildShape[];
  readonly outbox: readonly OutboxShape[];
  readonly links: readonly LinkShape[];
  readonly handles: readonly HandleRow[];
  readonly deletion?: DeletionRow;
  readonly process?: ProcessShape;
  readonly tasks: readonly TaskRow[];
  readonly asked: readonly Asked[];
  readonly run?: RunRow;
  readonly schedules: readonly ScheduleRow[];
}

const isRunning = (phase: BatchRow["phase"]): boolean => phase === "running";
const isEmptyDict = (map: object): boolean => Object.keys(map).length === 0;

const places = defaulted<readonly number[]>(array(u64), [], isEmpty);
const triggers = defaulted<readonly Json[]>(array(json), [], isEmpty);
const phases = ["preparing", "running", "cancelling", "ended"] as const;

const batch = {
  phase: defaulted<BatchRow["phase"]>(oneOf("a batch phase", ...phases), "running", isRunning),
  prepared: optional(u64),
  parallel: places,
  serial: places,
  launchedParallel: defaulted(u64, 0, isNone),
  launchedSerial: defaulted(u64, 0, isNone),
  triggers,
  calls: array(CallCodec),
};
const BatchCodec: Codec<BatchShape> = record<BatchShape>("struct Batch", batch);
const ChildCodec: Codec<ChildShape> = record<ChildShape>("struct Child", {
  call: string,
  effect: string,
  request: string,
  born: u64,
  ...batch,
});

const StepCodec: Codec<StepShape> = record<StepShape>("struct Step", { born: u64, ...batch });
const steps = defaulted<readonly StepShape[]>(array(StepCodec), [], isEmpty);

const base = { request: string, hash: string, born: u64, executionScope: optional(string) };
const RequestCodec: Codec<RequestShape> = tagged<RequestShape, "phase">("Request", "phase", {
  running: { ...base, waits: places, batch: BatchCodec },
  flow: { ...base, waits: places, flow: FlowRowCodec, steps: steps },
  replying: { ...base, replies: array(ReplyCodec), triggers, flow: optional(FlowEndCodec) },
});

const WaiterCodec: Codec<WaiterShape> = record<WaiterShape>("struct Waiter", {
  call: string,
  effect: optional(string),
});
const TerminalCodec: Codec<Terminal> = record<Terminal>("struct Terminal", { resolution: Resolution, seq: u64 });
const WaitCodec: Codec<WaitShape> = record<WaitShape>("struct Wait", {
  key: string,
  born: u64,
  waiters: defaulted<readonly WaiterShape[]>(array(WaiterCodec), [], isEmpty),
  terminal: optional(TerminalCodec),
  revoked: defaulted(boolean, false, isFalse),
});

const StickyCodec: Codec<StickyDecision> = tagged<StickyDecision, "decision">("StickyDecision", "decision", {
  approve: { by: string },
  reject: { by: string, reason: text },
});
const availabilities = ["off", "searchable", "callable", "showcased"] as const;
const AvailabilityCodec = oneOf<Availability>("an availability", ...availabilities);

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
});
const OutboxCodec: Codec<OutboxShape> = record<OutboxShape>("struct Outbox", {
  key: string,
  call: optional(string),
  wake: optional(WakeDeliveryCodec),
  text: optional(text),
  schedule: optional(string),
  born: u64,
});

export const ToolsCodec: Codec<readonly Tool[]> = catalogEvents["catalog.published"].tools;

export const SnapshotCodec: Codec<SnapshotShape> = record<SnapshotShape>("struct Snapshot", {
  version: u64,
  scope: ScopeCodec,
  seq: u64,
  at: u64,
  tools: defaulted<readonly Tool[]>(ToolsCodec, [], isEmpty),
  catalog: defaulted(u64, 0, isNone),
  overrides: defaulted<SnapshotShape["overrides"]>(dict(AvailabilityCodec), {}, isEmptyDict),
  sticky: defaulted<SnapshotShape["sticky"]>(dict(StickyCodec), {}, isEmptyDict),
  waits: defaulted<readonly WaitShape[]>(array(WaitCodec), [], isEmpty),
  requests: defaulted<readonly RequestShape[]>(array(RequestCodec), [], isEmpty),
  children: defaulted<readonly ChildShape[]>(array(ChildCodec), [], isEmpty),
  outbox: defaulted<readonly OutboxShape[]>(array(OutboxCodec), [], isEmpty),
  links: defaulted<readonly LinkShape[]>(array(LinkCodec), [], isEmpty),
  handles: defaulted<readonly HandleRow[]>(array(HandleCodec), [], isEmpty),
  deletion: optional(DeletionCodec),
  process: optional(ProcessCodec),
  tasks: defaulted<readonly TaskRow[]>(array(TaskRowCodec), [], isEmpty),
  asked: defaulted<readonly Asked[]>(array(AskedCodec), [], isEmpty),
  run: optional(RunRowCodec),
  schedules: defaulted<readonly ScheduleRow[]>(array(ScheduleRowCodec), [], isEmpty),
});
