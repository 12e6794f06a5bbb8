/** The checkpoint thread: copies pages from the write-ahead log to the database while commits go on. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { endThread } from "./worker-thread.ts";

/** Requests to the thread. It answers each pass when it is done. */
export type CheckpointRequest = "pass" | "close";

const file = String(workerData);
if (!existsSync(file)) throw new Error(`${file} does not exist`); // SQLite would create an empty one.
const db = new DatabaseSync(file, { timeout: 5000 });
const pass = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (request: CheckpointRequest) => {
  if (request === "close") {
    db.close();
    return endThread(parentPort);
  }
  pass.get();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  return parentPort?.postMessage("passed");
});
