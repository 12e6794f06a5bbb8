/** Calls in a snapshot: what follows from the batch that they stand in, or from the rest of the row, is left out. */
import {
  type Codec,
  type Json,
  PendingCompletion,
  ToolCallOutput,
  array,
  boolean,
  defaulted,
  defaultPendingCompletion,
  json,
  oneOf,
  optional,
  record,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { ResumeCauseCodec } from "../call/codec.ts";
import type { Approval, CallIn, ResumeCause, Stop, UnknownCause } from "../call/model.ts";
import type { Deadline } from "../kernel/deadline.ts";
import type { OpenEffect } from "../call/effect-model.ts";
import { DeadlineCodec, OpenEffectCodec, SettledCodec, type SettledEntry } from "./effect.ts";
import { isEmpty, isFalse, isNone } from "./left-out.ts";

export interface BodyShape {
  /** The place of its manifest among the tools of the snapshot. */
  readonly manifest: number;
  readonly payload: Json;
  readonly argsHash: string;
  readonly attempt: number;
  readonly run: number;
  readonly resumes: number;
  readonly startedAt: number;
  readonly open: readonly OpenEffect[];
  readonly settled: readonly SettledEntry[];
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
  | (WithBody & { readonly phase: "suspended" })
  | (WithBody & { readonly phase: "no_executor"; readonly due: Deadline })
  | (WithBody & { readonly phase: "backing_off"; readonly due: Deadline })
  | (WithBody & { readonly phase: "unknown"; readonly cause: UnknownCause })
  /** `wait`: the place of its key among the waits of the snapshot. */
  | (Common &
      WithDue & { readonly phase: "pending"; readonly wait: number } & {
        readonly pending: PendingCompletion;
        readonly durationMs: number;
      })
  | (Common & { readonly phase: "finishing"; readonly observed: boolean } & {
      readonly waits: CallIn<"finishing">["waits"];
      readonly output: ToolCallOutput;
      readonly durationMs: number;
    })
  | (Common & { readonly phase: "completed"; readonly output: ToolCallOutput; readonly durationMs: number } & {
      readonly parts?: Json;
    });

const isNull = (payload: Json): boolean => payload === null;
const isBlank = (text: string): boolean => text === "";
const isOne = (n: number): boolean => n === 1;
const isTrue = (flag: boolean): boolean => flag;

const payload = defaulted<Json>(json, null, isNull);
const argsHash = defaulted(string, "", isBlank);

const BodyCodec: Codec<BodyShape> = record<BodyShape>("struct Body", {
  manifest: u64,
  payload,
  argsHash,
  attempt: defaulted(u64, 1, isOne),
  run: defaulted(u64, 1, isOne),
  resumes: defaulted(u64, 0, isNone),
  startedAt: u64,
  open: defaulted<readonly OpenEffect[]>(array(OpenEffectCodec), [], isEmpty),
  settled: defaulted<readonly SettledEntry[]>(array(SettledCodec), [], isEmpty),
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

const unknownCauses = ["owner_lost", "crash_loop", "diverged"] as const;

const common = { id: string, tool: string, args: json, replay: optional(json) };
const withBody = { ...common, body: BodyCodec };
const waits = oneOf<CallIn<"preparing">["waits"]>("what a preparation waits for", "hook", "args", "prepare");
const endWaits = oneOf<CallIn<"finishing">["waits"]>("what an end waits for", "hook", "projection");
const due = DeadlineCodec;
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
  awaiting_approval: { ...common, manifest: u64, approval: ApprovalCodec, body: optional(BodyCodec), due: maybeDue },
  ready: { ...common, observed, manifest: u64, payload, argsHash },
  running: { ...withBody, owner: string, key: optional(string), cancelled: optional(StopCodec) },
  resuming: {
    ...withBody,
    cause: ResumeCauseCodec,
    due: maybeDue,
    cancelled: optional(StopCodec),
  },
  suspended: withBody,
  no_executor: { ...withBody, due },
  backing_off: { ...withBody, due },
  unknown: { ...withBody, cause: oneOf<UnknownCause>("a cause", ...unknownCauses) },
  pending: {
    ...common,
    wait: u64,
    pending: defaulted(PendingCompletion, defaultPendingCompletion, isDefaultPending),
    durationMs: u64,
    due: maybeDue,
  },
  finishing: { ...common, observed, waits: endWaits, output: ToolCallOutput, durationMs: u64 },
  completed: { ...common, output: ToolCallOutput, durationMs: u64, parts: optional(json) },
});
