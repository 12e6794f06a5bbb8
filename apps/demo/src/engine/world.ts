/**
 * The outside world of the demo's tools. It outlives every worker, counts the requests, and is idempotent: a second
 * request under the same key has no effect.
 */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";

export interface EffectRequest {
  readonly effect: string;
  readonly key: string;
  /** The worker that sent the request. */
  readonly worker: string;
  readonly at: number;
}

interface WorldSchema extends DBSchema {
  asked: { key: number; value: EffectRequest };
  done: { key: string; value: { readonly effect: string; readonly at: number } };
}

/** The number of requests for an effect, and the number of times that it happened. */
export interface EffectCount {
  readonly effect: string;
  readonly asked: number;
  readonly happened: number;
}

export class World {
  readonly #db: Promise<IDBPDatabase<WorldSchema>>;

  constructor(name: string) {
    this.#db = openDB<WorldSchema>(`pawl-demo-world-${name}`, 1, {
      upgrade: (db) => {
        db.createObjectStore("asked", { autoIncrement: true });
        db.createObjectStore("done");
      },
    });
  }

  /** Performs an effect after a delay. It cannot be undone. */
  async happen(effect: string, key: string, worker: string, ms: number): Promise<string> {
    const db = await this.#db;
    await db.add("asked", { effect, key, worker, at: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, ms));
    const change = db.transaction("done", "readwrite");
    if ((await change.store.get(key)) === undefined) await change.store.put({ effect, at: Date.now() }, key);
    await change.done;
    return `${effect}: done`;
  }

  async counts(): Promise<readonly EffectCount[]> {
    const db = await this.#db;
    const [asked, done] = await Promise.all([db.getAll("asked"), db.getAll("done")]);
    const names = [...new Set(asked.map(({ effect }) => effect))];
    return names.map((effect) => ({
      effect,
      asked: asked.filter((one) => one.effect === effect).length,
      happened: done.filter((one) => one.effect === effect).length,
    }));
  }

  async forget(): Promise<void> {
    const db = await this.#db;
    await Promise.all([db.clear("asked"), db.clear("done")]);
  }
}
