/** Journal files of tests, and appends to them. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Append } from "@pawl/runtime/driver";
import type { JournalRig } from "@pawl/testkit";
import { type SqliteJournal, type SqliteOptions, sqliteJournal } from "../src/index.ts";

/** A folder for the duration of the tests. */
export const testFolder = (): { readonly file: (name: string) => string; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-journal-"));
  return { file: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true }) };
};

/** Returns an append of one line. */
export const oneLine = (scope: string, epoch: number, seq: number, text = ""): Append => ({
  scope,
  epoch,
  expectedSeq: seq,
  appendId: `${epoch}:${seq}`,
  lines: [{ seq, line: `${seq}${text}\n` }],
  finished: [],
  wakeAt: undefined,
  protocol: 1,
  messages: [],
  received: [],
});

export interface FileRig extends JournalRig {
  readonly open: (room?: number) => Promise<SqliteJournal>;
  readonly close: () => Promise<void>;
}

/** One file; each `open` makes a new connection. */
export const fileRig = (path: string, options: SqliteOptions): FileRig => {
  const connections: SqliteJournal[] = [];
  let now = 0;
  return {
    open: async (room) => {
      const bound = room === undefined ? {} : { maxBytes: statSync(path).size + room };
      const journal = sqliteJournal(path, { ...options, now: () => now, ...bound });
      connections.push(journal);
      return journal;
    },
    pass: (ms) => (now += ms),
    close: async () => {
      await Promise.all(connections.map(({ close }) => close()));
    },
  };
};
