/** Export and import of a scope's log as a file of JSON Lines. */
import {
  type Finished,
  type Header,
  type State,
  currentFormat,
  currentProtocol,
  describeFault,
  eventLine,
  headerLine,
  replay,
  wakeAtOf,
  write,
} from "@pawl/sansio-core";
import {
  type PackedAttachment,
  type PackedBlob,
  attachmentLine,
  blobLine,
  hasRule,
  linesIn,
  newestProtocol,
  segmentLine,
} from "@pawl/sansio-core/driver";
import { type Json, hashText, isObject, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AttachmentStore, leftBehind, packBlobs, unpackBlobs } from "../journal/blob.ts";
import { Refused } from "../error.ts";
import type { Fault } from "../scope/offload.ts";
import { Quarantined } from "../scope/history.ts";
import { attachmentsOf, packedAttachment, unpackAttachments } from "./attachment.ts";
import type { Adoption, Append, AppendResult, Journal, JournalLine, MoveStore, Segment } from "../journal/journal.ts";
import { isStored } from "../scope/open-scope.ts";
import { isSealedLine } from "../journal/seal.ts";

const jsonOf = (scope: string, text: string): Json => {
  const json = parse(text, noLimits);
  if (E.isRight(json)) return json.right;
  throw new Quarantined(scope, json.left.message);
};

const member = (json: Json | undefined, field: string): Json | undefined => (isObject(json) ? json[field] : undefined);

const numberIn = (json: Json | undefined, field: string): number | undefined => {
  const found = member(json, field);
  return typeof found === "number" ? found : undefined;
};

/** Returns the header of a log. A field that cannot be read gets its default; the reader of the file finds the fault. */
const headerOf = (scope: string, lines: readonly JournalLine[], segment: Segment | undefined): string => {
  const begun = segment === undefined ? jsonOf(scope, lines[0]?.line ?? "") : jsonOf(scope, segment.snapshot);
  const of = segment === undefined ? member(begun, "event") : member(begun, "scope");
  const header: Header = {
    format: currentFormat,
    protocol: numberIn(of, "protocol") ?? currentProtocol,
    scope,
    epoch: numberIn(of, "epoch") ?? 1,
    writer: "pawl",
    base: segment?.base ?? 0,
  };
  return headerLine(header);
};

/** The attachments that go with an exported log. */
export interface LogAttachments {
  /** The store of attachments; those that the log names are exported. Without it none are. */
  readonly attachments?: AttachmentStore | undefined;
  /** Called for each attachment that does not match its name and so stays behind. */
  readonly fault?: Fault;
}

/** Returns the lines before the first event of an export: the large values and attachments that these texts name. */
const broughtAlong = async (
  journal: Journal,
  scope: string,
  texts: readonly string[],
  { attachments, fault = () => undefined }: LogAttachments,
): Promise<readonly string[]> => {
  const blobs = await packBlobs(journal.blobs, scope, texts);
  const lines = blobs.map(blobLine);
  if (attachments === undefined) return lines;
  for await (const [name, bytes] of attachmentsOf(attachments, { scope, texts, blobs }, fault))
    lines.push(attachmentLine(packedAttachment(name, bytes)));
  return lines;
};

/** Exports the log of a scope as lines that end in line feeds. Undefined if there is no such scope. */
export const logText = async (
  journal: Journal,
  scope: string,
  along: LogAttachments = {},
): Promise<readonly string[] | undefined> => {
  const lines = await journal.read(scope, 1); // Before the segment: lines that retention removes in between are then in the segment.
  const segment = await journal.segment(scope);
  if (lines.length === 0 && segment === undefined) return undefined;
  const texts = [segment?.snapshot ?? "", ...lines.map(({ line }) => line)];
  const brought = await broughtAlong(journal, scope, texts, along);
  if (segment === undefined) return [headerOf(scope, lines, undefined), ...brought, ...lines.map(({ line }) => line)];
  const { base, hash, snapshot } = segment;
  const kept = lines.filter(({ seq }) => seq <= base).map(({ line }) => jsonOf(scope, line));
  const after = lines.filter(({ seq }) => seq > base).map(({ line }) => line);
  const line = segmentLine({ base, hash, snapshot: jsonOf(scope, snapshot), kept });
  return [headerOf(scope, lines, segment), line, ...brought, ...after];
};

