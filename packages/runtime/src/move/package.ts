/** The package in which a scope moves: its log, the rows beside it in its store, and the secrets of its wait keys. */
import { type Finished, type State, stateHash } from "@pawl/sansio-core";
import { chain, PackedAttachment, PackedBlob } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type ValueError,
  array,
  list,
  oneOf,
  optional,
  readOwned,
  record,
  string,
  stringifyRecord,
  u64,
} from "@pawl/tool-value";
import type * as E from "fp-ts/lib/Either.js";
import { chainStartOf } from "../journal/memory-scope.ts";
import { foldLines } from "../scope/history.ts";
import { beforeLines } from "../scope/open-scope.ts";
import type { InboxMessage, IndexEntry, Journal, JournalLine, MoveStore, Segment } from "../journal/journal.ts";
import { type AttachmentStore, packBlobs } from "../journal/blob.ts";
import type { Fault } from "../scope/offload.ts";
import { packAttachments } from "./attachment.ts";
import type { ScopeSecret } from "../scope/wait-token.ts";
import { readText } from "../encoding.ts";

export interface MovePackage {
  readonly scope: string;
  readonly nonce: string;
  /** The highest epoch of the scope in the store that it leaves. */
  readonly epoch: number;
  readonly state_hash: string;
  /** Hashes all lines: the digests in them do not cover values. */
  readonly log_hash: string;
  readonly lines: readonly JournalLine[];
  readonly segment?: Segment;
  readonly kept: readonly JournalLine[];
  readonly finished: readonly IndexEntry[];
  readonly letters: readonly InboxMessage[];
  readonly secrets: readonly ScopeSecret[];
  /** Large values that the log names. */
  readonly blobs: readonly PackedBlob[];
  /** Attachments that it names. Hosts of older versions drop them. */
  readonly attachments: readonly PackedAttachment[];
}

const Line: Codec<JournalLine> = record<JournalLine>("struct Line", { seq: u64, line: string });
const kinds = ["request", "call", "wait", "wait_timed_out", "wait_left", "link", "wake", "task", "schedule"] as const;

export const MovePackage: Codec<MovePackage> = record<MovePackage>("struct Move", {
  scope: string,
  nonce: string,
  epoch: u64,
  state_hash: string,
  log_hash: string,
  lines: array(Line),
  segment: optional(record<Segment>("struct Segment", { base: u64, hash: string, snapshot: string })),
  kept: array(Line),
  finished: array(
    record<IndexEntry>("struct Finished", {
      kind: oneOf<Finished["kind"]>("a kind", ...kinds),
      id: string,
      seq: u64,
    }),
  ),
  letters: array(
    record<InboxMessage>("struct Letter", {
      kind: oneOf<InboxMessage["kind"]>("a kind", "message", "answer"),
      link: u64,
      number: u64,
      from: string,
      text: string,
    }),
  ),
  secrets: array(record<ScopeSecret>("struct Secret", { kid: string, secret: string })),
  blobs: list(PackedBlob),
  attachments: list(PackedAttachment),
});

/** Replays a log to its state, and compares every digest in it. */
export const stateOfLog = (
  scope: string,
  { lines, segment }: { readonly lines: readonly JournalLine[]; readonly segment?: Segment },
): State => foldLines(scope, lines, beforeLines(scope, segment));

export const logHash = (scope: string, { lines, kept }: Pick<MovePackage, "lines" | "kept">): string =>
  chain(
    chainStartOf(scope),
    [...kept, ...lines].map(({ line }) => line),
  );

/** Reads a scope's log from its store: the lines behind its segment, and those kept from before it. */
export const logOf = async (
  journal: Journal,
  scope: string,
): Promise<Pick<MovePackage, "lines" | "kept"> & { readonly segment?: Segment }> => {
  const [lines, segment] = await Promise.all([journal.read(scope, 1), journal.segment(scope)]);
  const base = segment?.base ?? 0;
  return {
    lines: lines.filter(({ seq }) => seq > base),
    kept: lines.filter(({ seq }) => seq <= base),
    ...(segment !== undefined && { segment }),
  };
};

/** The stores of a scope's log and attachments. */
export interface Stores {
  readonly journal: Journal;
  readonly attachments: AttachmentStore | undefined;
  readonly fault: Fault;
}

type Beside = Pick<MovePackage, "lines" | "kept" | "letters" | "blobs" | "attachments">;

/** Reads a scope's log with everything that travels with it. */
export const travelling = async (
  { journal, attachments: store, fault }: Stores,
  scope: string,
): Promise<Beside & { readonly segment?: Segment }> => {
  const [log, letters] = await Promise.all([logOf(journal, scope), journal.inbox(scope)]);
  const own = [...[...log.kept, ...log.lines].map(({ line }) => line), log.segment?.snapshot ?? ""];
  const blobs = await packBlobs(journal.blobs, scope, own);
  const texts = [...own, ...letters.map(({ text }) => text)];
  const attachments = await packAttachments(store, { scope, texts, blobs }, fault);
  return { ...log, letters, blobs, attachments };
};

/** Builds the package of a scope that is moving. */
export const packageOf = async (
  stores: Stores,
  moves: MoveStore,
  state: State,
  of: { readonly epoch: number; readonly nonce: string; readonly secrets: readonly ScopeSecret[] },
): Promise<MovePackage> => {
  const { id: scope } = state.scope;
  const [own, finished] = await Promise.all([travelling(stores, scope), moves.index(scope)]);
  return { scope, ...of, state_hash: stateHash(state), log_hash: logHash(scope, own), ...own, finished };
};

export const readPackage = (text: string): E.Either<ValueError, MovePackage> =>
  readText(text, (json) => readOwned(MovePackage, json));

export const packageText = (moving: MovePackage): string => stringifyRecord(MovePackage.encode(moving));
