/** A journal file as the command line sees it. */
import {
  type Segment as Stored,
  type Journal,
  type JournalLine,
  type ScopeEntry,
  packBlobs,
  sealedJournal,
} from "@pawl/runtime";
import { type Header, blobLine, currentFormat, currentProtocol, headerLine, segmentLine } from "@pawl/sansio-core";
import { type Json, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { aesCodec } from "../seal/aes.ts";
import { fileKeys } from "../seal/key.ts";
import { type SqliteJournal, sqliteJournal } from "../sqlite/journal.ts";
import { CliError, exit } from "./exit.ts";
import { isJournalFile } from "./text-file.ts";

export interface JournalFile {
  readonly journal: Journal;
  readonly scopes: (prefix?: string) => Promise<readonly ScopeEntry[]>;
  /** The log of a scope, as it is exported. */
  readonly textOf: (scope: string) => Promise<Iterable<string>>;
  readonly close: () => void;
}

const jsonOf = (scope: string, text: string): Json => {
  const json = parse(text, noLimits);
  if (E.isRight(json)) return json.right;
  throw new CliError("line_corrupt", `${scope}: ${json.left.message}`, { exit: exit.wrong });
};

const numberIn = (json: Json | undefined, field: string): number | undefined => {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const found = (json as { readonly [field: string]: Json })[field];
  return typeof found === "number" ? found : undefined;
};

const member = (json: Json | undefined, field: string): Json | undefined =>
  typeof json === "object" && json !== null && !Array.isArray(json)
    ? (json as { readonly [field: string]: Json })[field]
    : undefined;

/** Under what a log was begun: what is not to be read there is left to the reader to find wrong. */
const headerOf = (scope: string, lines: readonly JournalLine[], segment: Stored | undefined): string => {
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

const textOf = async (journal: Journal, file: string, scope: string): Promise<Iterable<string>> => {
  const segment = await journal.segment(scope);
  const lines = await journal.read(scope, 1);
  if (lines.length === 0 && segment === undefined) {
    throw new CliError("no_such_scope", `there is no scope ${scope} in ${file}`, {
      exit: exit.unreachable,
      hint: `pawl ls --journal ${file}`,
    });
  }
  const texts = [segment?.snapshot ?? "", ...lines.map(({ line }) => line)];
  const blobs = (await packBlobs(journal.blobs, scope, texts)).map(blobLine);
  if (segment === undefined) return [headerOf(scope, lines, undefined), ...blobs, ...lines.map(({ line }) => line)];
  const { base, hash, snapshot } = segment;
  const kept = lines.filter(({ seq }) => seq <= base).map(({ line }) => jsonOf(scope, line));
  const after = lines.filter(({ seq }) => seq > base).map(({ line }) => line);
  const line = segmentLine({ base, hash, snapshot: jsonOf(scope, snapshot), kept });
  return [headerOf(scope, lines, segment), line, ...blobs, ...after];
};

const atOnce = 1000;

const scopesOf = async (journal: Journal, prefix: string): Promise<readonly ScopeEntry[]> => {
  const all: ScopeEntry[] = [];
  for (;;) {
    const some = await journal.scopes(prefix, all.at(-1)?.scope ?? "", atOnce);
    all.push(...some);
    if (some.length < atOnce) return all;
  }
};

/** Opens a journal that is there. */
export const openJournalFile = (file: string, keys?: string): JournalFile => {
  if (!isJournalFile(file)) {
    throw new CliError("no_journal", `${file} is no journal`, { exit: exit.unreachable, hint: "name a journal file" });
  }
  const stored: SqliteJournal = sqliteJournal(file);
  const journal = keys === undefined ? stored : sealedJournal(stored, aesCodec(fileKeys(keys)));
  return {
    journal,
    scopes: (prefix = "") => scopesOf(journal, prefix),
    textOf: (scope) => textOf(journal, file, scope),
    close: stored.close,
  };
};