/** A line with the index entries that its event made. */
export interface SteppedLine extends JournalLine {
  readonly finished: readonly Finished[];
}

/** The lease of an import, which bounds how long it may take. */
const putMs = 60_000;

/** The parts of a scope in a journal besides its lines. Without them only a whole log can be put into another journal. */
export type BesidesLines = Pick<Adoption, "kept" | "letters" | "secrets" | "finished"> & { readonly segment?: Segment };

/** Reads what a journal has of a scope besides its lines. Undefined if its scopes cannot move. */
export const besidesLines = async (journal: Journal, scope: string): Promise<BesidesLines | undefined> => {
  const { moves } = journal;
  if (moves === undefined) return undefined;
  const segment = await journal.segment(scope);
  const kept = segment === undefined ? [] : await journal.read(scope, 1, segment.base);
  const [finished, letters] = [await moves.index(scope), await journal.inbox(scope)];
  return { kept, finished, letters, secrets: await moves.secrets(scope), ...(segment && { segment }) };
};

interface LogToPut {
  readonly stepped: readonly SteppedLine[];
  readonly state: State;
  readonly besides?: BesidesLines | undefined;
}

/** Writes a log in one append, so that the scope is there as a whole or not at all. */
const putAppend = (
  journal: Journal,
  epoch: number,
  { stepped, state }: LogToPut,
): Promise<AppendResult | undefined> => {
  const { id: scope, protocol } = state.scope;
  const append: Append = {
    scope,
    epoch,
    expectedSeq: 1,
    appendId: `${epoch}:1`,
    lines: stepped.map(({ seq, line }) => ({ seq, line })),
    finished: stepped.flatMap(({ seq, finished }) => finished.map((one) => ({ seq, ...one }))),
    wakeAt: wakeAtOf(state),
    approvals: state.awaitingApproval,
    protocol,
    messages: [],
    received: [],
  };
  return journal.appendAll([append]).then(([result]) => result);
};

/** Adds a line where retention has left none: no store has a log without a last line. */
const withLine = (log: LogToPut, epoch: number, owner: string): LogToPut => {
  const { state, stepped } = log;
  if (stepped.length > 0) return log;
  const { protocol, options } = state.scope;
  const went = hasRule(protocol, "crash_loops") ? { last_owner: "released" as const } : {};
  const event = { type: "scope.opened", epoch, owner, protocol, options, ...went } as const;
  const written = write(state, { seq: state.seq + 1, at: state.at, event });
  if (E.isLeft(written))
    throw new Refused(written.left.code, `${state.scope.id} cannot be opened: ${written.left.message}`);
  const { line, state: opened, finished } = written.right;
  return { ...log, state: opened, stepped: [{ seq: opened.seq, line, finished }] };
};

/** Writes a log with what its journal had besides its lines, as a scope that moves here. */
const adoptLog = (
  moves: MoveStore,
  epoch: number,
  { stepped, state }: LogToPut,
  besides: BesidesLines,
): ReturnType<MoveStore["adopt"]> =>
  moves.adopt({
    ...besides,
    scope: state.scope.id,
    epoch,
    nonce: `import:${crypto.randomUUID()}`,
    appendId: `${epoch}:${stepped[0]?.seq ?? 1}`,
    lines: stepped.map(({ seq, line }) => ({ seq, line })),
    wakeAt: wakeAtOf(state),
    approvals: state.awaitingApproval,
    protocol: state.scope.protocol,
  });

