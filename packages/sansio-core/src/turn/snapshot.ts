/** The conversation of a session in a snapshot. Maps are lists, in an order that the rows give. */
import {
  type Codec,
  type TypeOf,
  array,
  boolean,
  codecFrom,
  defaulted,
  dict,
  json,
  list,
  oneOf,
  optional,
  record,
  refuse,
  string,
  struct,
  tagged,
  text,
  u32,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { SnapshotPart } from "../concern.ts";
import type { Due } from "../kernel/deadline.ts";
import { LimitsCodec } from "../kernel/limit.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { AgentRowCodec } from "./agent.ts";
import { GrantCodec, PriceCodec, ReachedCodec, UsedCodec } from "./budget.ts";
import { finished } from "./codec.ts";
import { type FailureClass, type ModelMode, failureClasses } from "./event.ts";
import { FrameCodec, type Range, mainFrame } from "./frame.ts";
import { PiecesCodec } from "./message.ts";
import type {
  Conversation,
  ModelCall,
  PendingEnd,
  Phase,
  RunningTurn,
  TurnRows,
  Unheard,
  WaitingTurn,
} from "./model.ts";

/** A mark that is there or not. */
const mark = codecFrom<true>(
  "true",
  (u): u is true => u === true,
  (u, c) => (u === true ? E.right(true) : refuse(u, c, "expected true")),
);

const DueCodec: Codec<Due> = record<Due>("struct Due", { at: u64, birth: u64, key: string });
const RangeCodec = record<Range & { readonly needed?: true }>("struct Range", {
  upto: u32,
  pinned: optional(u32),
  needed: optional(mark),
});

const ModelCallCodec: Codec<ModelCall> = record<ModelCall>("struct ModelCall", {
  kind: oneOf("a kind of model call", "answer", "compact"),
  n: u32,
  attempt: u32,
  mode: oneOf<ModelMode>("a mode", "fresh", "fetch", "continue"),
  failures: u32,
  route: u32,
  onRoute: u32,
  losses: u32,
  providerId: optional(text),
  streamed: list(u64),
  pieces: PiecesCodec,
  prefix: text,
  prefixed: list(u64),
  withoutTools: optional(mark),
  cap: optional(u64),
  range: optional(RangeCodec),
  epoch: u64,
  asked: u64,
});

const PendingEndCodec: Codec<PendingEnd> = record<PendingEnd>("struct PendingEnd", {
  status: oneOf("a status", "finished"),
  ...finished,
});

const PhaseCodec: Codec<Phase> = tagged<Phase, "type">("Phase", "type", {
  loading: { agent: string },
  asking: { call: ModelCallCodec },
  backing_off: {
    call: ModelCallCodec,
    cause: oneOf<FailureClass | "owner_lost">("a cause", ...failureClasses, "owner_lost"),
    due: DueCodec,
  },
  unknown: { call: ModelCallCodec },
  calling: { n: u32, text, edited: dict(json) },
  checking: { n: u32, end: optional(PendingEndCodec) },
  parked: {
    ask: u64,
    reached: array(ReachedCodec),
    since: u64,
    call: optional(ModelCallCodec),
    end: optional(PendingEndCodec),
  },
  stopping: { call: ModelCallCodec, for: oneOf("why", "cancel", "interrupt"), due: DueCodec },
});

const submitted = {
  request: string,
  born: u64,
  agentName: optional(string),
  own: optional(LimitsCodec),
  repairs: optional(u32),
};

const RunningTurnCodec: Codec<RunningTurn> = record<RunningTurn>("struct RunningTurn", {
  ...submitted,
  phase: PhaseCodec,
  since: u64,
  startedAt: u64,
  parkedMs: u64,
  frame: string,
  agent: optional(AgentRowCodec),
  n: u32,
  used: UsedCodec,
  limits: LimitsCodec,
  route: u32,
  repaired: u32,
  cuts: u32,
  switches: u32,
  loop: optional(record<NonNullable<RunningTurn["loop"]>>("struct Loop", { calls: text, count: u32 })),
  hasResults: boolean,
  wrapped: boolean,
  compacted: optional(mark),
  cancelled: boolean,
  triggers: list(json),
});

const WaitingTurnCodec: Codec<WaitingTurn> = record<WaitingTurn>("struct WaitingTurn", {
  ...submitted,
  place: oneOf<WaitingTurn["place"]>("a place", "queue", "join", "next"),
});

const UnheardCodec: Codec<Unheard> = record<Unheard>("struct Unheard", {
  request: string,
  n: u32,
  attempt: u32,
  model: string,
});

const ConversationShapeCodec = struct("struct Conversation", {
  running: optional(RunningTurnCodec),
  waiting: list(WaitingTurnCodec),
  frames: list(FrameCodec),
  frame: defaulted(string, mainFrame, (name) => name === mainFrame),
  agents: list(AgentRowCodec),
  prices: dict(PriceCodec),
  limits: record<Conversation["limits"]>("struct StandingLimits", { turn: LimitsCodec, session: LimitsCodec }),
  used: UsedCodec,
  grants: list(GrantCodec),
  asks: u64,
  unheard: list(UnheardCodec),
});
type ConversationShape = TypeOf<typeof ConversationShapeCodec>;

const byText =
  <A>(name: (one: A) => string) =>
  (a: A, b: A): number =>
    name(a) < name(b) ? -1 : 1;

const shapeOf = ({ running, frames, agents, prices, ...rest }: Conversation): ConversationShape => ({
  ...rest,
  ...(running === undefined ? {} : { running }),
  frames: frames.values().toSorted(byText(({ id }) => id)),
  agents: agents.values().toSorted(byText(({ name }) => name)),
  prices: Object.fromEntries([...prices].toSorted(byText(([name]) => name))),
});

const keyed = <Row>(rows: readonly Row[], key: (row: Row) => string): PersistentMap<string, Row> =>
  PersistentMap.of(rows.map((row) => [key(row), row]));

const conversationIn = ({ running, frames, agents, prices, ...rest }: ConversationShape): Conversation | undefined => {
  const byId = keyed(frames, ({ id }) => id);
  const byName = keyed(agents, ({ name }) => name);
  if (byId.size !== frames.length || byName.size !== agents.length) return undefined;
  return { ...rest, running, frames: byId, agents: byName, prices: PersistentMap.of(Object.entries(prices)) };
};

/** The conversation of a session in which nothing was said yet. */
export const noConversation: Conversation = {
  running: undefined,
  waiting: [],
  frames: PersistentMap.empty(),
  frame: mainFrame,
  agents: PersistentMap.empty(),
  prices: PersistentMap.empty(),
  limits: { turn: {}, session: {} },
  used: {},
  grants: [],
  asks: 0,
  unheard: [],
};

/** Returns whether nothing was said yet: no agent, no frame, and so no turn. */
const isEmpty = ({ agents, frames, prices, limits, asks }: Conversation): boolean =>
  agents.size + frames.size + prices.size + asks === 0 &&
  Object.keys(limits.turn).length + Object.keys(limits.session).length === 0;

/** A session without turns has none in its snapshot. */
export const turnSnapshot: SnapshotPart<{ readonly conversation?: ConversationShape }, TurnRows> = {
  fields: { conversation: optional(ConversationShapeCodec) },
  write: ({ conversation }) => (isEmpty(conversation) ? {} : { conversation: shapeOf(conversation) }),
  read: ({ conversation: shape }) => {
    if (shape === undefined) return { conversation: noConversation };
    const conversation = conversationIn(shape);
    return conversation === undefined ? undefined : { conversation };
  },
};
