/**
 * Effects in a snapshot. There may be thousands of settled ones, and all that is asked of them is their key, hash,
 * status and place: so each is a tuple, `[key, hash, code, attempt, requested, waited, index, back, winner, since]`, and
 * what is nothing at its end is left out.
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
  type Json,
  type TypeOf,
  array,
  boolean,
  codecFrom,
  defaulted,
  defaultPendingCompletion,
  json,
  list,
  oneOf,
  optional,
  PendingCompletion,
  record,
  refuse,
  string,
  struct,
  structs,
  ToolCallOutput,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { PatchesCodec, ResumeCauseCodec, SelectModeCodec, SignalCodec, UnknownCauseCodec } from "../call/codec.ts";
import {
  type EffectKind,
  type OpenEffect,
  type SettledEffect,
  type StepRecovery,
  effectKinds,
} from "../call/effect.ts";
import type { Approval, CallIn, FailedVersion, RoomWanted, Stop } from "../call/model.ts";
import { type Life, firstLife } from "../call/life.ts";
import type { StreamAttempt, StreamGroup, StreamRow } from "../call/stream.ts";
import type { Deadline } from "../kernel/deadline.ts";

/** A snapshot leaves out what goes without saying. */
export const isNone = (n: number): boolean => n === 0;
export const isFalse = (flag: boolean): boolean => !flag;

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
});

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

const SettledCodec: Codec<SettledEntry> = codecFrom<SettledEntry>(
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

const isOne = (n: number): boolean => n === 1;
const isEmpty = (rows: readonly unknown[]): boolean => rows.length === 0;
const StreamCodec: Codec<StreamRow> = record<StreamRow>("struct Stream", {
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

const BodyCodec = struct("struct Body", {
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
export type BodyShape = TypeOf<typeof BodyCodec>;

const EditedCodec = struct("struct Edited", { args: json, by: string });
const ApprovalCodec: Codec<Approval> = record<Approval>("struct Approval", {
  argsHash,
  payload,
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
  requested: { ...common, byId: defaulted(boolean, false, isFalse), due },
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
  running: { ...withBody, owner: string, key: optional(string), cancelled },
  resuming: { ...withBody, cause: ResumeCauseCodec, due, cancelled },
  suspended: { ...withBody, link: optional(record<RoomWanted>("struct RoomWanted", { to: string, since: u64 })) },
  no_executor: { ...withBody, due: DeadlineCodec },
  backing_off: { ...withBody, due: DeadlineCodec },
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
    durationMs,
  },
  completed: { ...common, output: ToolCallOutput, cause, durationMs, parts: optional(json) },
});
export type CallShape = TypeOf<typeof CallCodec>;
