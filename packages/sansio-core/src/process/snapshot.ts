/** The process of a scope in a snapshot. Maps are lists, in an order that the rows give. */
import { type Codec, array, boolean, defaulted, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { ExternalRef, ProcessRegistration, ProcessStatus, ProcessWait } from "../message/process.ts";
import type { AppendedEvent, Peer, ProcessRow, ProcessRun } from "./model.ts";
import type { SnapshotPart } from "../concern.ts";
import type { ProcessRows } from "./concern.ts";

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;

interface Keyed extends AppendedEvent {
  readonly key: string;
}
interface Counted {
  readonly type: string;
  readonly count: number;
}
interface ProcessShape extends Omit<ProcessRow, "replays" | "signals"> {
  readonly replays: readonly Keyed[];
  readonly signals: readonly Counted[];
}

const PeerCodec: Codec<Peer> = record<Peer>("struct Peer", { scope: string, waits: array(string) });
const KeyedCodec: Codec<Keyed> = record<Keyed>("struct KeyedEvent", {
  key: string,
  hash: string,
  seq: u64,
  at: u64,
  ordinal: optional(u64),
});
const CountedCodec: Codec<Counted> = record<Counted>("struct CountedSignal", { type: string, count: u64 });

const ProcessCodec: Codec<ProcessShape> = record<ProcessShape>("struct Process", {
  registration: ProcessRegistration,
  hash: string,
  createdAt: u64,
  updatedAt: u64,
  externalRef: optional(ExternalRef),
  wait: optional(ProcessWait),
  status: ProcessStatus,
  sequence: u64,
  replays: defaulted<readonly Keyed[]>(array(KeyedCodec), [], isEmpty),
  signals: defaulted<readonly Counted[]>(array(CountedCodec), [], isEmpty),
  run: oneOf<ProcessRun>("a run of a process", "none", "env", "call", "artifacts", "engine"),
  cancelled: defaulted(boolean, false, (flag) => !flag),
  peers: defaulted<readonly Peer[]>(array(PeerCodec), [], isEmpty),
  wakesNobody: defaulted(boolean, false, (flag) => !flag),
});

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
