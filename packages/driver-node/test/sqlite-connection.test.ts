/** Which commits sync: acknowledged appends survive a power cut, and derived data does not wait for the disk. */
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { Connection, type FileOptions } from "../src/sqlite/connection.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);
afterEach(() => vi.restoreAllMocks());

const [normal, full] = [1, 2];

/** Opens a connection and returns its current sync mode. */
const opened = (name: string, options: FileOptions) => {
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  const at = new Connection(file(name), options);
  const [db] = exec.mock.contexts as DatabaseSync[];
  const synchronous = (): unknown => db?.prepare("PRAGMA synchronous").get()?.["synchronous"];
  return { at, synchronous };
};

const fails = (): never => {
  throw new Error("no room");
};

it("syncs again after a transaction that did not, and after a failed one", () => {
  const { at, synchronous } = opened("full.db", {});
  expect(synchronous()).toBe(full);
  expect(at.unsynced(synchronous)).toBe(normal);
  expect(synchronous()).toBe(full);
  expect(() => at.unsynced(fails)).toThrow("no room");
  expect(synchronous()).toBe(full);
  expect(at.transact(synchronous)).toBe(full);
  at.close();
});

it("never syncs if it is told not to", () => {
  const { at, synchronous } = opened("normal.db", { synchronous: "normal" });
  expect(at.unsynced(synchronous)).toBe(normal);
  expect([synchronous(), at.transact(synchronous)]).toEqual([normal, normal]);
  at.close();
});
