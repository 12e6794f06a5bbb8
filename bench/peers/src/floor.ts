/** The floor: rows written to SQLite by hand, committed one by one or in groups. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { type System, stepResult } from "./system.ts";

const open = (folder: string) => {
  const db = new DatabaseSync(join(folder, "rows.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("CREATE TABLE row (run TEXT, seq INTEGER, text TEXT, PRIMARY KEY (run, seq)) WITHOUT ROWID");
  return { db, insert: db.prepare("INSERT INTO row VALUES (?, ?, ?)") };
};

let runs = 0;
const nameOfRun = (): string => `run-${(runs += 1)}`;

const rowOf = (run: string, i: number): [string, number, string] => [
  run,
  i,
  JSON.stringify({ run, i, result: stepResult(i) }),
];

const version = `node:sqlite of Node ${process.versions.node}`;

export const inserts = async (folder: string): Promise<System> => {
  const { db, insert } = open(folder);
  return {
    version,
    durability: "WAL, synchronous FULL: one sync a step",
    run: async (steps) => {
      const run = nameOfRun();
      for (let i = 0; i < steps; i++) insert.run(...rowOf(run, i));
    },
    close: async () => db.close(),
  };
};

export const groups = async (folder: string): Promise<System> => {
  const { db, insert } = open(folder);
  let waiting: { readonly row: [string, number, string]; readonly done: () => void }[] = [];
  const commit = (): void => {
    const group = waiting;
    waiting = [];
    db.exec("BEGIN");
    for (const { row } of group) insert.run(...row);
    db.exec("COMMIT");
    for (const { done } of group) done();
  };
  const write = (row: [string, number, string]): Promise<void> =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ row, done });
    });
  return {
    version,
    durability: "WAL, synchronous FULL: one sync for all rows of a turn",
    run: async (steps) => {
      const run = nameOfRun();
      for (let i = 0; i < steps; i++) await write(rowOf(run, i));
    },
    close: async () => db.close(),
  };
};
