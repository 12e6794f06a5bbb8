/** The process of a scope in a snapshot. Maps are lists, in an order that the rows give. */
import {
  type Codec,
  type TypeOf,
  array,
  boolean,
  defaulted,
  list,
  oneOf,
  optional,
  record,
  string,
  struct,
  u64,
} from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { ExternalRef, ProcessRegistration, ProcessStatus, ProcessWait } from "../message/process.ts";
import type { Peer, ProcessRow, ProcessRun } from "./model.ts";
import type { SnapshotPart } from "../concern.ts";
import type { ProcessRows } from "./concern.ts";

const PeerCodec: Codec<Peer> = record<Peer>("struct Peer", { scope: string, waits: array(string) });

const ProcessCodec = struct("struct Process", {
  registration: ProcessRegistration,
  hash: string,
  createdAt: u64,
  updatedAt: u64,
  externalRef: optional(ExternalRef),
  wait: optional(ProcessWait),
  status: ProcessStatus,
  sequence: u64,
  replays: list(struct("struct KeyedEvent", { key: string, hash: string, seq: u64, at: u64, ordinal: optional(u64) })),
  signals: list(struct("struct CountedSignal", { type: string, count: u64 })),
  run: oneOf<ProcessRun>("a run of a process", "none", "env", "call", "artifacts", "engine", "turn"),
  cancelled: defaulted(boolean, false, (flag) => !flag),
  peers: list(PeerCodec),
  wakesNobody: defaulted(boolean, false, (flag) => !flag),
  grantedBy: optional(string),
});
type ProcessShape = TypeOf<typeof ProcessCodec>;

const processShape = ({ replays, signals, ...row }: ProcessRow): ProcessShape => ({
  ...row,
  replays: [...replays].map(([key, event]) => ({ key, ...event })).toSorted((a, b) => a.seq - b.seq),
  signals: [...signals].map(([type, count]) => ({ type, count })).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
});

const processRow = ({ replays, signals, ...row }: ProcessShape): ProcessRow => ({
  ...row,
  replays: PersistentMap.of(replays.map(({ key, ...event }) => [key, event])),
  signals: PersistentMap.of(signals.map(({ type, count }) => [type, count])),
});

export const processSnapshot: SnapshotPart<{ readonly process?: ProcessShape }, ProcessRows> = {
  fields: { process: optional(ProcessCodec) },
  write: ({ process: row }) => (row === undefined ? {} : { process: processShape(row) }),
  read: ({ process: shape }) => ({ process: shape === undefined ? undefined : processRow(shape) }),
};
