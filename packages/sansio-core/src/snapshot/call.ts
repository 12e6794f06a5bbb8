/** Calls in a snapshot: a row as it is written, with names as places, and without what follows from the rest. */
import {
  type Codec,
  type Json,
  type TypeOf,
  array,
  boolean,
  defaulted,
  defaultPendingCompletion,
  json,
  list,
  oneOf,
  optional,
  PendingCompletion,
  record,
  string,
  struct,
  structs,
  ToolCallOutput,
  u64,
} from "@pawl/tool-value";
import {
  askedApproval,
  PatchesCodec,
  ResumeCauseCodec,
  SelectModeCodec,
  SignalCodec,
  UnknownCauseCodec,
} from "../call/codec.ts";
import {
  type AskedApproval,
  type EffectKind,
  type OpenEffect,
  type StepRecovery,
  effectKinds,
} from "../call/effect/effect.ts";
import type { Approval, CallIn, FailedVersion, RoomWanted, Stop } from "../call/model.ts";
import { type Life, firstLife } from "../call/life.ts";
import type { Deadline } from "../kernel/deadline.ts";
import { SettledCodec, StreamCodec, isFalse, isNone, isOne } from "./under-way.ts";

export const DeadlineCodec: Codec<Deadline> = record<Deadline>("struct Deadline", { at: u64, birth: u64 });

const SelectCodec = record<NonNullable<OpenEffect["select"]>>("struct Select", {
  mode: SelectModeCodec,
  keys: array(string),
});

const WaitingCodec = record<NonNullable<OpenEffect["waiting"]>>("struct Waiting", { name: string, input: json });

const OpenEffectCodec: Codec<OpenEffect> = record<OpenEffect>("struct OpenEffect", {
  key: string,
  kind: oneOf<EffectKind>("an effect kind", ...effectKinds),
  hash: string,
  seq: u64,
  attempt: u64,
  run: u64,
  recovery: optional<StepRecovery>(oneOf("a step recovery", "again", "idempotent", "once")),
  try: optional(u64),
  stream: optional(string),
  loser: optional(boolean),
  wait: optional(string),
  select: optional(SelectCodec),
  due: optional(DeadlineCodec),
  cleanupMs: optional(u64),
  waiting: optional(WaitingCodec),
  approval: optional(record<AskedApproval>("struct Asked", askedApproval)),
});

const isNull = (payload: Json): boolean => payload === null;
const isBlank = (text: string): boolean => text === "";
const isTrue = (flag: boolean): boolean => flag;

const payload = defaulted<Json>(json, null, isNull);
const argsHash = defaulted(string, "", isBlank);

const LifeCodec: Codec<Life> = record<Life>("struct Life", {
  number: u64,
  attempt: u64,
  at: optional(u64),
  signals: list(SignalCodec),
  upgradedIn: optional(u64),
  released: optional(u64),
});
const isFirst = ({ number, upgradedIn, released }: Life): boolean =>
  number === 1 && upgradedIn === undefined && released === undefined;

const FailedCodec: Codec<FailedVersion> = record<FailedVersion>("struct FailedVersion", {
  version: string,
  cause: oneOf<FailedVersion["cause"]>("a cause", "crash_loop", "diverged"),
});
const isEmptyRecord = (map: object): boolean => Object.keys(map).length === 0;

const bodyStruct = struct("struct Body", {
  /** The place of its manifest among the tools of the snapshot. */
  manifest: u64,
  payload,
  argsHash,
  attempt: defaulted(u64, 1, isOne),
  run: defaulted(u64, 1, isOne),
  life: defaulted(LifeCodec, firstLife, isFirst),
  /** Places among the waits of the snapshot. */
  waits: list(u64),
  resumes: defaulted(u64, 0, isNone),
  hasRecord: defaulted(boolean, false, isFalse),
  startedAt: u64,
  open: list(OpenEffectCodec),
  settled: list(SettledCodec),
  streams: list(StreamCodec),
  version: optional(string),
  failed: list(FailedCodec),
  patches: defaulted(PatchesCodec, {}, isEmptyRecord),
  room: optional(string),
});
export interface BodyShape extends TypeOf<typeof bodyStruct> {}
const BodyCodec: Codec<BodyShape> = bodyStruct;

const EditedCodec = struct("struct Edited", { args: json, by: string });
const ApprovalCodec: Codec<Approval> = record<Approval>("struct Approval", {
  argsHash,
  payload,
  ofProvider: optional(boolean),
  edited: optional(EditedCodec),
});

const isDefaultPending = ({ deadline, on_timeout, on_cancel }: PendingCompletion): boolean =>
  deadline === undefined &&
  on_timeout === defaultPendingCompletion.on_timeout &&
  on_cancel === defaultPendingCompletion.on_cancel;

const StopCodec: Codec<Stop> = record<Stop>("struct Stop", {
  seq: u64,
  cleans: defaulted(boolean, false, isFalse),
  due: optional(DeadlineCodec),
});

const common = { id: string, tool: string, args: json, replay: optional(json) };
const withBody = { ...common, body: BodyCodec };
const observed = defaulted(boolean, true, isTrue);
const due = optional(DeadlineCodec);
const cancelled = optional(StopCodec);
const cause = optional(UnknownCauseCodec);
const durationMs = u64;

/** Reads and writes a call: its row, with names as places, and without what follows from the rest. */
export const CallCodec = structs("Call", "phase", {
  requested: {
    ...common,
    byId: defaulted(boolean, false, isFalse),
    refused: optional(ToolCallOutput),
    asks: optional(string),
    due,
  },
  preparing: {
    ...common,
    manifest: u64,
    waits: oneOf<CallIn<"preparing">["waits"]>("what a preparation waits for", "hook", "args", "prepare"),
  },
  no_tool: {
    ...common,
    observed,
    manifest: u64,
    waits: oneOf<CallIn<"no_tool">["waits"]>("what an absent tool is for", "args", "prepare", "launch"),
    payload,
    argsHash,
    due,
  },
  awaiting_approval: { ...common, manifest: u64, approval: ApprovalCodec, body: optional(BodyCodec), due },
  ready: { ...common, observed, manifest: u64, payload, argsHash, due },
  queued: { ...common, observed, manifest: u64, payload, argsHash, since: u64 },
  running: { ...withBody, owner: string, key: optional(string), cancelled },
  resuming: { ...withBody, cause: ResumeCauseCodec, due, cancelled },
  suspended: { ...withBody, link: optional(record<RoomWanted>("struct RoomWanted", { to: string, since: u64 })) },
  no_executor: { ...withBody, due: DeadlineCodec },
  backing_off: { ...withBody, due },
  unknown: { ...withBody, cause: UnknownCauseCodec, due },
  pending: {
    ...common,
    /** The place of its key among the waits of the snapshot. */
    wait: u64,
    pending: defaulted(PendingCompletion, defaultPendingCompletion, isDefaultPending),
    durationMs,
    due,
  },
  finishing: {
    ...common,
    observed,
    waits: oneOf<CallIn<"finishing">["waits"]>("what an end waits for", "hook", "projection"),
    output: ToolCallOutput,
    cause,
    outputAt: optional(u64),
    durationMs,
  },
  completed: {
    ...common,
    output: ToolCallOutput,
    cause,
    outputAt: optional(u64),
    durationMs,
    parts: optional(json),
  },
});
export type CallShape = TypeOf<typeof CallCodec>;