/** Writes a log into a journal that does not have its scope. */
export const putLog = async (journal: Journal, instance: string, log: LogToPut): Promise<void> => {
  const { id: scope, epoch: above } = log.state.scope;
  const { besides } = log;
  if (await isStored(journal, scope)) throw new Refused("scope_exists", `there is a scope ${scope} already`);
  if (besides?.segment !== undefined && journal.moves === undefined)
    throw new Refused(
      "not_whole",
      `the log goes on from event ${besides.segment.base}: this journal takes whole logs only`,
    );
  await journal.join(instance, { ttlMs: putMs, protocol: newestProtocol });
  try {
    const claim = await journal.claim(scope, instance, newestProtocol, above);
    if (claim.type !== "claimed") throw new Refused("not_claimed", `${scope} cannot be claimed: ${claim.type}`);
    const { moves } = journal;
    const isAdopted = besides !== undefined && moves !== undefined;
    const result = await (isAdopted
      ? adoptLog(moves, claim.epoch, withLine(log, claim.epoch, instance), besides)
      : putAppend(journal, claim.epoch, log));
    if (result?.type !== "ok")
      throw new Refused(`append_${result?.type}`, `${scope} was not taken by the journal: ${result?.type}`);
  } finally {
    await journal.leave(instance);
  }
};

/** Refuses a log with sealed values: their cipher text would be imported as the values. */
const admitOpen = (texts: readonly string[]): void => {
  for (const line of linesIn(texts))
    if (isSealedLine(line)) throw new Refused("sealed", "the log's values are sealed: export it again with its keys");
};

const admitBlobs = (scope: string, stepped: readonly SteppedLine[], blobs: readonly PackedBlob[]): void => {
  const missing = leftBehind(
    stepped.map(({ line }) => line),
    blobs,
  );
  if (missing === undefined) return;
  const message = `${scope}: the log names blob ${missing} and does not bring it along: export it again where it came from`;
  throw new Refused("blob_missing", message);
};

/** Stores the attachments of a log, before any line that names them. */
export const keepAttachments = async (
  store: AttachmentStore | undefined,
  scope: string,
  attachments: readonly PackedAttachment[],
  fault: Fault = () => undefined,
): Promise<void> => {
  if (attachments.length > 0 && store === undefined) {
    const message = `the log of ${scope} brings attachments along: give a store for them, or export it without`;
    throw new Refused("attachment_not_kept", message);
  }
  const refused = await unpackAttachments(store, { scope, attachments }, fault);
  if (refused !== undefined) throw refused;
};

/** Imports an exported log as its scope, after replaying it. Resolves with its state. */
export const importLog = async (
  journal: Journal,
  instance: string,
  text: Iterable<string>,
  { attachments: store, fault }: LogAttachments = {},
): Promise<State> => {
  const texts = [...text];
  admitOpen(texts);
  const stepped: SteppedLine[] = [];
  const blobs: PackedBlob[] = [];
  const attachments: PackedAttachment[] = [];
  const replayed = replay(texts, {
    onBlob: (packed) => void blobs.push(packed),
    onAttachment: (packed) => void attachments.push(packed),
    onStep: (recorded, { finished }) => void stepped.push({ seq: recorded.seq, line: eventLine(recorded), finished }),
  });
  const { state, header } = replayed;
  if (replayed.fault !== undefined)
    throw new Quarantined(header?.scope ?? "of the log", describeFault(replayed.fault), replayed.fault);
  if (header !== undefined && header.base > 0)
    throw new Refused("not_whole", `the log goes on from event ${header.base}: only whole logs are taken in`);
  if (state === undefined || stepped.length === 0) throw new Refused("log_empty", "the log has no events");
  admitBlobs(state.scope.id, stepped, blobs);
  await keepAttachments(store, state.scope.id, attachments, fault);
  await unpackBlobs(journal.blobs, state.scope.id, blobs, hashText);
  await putLog(journal, instance, { stepped, state });
  return state;
};
