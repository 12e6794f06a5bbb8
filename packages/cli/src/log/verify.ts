/** `pawl log verify`: checks that logs can be read, are contiguous, and replay as recorded. */
import { type ChainCheck, BlobMissing, namesIn, unpacked, unpackedAttachment } from "@pawl/runtime/driver";
import type { Command } from "../command.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import { type LogSource, placeOf, placeOptions, withLogs } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { brokenWords, faultJson, faultWords, tornJson, tornWords } from "./fault.ts";
import { headOf, isAttachmentLine } from "./head.ts";
import { replayOpen, printUnread, unreadJson } from "./replay-log.ts";
import { attachmentOf, blobOf, linesIn } from "@pawl/sansio-core/driver";
import { hashText, parseRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export interface BlobFaults {
  readonly missing: readonly string[];
  readonly corrupt: readonly string[];
  /** Attachments whose bytes do not match their names. */
  readonly attachments: readonly string[];
}

/** Returns the name of a line's attachment if its bytes do not match. */
const corruptAttachment = (line: string): readonly string[] => {
  const json = parseRecord(line);
  const packed = E.isRight(json) ? attachmentOf(json.right) : undefined;
  return packed === undefined || unpackedAttachment(packed) !== undefined ? [] : [packed.attachment];
};

const checkBlob = (line: string, corrupt: string[]): string | undefined => {
  const json = parseRecord(line);
  const packed = E.isRight(json) ? blobOf(json.right) : undefined;
  if (packed === undefined) return undefined;
  try {
    unpacked(packed, "", hashText);
  } catch (thrown) {
    if (!(thrown instanceof BlobMissing)) throw thrown;
    corrupt.push(packed.blob);
  }
  return packed.blob;
};

export const blobFaults = async ({ text }: LogSource): Promise<BlobFaults> => {
  const [named, packed, corrupt] = [new Set<string>(), new Set<string>(), [] as string[]];
  const attachments: string[] = [];
  for (const line of linesIn(await text())) {
    if (isAttachmentLine(line)) attachments.push(...corruptAttachment(line));
    const blob = line.startsWith('{"blob":') ? checkBlob(line, corrupt) : undefined;
    if (blob !== undefined) packed.add(blob);
    else for (const name of namesIn(line)) named.add(name);
  }
  return { missing: [...named].filter((name) => !packed.has(name)), corrupt, attachments };
};

const many = (count: number, what: string): string =>
  `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;

/** How far hashes cover a log that replays. */
interface Coverage {
  readonly isInJournal: boolean;
  /** The last event. */
  readonly seq: number;
  /** Events up to this one were deleted by retention. */
  readonly base: number;
  /** The last event that a kept hash covers. */
  readonly vouched: number;
}

const coverageOf = (
  { journal }: LogSource,
  seq: number,
  base: number,
  wanted: string | undefined,
  chain: ChainCheck | undefined,
): Coverage => {
  const kept = chain?.type === "whole" ? chain.kept : 0;
  return { isInJournal: journal !== undefined, seq, base, vouched: wanted === undefined ? kept : seq };
};

const coverageText = ({ isInJournal, seq, base, vouched }: Coverage): string => {
  if (vouched >= seq) return "a hash covers all of it";
  if (vouched > base) return `a hash covers it up to event ${vouched}, and nothing after that`;
  return isInJournal
    ? "it replays, but no hash covers it: `pawl log head` stores one"
    : "it replays, but no hash covers it: --head compares it with one that you kept";
};

/** Checks one log and prints the result. */
const verify = async (log: LogSource, terminal: Terminal, wantedHead: string | undefined): Promise<Exit> => {
  const replayed = await replayOpen(log, terminal);
  if (replayed instanceof CliError) {
    printUnread(log, replayed, terminal);
    return replayed.exit;
  }
  const { header, events, base, torn, fault, state } = replayed;
  const head = wantedHead === undefined ? undefined : await headOf(log);
  const isOther = wantedHead !== head;
  const blobs = await blobFaults(log);
  const lost = [...blobs.missing, ...blobs.corrupt, ...blobs.attachments];
  const chain = await log.storedCheck?.();
  const broken = chain?.type === "broken" ? chain : undefined;
  const { paint } = terminal;
  const isSound = fault === undefined && !isOther && broken === undefined && lost.length === 0;
  const coverage = coverageOf(log, state?.seq ?? 0, header?.base ?? 0, wantedHead, chain);
  const json = {
    log: log.name,
    ok: isSound,
    scope: header?.scope,
    protocol: state?.scope.protocol,
    base: header?.base,
    events,
    seq: state?.seq,
    vouched: isSound ? coverage.vouched : undefined,
    torn: tornJson(torn),
    fault: faultJson(fault),
    blobs: lost.length > 0 ? blobs : undefined,
    head: isOther ? { expected: wantedHead, found: head } : undefined,
    chain,
  };
  terminal.print(json, () => {
    const from = base === undefined ? "" : ` after the segment up to ${base.segment.base}`;
    const what = `${many(events, "event")}${from}${header === undefined ? "" : ` of ${header.scope}`}`;
    const lines = [`${isSound ? paint("green", "ok") : paint("red", "not ok")}  ${log.name}  ${paint("dim", what)}`];
    if (isSound) lines.push(`    ${paint("dim", coverageText(coverage))}`);
    if (torn !== undefined) lines.push(`    ${paint("yellow", "torn")}: ${tornWords(torn)}`);
    if (fault !== undefined) lines.push(...faultWords(fault, terminal).map((line) => `    ${line}`));
    for (const name of blobs.missing) lines.push(`    ${paint("red", "missing blob")}: ${name}`);
    for (const name of blobs.corrupt) lines.push(`    ${paint("red", "blob is not what its name says")}: ${name}`);
    for (const name of blobs.attachments)
      lines.push(`    ${paint("red", "attachment is not what its name says")}: ${name}`);
    if (isOther) lines.push(`    ${paint("red", "other head")}: expected ${wantedHead}, found ${head}`);
    if (broken !== undefined) lines.push(`    ${brokenWords(broken, terminal)}`);
    return lines;
  });
  return isSound ? exit.fine : exit.wrong;
};

export const logVerify: Command = {
  name: "log verify",
  summary: "Check that logs can be read, are complete, and replay as they were recorded",
  usage: "<log…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: {
    ...placeOptions,
    head: { type: "string", value: "<hash>", what: "The expected head of the hash chain" },
  },
  detail:
    "A journal without a scope stands for all its scopes. A log that replays may still have changed values. Therefore its\nhash chain is compared with the hash that the journal stored at the last `pawl log head` or retention, or with --head;\n`vouched` is the last event that the hash covers. A torn last line is not an error: it is told apart from corruption,\nand the lines before it are complete.",
  json: [
    {
      what: "Each log",
      fields: "log, ok, scope?, protocol?, base?, events, seq?, vouched?, torn?, fault?, blobs?, head?, chain?",
    },
    unreadJson,
  ],
  examples: [
    ["pawl log verify alice.jsonl", "a log in a file"],
    ["pawl log verify journal.db", "every scope of a journal"],
    ["pawl log verify journal.db#alice --json", "one scope, for a script"],
  ],
  run: async (input, terminal): Promise<Exit> => {
    const places = input.positionals.map((argument) => placeOf(argument, input, terminal));
    return withLogs(places, async (logs) => {
      const ends = new Set<Exit>();
      for (const log of logs) ends.add(await verify(log, terminal, input.text("head")));
      return ends.has(exit.wrong) ? exit.wrong : ends.has(exit.unreachable) ? exit.unreachable : exit.fine;
    });
  },
};
