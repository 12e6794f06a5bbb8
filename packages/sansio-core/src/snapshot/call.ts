/** Calls in a snapshot, by their phases: what goes without saying is left out. */
import {
  type Codec,
  type Json,
  PendingCompletion,
  ToolCallOutput,
  array,
  boolean,
  defaultPendingCompletion,
  defaulted,
  json,
  oneOf,
  optional,
  record,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { PatchesCodec, ResumeCauseCodec, SignalCodec, UnknownCauseCodec } from "../call/codec.ts";
import type { OpenEffect } from "../call/effect.ts";
import type {
  Approval,
  CallIn,
  FailedVersion,
  Patches,
  ResumeCause,
  RoomWanted,
  Stop,
  UnknownCause,
} from "../call/model.ts";
import { type Life, type SignalPlace, firstLife } from "../call/life.ts";
import type { Deadline } from "../kernel/deadline.ts";
import { DeadlineCodec, OpenEffectCodec, SettledCodec, type SettledEntry, isEmpty, isFalse, isNone } from "./effect.ts";

export interface BodyShape {
  /** The place of its manifest among the tools of the snapshot. */
  readonly manifest: number;
  readonly payload: Json;
  readonly argsHash: string;
  readonly attempt: number;
  readonly run: number;
  readonly life: Life;
  /** Places among the waits of the snapshot. */
  readonly waits: readonly number[];
  readonly resumes: number;
  readonly hasRecord: boolean;
  readonly startedAt: number;
  readonly open: readonly OpenEffect[];
  readonly settled: readonly SettledEntry[];
  readonly version?: string;
  readonly failed: readonly FailedVersion[];
  readonly patches: Patches;
  readonly room?: string;
}

interface Common {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
  readonly replay?: Json;
}
interface WithBody extends Common {
  readonly body: BodyShape;
}
interface WithDue {
  readonly due?: Deadline;
}

export type CallShape =
  | (Common & { readonly phase: "requested"; readonly byId: boolean })
  | (Common & {
      readonly phase: "preparing";
      readonly manifest: number;
      readonly waits: CallIn<"preparing">["waits"];
    })
  | (Common &
      WithDue & {
        readonly phase: "no_tool";
        readonly observed: boolean;
        readonly manifest: number;
        readonly waits: CallIn<"no_tool">["waits"];
        readonly payload: Json;
        readonly argsHash: string;
      })
  | (Common &
      WithDue & { readonly phase: "awaiting_approval"; readonly manifest: number } & {
        readonly approval: Approval;
        readonly body?: BodyShape;
      })
  | (Common & { readonly phase: "ready"; readonly observed: boolean; readonly manifest: number } & {
      readonly payload: Json;
      readonly argsHash: string;
    })
  | (WithBody & {
      readonly phase: "running";
      readonly owner: string;
      readonly key?: string;
      readonly cancelled?: Stop;
    })
  | (WithBody & WithDue & { readonly phase: "resuming"; readonly cause: ResumeCause; readonly cancelled?: Stop })
  | (WithBody & { readonly phase: "suspended"; readonly link?: RoomWanted })
  | (WithBody & { readonly phase: "no_executor"; readonly due: Deadline })
  | (WithBody & { readonly phase: "backing_off"; readonly due: Deadline })
  | (WithBody & WithDue & { readonly phase: "unknown"; readonly cause: UnknownCause })
  /** `wait`: the place of its key among the waits of the snapshot. */
  | (Common &
      WithDue & { readonly phase: "pending"; readonly wait: number } & {
        readonly pending: PendingCompletion;
        readonly durationMs: number;
      })
  | (Common & { readonly phase: "finishing"; readonly observed: boolean } & {
      readonly waits: CallIn<"finishing">["waits"];
      readonly output: ToolCallOutput;
      readonly cause?: UnknownCause;
      readonly durationMs: number;
    })
  | (Common & { readonly phase: "completed"; readonly output: ToolCallOutput; readonly durationMs: number } & {
      readonly cause?: UnknownCause;
      readonly parts?: Json;
    });

const isNull = (payload: Json): boolean => payload === null;
const isBlank = (text: string): boolean => text === "";
const isOne = (n: number): boolean => n === 1;
const isTrue = (flag: boolean): boolean => flag;

const payload = defaulted<Json>(json, null, isNull);
const argsHash = defaulted(string, "", isBlank);

const FailedCodec: Codec<FailedVersion> = record<FailedVersion>("struct FailedVersion", {
  version: string,
  cause: oneOf<FailedVersion["cause"]>("a cause", "crash_loop", "diverged"),
});

const LifeCodec: Codec<Life> = record<Life>("struct Life", {
  number: u64,
  attempt: u64,
  at: optional(u64),
  signals: defaulted<readonly SignalPlace[]>(array(SignalCodec), [], isEmpty),
  upgradedIn: optional(u64),
  released: optional(u64),
});
const isFirst = ({ number, upgradedIn, released }: Life): boolean =>
  number === 1 && upgradedIn === undefined && released === undefined;

const BodyCodec: Codec<BodyShape> = record<BodyShape>("struct Body", {
  manifest: u64,
  payload,
  argsHash,
  attempt: defaulted(u64, 1, isOne),
  run: defaulted(u64, 1, isOne),
  life: defaulted(LifeCodec, firstLife, isFirst),
  waits: defaulted<readonly number[]>(array(u64), [], isEmpty),
  resumes: defaulted(u64, 0, isNone),
  hasRecord: defaulted(boolean, false, isFalse),
  startedAt: u64,
  open: defaulted<readonly OpenEffect[]>(array(OpenEffectCodec), [], isEmpty),
  settled: defaulted<readonly SettledEntry[]>(array(SettledCodec), [], isEmpty),
  version: optional(string),
  failed: defaulted<readonly FailedVersion[]>(array(FailedCodec), [], isEmpty),
  patches: defaulted<Patches>(PatchesCodec, {}, (patches) => Object.keys(patches).length === 0),
  room: optional(string),
});

const EditedCodec = record<NonNullable<Approval["edited"]>>("struct Edited", { args: json, by: string });

const ApprovalCodec: Codec<Approval> = record<Approval>("struct Approval", {
  argsHash,
  payload,
  edited: optional(EditedCodec),
});

const isDefaultPending = ({ deadline, on_timeout, on_cancel }: PendingCompletion): boolean =>
  deadline === undefined &&
  on_timeout === defaultPendingCompletion.on_timeout &&
  on_cancel === defaultPendingCompletion.on_cancel;

const common = { id: string, tool: string, args: json, replay: optional(json) };
const withBody = { ...common, body: BodyCodec };
const waits = oneOf<CallIn<"preparing">["waits"]>("what a preparation waits for", "hook", "args", "prepare");
const absentWaits = oneOf<CallIn<"no_tool">["waits"]>("what an absent tool is for", "args", "prepare", "launch");
const endWaits = oneOf<CallIn<"finishing">["waits"]>("what an end waits for", "hook", "projection");
const due = DeadlineCodec;
const cause = optional(UnknownCauseCodec);
const maybeDue = optional(DeadlineCodec);
const observed = defaulted(boolean, true, isTrue);
const StopCodec: Codec<Stop> = record<Stop>("struct Stop", {
  seq: u64,
  cleans: defaulted(boolean, false, isFalse),
  due: optional(DeadlineCodec),
});

export const CallCodec: Codec<CallShape> = tagged<CallShape, "phase">("Call", "phase", {
  requested: { ...common, byId: defaulted(boolean, false, isFalse) },
  preparing: { ...common, manifest: u64, waits },
  no_tool: { ...common, observed, manifest: u64, waits: absentWaits, payload, argsHash, due: maybeDue },
  awaiting_approval: { ...common, manifest: u64, approval: ApprovalCodec, body: optional(BodyCodec), due: maybeDue },
  ready: { ...common, observed, manifest: u64, payload, argsHash },
  running: { ...withBody, owner: string, key: optional(string), cancelled: optional(StopCodec) },
  resuming: {
    ...withBody,
    cause: ResumeCauseCodec,
    due: maybeDue,
    cancelled: optional(StopCodec),
  },
  suspended: { ...withBody, link: optional(record<RoomWanted>("struct RoomWanted", { to: string, since: u64 })) },
  no_executor: { ...withBody, due },
  backing_off: { ...withBody, due },
  unknown: { ...withBody, cause: UnknownCauseCodec, due: maybeDue },
  pending: {
    ...common,
    wait: u64,
    pending: defaulted(PendingCompletion, defaultPendingCompletion, isDefaultPending),
    durationMs: u64,
    due: maybeDue,
  },
  finishing: { ...common, observed, waits: endWaits, output: ToolCallOutput, cause, durationMs: u64 },
  completed: { ...common, output: ToolCallOutput, cause, durationMs: u64, parts: optional(json) },
});
