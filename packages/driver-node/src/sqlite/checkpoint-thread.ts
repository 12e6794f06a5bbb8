/** The thread of checkpoints: it copies pages from the log into the file, and nobody waits for it. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** What the thread is request, which is told of the file; it answers a pass that is over. */
export type CheckpointRequest = "pass" | "close";

const file = String(workerData);
if (!existsSync(file)) throw new Error(`${file} is not there: there is nothing to copy`); // SQLite would make one.
const db = new DatabaseSync(file, { timeout: 5000 });
const pass = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort?.on("message", (request: CheckpointRequest) => {
  if (request === "close") {
    db.close();
    return parentPort?.close();
  }
  pass.get();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  return parentPort?.postMessage("passed");
});
