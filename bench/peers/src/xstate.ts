/**
 * A hand-written solution: an XState actor with one promise actor for each step, and a snapshot in SQLite after each.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { type AnyActorRef, type Snapshot, assign, createActor, fromPromise, setup } from "xstate";
import { type System, stepResult } from "./system.ts";
import { versionOf } from "./version.ts";

interface Given {
  readonly steps: number;
  readonly parks: boolean;
}
interface Context extends Given {
  readonly done: number;
  readonly results: readonly unknown[];
}

const machine = setup({
  types: {} as { readonly input: Given; readonly context: Context; readonly events: { readonly type: "GO" } },
  actors: { step: fromPromise(async ({ input }: { readonly input: number }) => stepResult(input)) },
  guards: {
    parks: ({ context }) => context.done >= context.steps && context.parks,
    ends: ({ context }) => context.done >= context.steps,
  },
}).createMachine({
  context: ({ input }) => ({ ...input, done: 0, results: [] }),
  initial: "next",
  states: {
    next: { always: [{ guard: "parks", target: "parked" }, { guard: "ends", target: "end" }, { target: "step" }] },
    step: {
      invoke: {
        src: "step",
        input: ({ context }) => context.done,
        onDone: {
          target: "next",
          actions: assign(({ context, event }) => ({
            done: context.done + 1,
            results: [...context.results, event.output],
          })),
        },
      },
    },
    parked: {
      on: { GO: { target: "step", actions: assign({ parks: false, steps: ({ context }) => context.steps + 1 }) } },
    },
    end: { type: "final" },
  },
});

export const xstate = async (folder: string): Promise<System> => {
  const db = new DatabaseSync(join(folder, "snapshots.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("CREATE TABLE snapshot (run TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID");
  const put = db.prepare("INSERT INTO snapshot VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET json = excluded.json");
  const look = db.prepare("SELECT json FROM snapshot WHERE run = ?");
  let runs = 0;

  /** Resolves when the run ends or waits. */
  const begin = (run: string, given: Given): Promise<AnyActorRef> =>
    new Promise((resolve, reject) => {
      const actor = createActor(machine, { input: given });
      let stored = -1;
      const store = (): void => void put.run(run, JSON.stringify(actor.getPersistedSnapshot()));
      actor.subscribe({
        next: ({ context, value }) => {
          if (context.done !== stored) store();
          stored = context.done;
          if (value === "parked") resolve(actor);
        },
        complete: () => {
          if (actor.getPersistedSnapshot().status !== "done") return; // It was stopped here, to be woken elsewhere.
          store();
          resolve(actor);
        },
        error: reject,
      });
      actor.start();
    });

  const wake = (run: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const { json } = look.get(run) as { readonly json: string };
      const actor = createActor(machine, {
        input: { steps: 0, parks: false },
        snapshot: JSON.parse(json) as Snapshot<unknown>,
      });
      actor.subscribe({ complete: resolve, error: reject });
      actor.start();
      actor.send({ type: "GO" });
    });

  /** Parked actors stay in memory: nothing else of XState would wake them. */
  const alive: AnyActorRef[] = [];
  const nameOfRun = (): string => `run-${(runs += 1)}`;
  return {
    version: versionOf("xstate"),
    durability: "SQLite, WAL, synchronous FULL: one snapshot, which replaces the one before, and one sync a step",
    run: async (steps) => void (await begin(nameOfRun(), { steps, parks: false })),
    resume: async (steps) => {
      const run = nameOfRun();
      const actor = await begin(run, { steps, parks: true });
      actor.stop();
      const start = performance.now();
      await wake(run);
      return performance.now() - start;
    },
    park: async (count) => {
      for (let i = 0; i < count; i++) alive.push(await begin(nameOfRun(), { steps: 1, parks: true }));
    },
    close: async () => {
      for (const actor of alive) actor.stop();
      db.close();
    },
  };
};
