/** DBOS on its own PostgreSQL with default settings (fsync and synchronous_commit on). */
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { postgres } from "./postgres.ts";
import { type System, pause, stepResult } from "./system.ts";
import { versionOf } from "./version.ts";

const stepsIn = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await DBOS.runStep(async () => stepResult(i), { name: `step-${i}` });
};

/** Observations of a program that runs again. */
const life: { hangs: boolean; began: number; atEnd: (ms: number) => void } = {
  hangs: false,
  began: 0,
  atEnd: () => undefined,
};

interface Executor {
  readonly systemDatabase: { readonly runningWorkflowMap?: Map<string, unknown> };
  readonly recoverPendingWorkflows: (executors: readonly string[]) => Promise<readonly unknown[]>;
}

/** DBOS has no public function for this: a restarted process recovers by itself. */
const executor = async (): Promise<Executor> => {
  const file = join(import.meta.dirname, "../node_modules/@dbos-inc/dbos-sdk/dist/src/dbos-executor.js");
  const { DBOSExecutor } = (await import(file)) as { readonly DBOSExecutor: { readonly globalInstance: Executor } };
  return DBOSExecutor.globalInstance;
};

export const dbos = async (folder: string): Promise<System> => {
  const database = await postgres(folder);
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: `postgresql://postgres@127.0.0.1:${database.port}/bench`,
    logLevel: "error",
    applicationVersion: "1",
    executorID: "bench",
  });
  const work = DBOS.registerWorkflow(stepsIn, { name: "work" });
  const parks = DBOS.registerWorkflow(
    async (steps: number) => {
      await stepsIn(steps);
      await DBOS.recv("go", 24 * 3600);
    },
    { name: "parks" },
  );
  const lives = DBOS.registerWorkflow(
    async (steps: number) => {
      const began = performance.now();
      await stepsIn(steps);
      life.atEnd(performance.now() - began);
      if (life.hangs) await new Promise(() => undefined);
    },
    { name: "lives" },
  );
  await DBOS.launch();
  return {
    version: `${versionOf("@dbos-inc/dbos-sdk")}, PostgreSQL ${database.version}`,
    durability: "PostgreSQL, fsync and synchronous_commit on: 1.0 syncs a step",
    run: async (steps) => void (await work(steps)),
    /**
     * Runs the program again from its first line to the end of its records. DBOS's own delay of up to a second is left
     * out.
     */
    resume: async (steps) => {
      const ended = (): Promise<number> => new Promise((resolve) => void (life.atEnd = resolve));
      life.hangs = true;
      const first = ended();
      const { workflowID } = await DBOS.startWorkflow(lives)(steps);
      await first;
      life.hangs = false;
      const { systemDatabase, recoverPendingWorkflows } = await executor().then((found) => ({
        systemDatabase: found.systemDatabase,
        recoverPendingWorkflows: () => found.recoverPendingWorkflows(["bench"]),
      }));
      systemDatabase.runningWorkflowMap?.delete(workflowID);
      const again = ended();
      await recoverPendingWorkflows();
      return again;
    },
    park: async (count) => {
      let left = count;
      const lane = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await DBOS.startWorkflow(parks)(1);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
      await pause(8000);
    },
    get pids() {
      return database.pids();
    },
    close: async () => {
      await Promise.race([DBOS.shutdown(), pause(5000)]);
      await database.stop();
    },
  };
};

const atOnce = 32;
