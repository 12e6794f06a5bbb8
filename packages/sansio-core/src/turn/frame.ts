/**
 * A frame: the history that prompts are made of. It is a list of entries, each of them a few bytes that refer to events: what
 * was said stands in the log, once. History is never rewritten; a compaction changes only what is shown.
 *
 * Invariants
 *   FR1  the current frame exists, and is named by itself; what compactions have replaced in a frame only grows
 *   FR2  entries name events of the log that are at or before the state's sequence
 */
import {
  type Codec,
  type Json,
  array,
  boolean,
  json,
  list,
  optional,
  record,
  string,
  tagged,
  text,
  ToolCallOutput,
  u32,
  u64,
} from "@pawl/tool-value";

/** The output of a call: in the event that holds it, or itself, where no event does. `parts`: as the host has it shown. */
export interface ResultRef {
  readonly seq?: number;
  readonly output?: ToolCallOutput;
  readonly parts?: Json;
  /** The arguments that a person put in the place of the model's. */
  readonly edited?: Json;
}

/** A person's word on the j-th approval request of an answer. */
export interface ProviderDecision {
  readonly at: number;
  readonly approved: boolean;
  readonly reason?: string;
}

/** Where an answer stands: the events that hold its pieces. `prefix`: those that it went on from. */
export interface Said {
  readonly seq: number;
  readonly prefix?: readonly number[];
  readonly streamed?: readonly number[];
}

export type Entry =
  /** Messages of a host, in the event that submitted them. `given`: the history that a sub-agent began with. */
  | { readonly type: "user"; readonly seq: number; readonly given?: boolean }
  /** The task of a switch, or a message of its nodes, in the output of a call. */
  | { readonly type: "task"; readonly of: ResultRef }
  | { readonly type: "node"; readonly of: ResultRef; readonly at: number }
  | ({ readonly type: "answer"; readonly n: number; readonly provider: string } & Said)
  /** An answer that was stopped: its text alone is shown. */
  | ({ readonly type: "cut" } & Said)
  | { readonly type: "results"; readonly of: readonly ResultRef[]; readonly decisions?: readonly ProviderDecision[] }
  | { readonly type: "wrap_up" }
  /** Says that the answer of this event does not fit the form that is wanted. */
  | { readonly type: "repair"; readonly seq: number }
  | ({ readonly type: "summary" } & Said)
  /** Stands for a summary that could not be had. */
  | { readonly type: "left_out" };

export interface Frame {
  readonly id: string;
  /** The agent that works in it, by name. */
  readonly agent: string;
  readonly entries: readonly Entry[];
  /** So many of its first entries stand for what was compacted: the summary, and the question that was pinned. */
  readonly kept: number;
  /** How many entries compactions have replaced. */
  readonly replaced: number;
  /** Tokens of the last answer, its prompt included; absent where nobody said. */
  readonly tokens?: number;
  /** A compaction was asked for, and is made at the next checkpoint. */
  readonly wanted?: boolean;
  /** The event with which it was last entered: the oldest frames leave first. */
  readonly entered: number;
}

export const mainFrame = "main";
export const mainAgent = "main";

export const emptyFrame = (id: string, agent: string, entered: number): Frame => ({
  id,
  agent,
  entries: [],
  kept: 0,
  replaced: 0,
  entered,
});

export const withEntries = (frame: Frame, ...entries: readonly Entry[]): Frame => ({
  ...frame,
  entries: [...frame.entries, ...entries],
});

/** Begins a frame with all that another one shows. */
export const withHistory = (frame: Frame, { entries }: Frame): Frame => withEntries(frame, ...entries);

// Compaction.

/** The entries that a compaction replaces: those from `kept` up to `upto`, but for the one that is pinned. */
export interface Range {
  readonly upto: number;
  readonly pinned?: number;
}

const isUser = ({ type }: Entry): boolean => type === "user" || type === "task";

/** Where groups begin: an answer with its results is one, and any other entry by itself. */
const groupStarts = ({ entries, kept }: Frame): readonly number[] =>
  entries.flatMap(({ type }, i) => (i < kept || type === "results" ? [] : [i]));

/** The range of a compaction that leaves the last groups as they are; undefined where there is nothing to replace. */
export const rangeOf = (frame: Frame, keepGroups: number): Range | undefined => {
  const starts = groupStarts(frame);
  const upto = keepGroups === 0 ? frame.entries.length : (starts.at(-keepGroups) ?? frame.kept);
  if (starts.length <= keepGroups) return undefined;
  const newest = frame.entries.findLastIndex(isUser);
  const pinned = newest !== -1 && newest < upto ? newest : undefined;
  const replaced = upto - frame.kept - Number(pinned !== undefined && pinned >= frame.kept);
  if (replaced <= 0) return undefined;
  return pinned === undefined ? { upto } : { upto, pinned };
};

/** The frame once a range is replaced by its summary, or by a word that it was left out. */
export const compacted = (frame: Frame, { upto, pinned }: Range, said: Said | undefined): Frame => {
  const { tokens: _, ...rest } = frame;
  const summary: Entry = said === undefined ? { type: "left_out" } : { type: "summary", ...said };
  const pin = pinned === undefined ? [] : frame.entries.slice(pinned, pinned + 1);
  const front = [summary, ...pin];
  return {
    ...rest,
    entries: [...front, ...frame.entries.slice(upto)],
    kept: front.length,
    replaced: frame.replaced + Math.max(0, upto - frame.kept),
  };
};

/** The entries that the prompt of a compaction shows. */
export const entriesOf = ({ entries }: Frame, range: Range | undefined): readonly Entry[] =>
  range === undefined ? entries : entries.slice(0, range.upto);

/** The events that entries refer to. */
export const seqsOf = (entry: Entry): readonly number[] => {
  switch (entry.type) {
    case "user":
    case "repair":
      return [entry.seq];
    case "task":
    case "node":
      return entry.of.seq === undefined ? [] : [entry.of.seq];
    case "answer":
    case "cut":
    case "summary":
      return [...(entry.prefix ?? []), ...(entry.streamed ?? []), entry.seq];
    case "results":
      return entry.of.flatMap(({ seq }) => seq ?? []);
    case "wrap_up":
    case "left_out":
      return [];
  }
};

// In a snapshot.

const ResultRefCodec: Codec<ResultRef> = record<ResultRef>("struct ResultRef", {
  seq: optional(u64),
  output: optional(ToolCallOutput),
  parts: optional(json),
  edited: optional(json),
});
const DecisionCodec: Codec<ProviderDecision> = record<ProviderDecision>("struct ProviderDecision", {
  at: u32,
  approved: boolean,
  reason: optional(text),
});
const said = { seq: u64, prefix: optional(array(u64)), streamed: optional(array(u64)) };

export const EntryCodec: Codec<Entry> = tagged<Entry, "type">("Entry", "type", {
  user: { seq: u64, given: optional(boolean) },
  task: { of: ResultRefCodec },
  node: { of: ResultRefCodec, at: u32 },
  answer: { n: u32, provider: string, ...said },
  cut: said,
  results: { of: array(ResultRefCodec), decisions: optional(array(DecisionCodec)) },
  wrap_up: {},
  repair: { seq: u64 },
  summary: said,
  left_out: {},
});

export const RangeCodec: Codec<Range> = record<Range>("struct Range", { upto: u32, pinned: optional(u32) });

export const FrameCodec: Codec<Frame> = record<Frame>("struct Frame", {
  id: string,
  agent: string,
  entries: list(EntryCodec),
  kept: u32,
  replaced: u64,
  tokens: optional(u64),
  wanted: optional(boolean),
  entered: u64,
});
