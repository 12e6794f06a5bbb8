/** Many processes open a journal file that does not exist yet, often enough to collide. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";

const source = `
const { workerData, parentPort } = require("node:worker_threads");
import(workerData.module).then(({ Connection }) => {
  parentPort.postMessage("ready");
  parentPort.once("message", () => {
    new Connection(workerData.file).close();
    parentPort.postMessage("opened");
  });
});
`;

const said = (worker: Worker): Promise<string> =>
  new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));

it("can be opened by all of them at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-open-"));
  const module = new URL("../src/sqlite/connection.ts", import.meta.url).href;
  const data = (n: number) => ({ module, file: join(folder, `journal-${n}.db`) });
  try {
    for (let n = 0; n < 40; n++) {
      const workers = Array.from({ length: 6 }, () => new Worker(source, { eval: true, workerData: data(n) }));
      await Promise.all(workers.map(said));
      const opened = Promise.all(workers.map(said));
      for (const worker of workers) worker.postMessage("go", []);
      expect(await opened).toEqual(workers.map(() => "opened"));
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
