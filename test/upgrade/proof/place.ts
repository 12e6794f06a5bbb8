/** A place for a proof: a folder with a journal, and the world outside of the hosts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { OpenOptions } from "@pawl/driver-node";
import type { Order } from "./host.ts";
import { Life } from "./life.ts";
import { Service } from "./service.ts";

export interface Proof {
  readonly kills: number;
  readonly words: string;
  readonly wrong: readonly string[];
}

export interface Given {
  readonly seed: number;
  readonly kills: number;
  readonly options?: Partial<OpenOptions>;
}

/** A place for one proof: a folder with a journal, and a service. */
export class Place {
  readonly service: Service;
  readonly #folder: string;

  private constructor(service: Service, folder: string) {
    this.service = service;
    this.#folder = folder;
  }

  static async open(): Promise<Place> {
    return new Place(await Service.open(), mkdtempSync(join(tmpdir(), "pawl-proof-")));
  }

  start(of: Omit<Order, "file" | "url" | "version"> & { readonly version?: string }): Promise<Life> {
    return Life.start({ version: "1", ...of, file: join(this.#folder, "journal.db"), url: this.service.url });
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.#folder, { recursive: true });
  }
}

export const within = async <A>(prove: (place: Place) => Promise<A>): Promise<A> => {
  const place = await Place.open();
  try {
    return await prove(place);
  } finally {
    await place.close();
  }
};

/** Waits until something holds. Resolves with false where it does not in time. */
export const until = async (holds: () => boolean, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await wait(20)) if (holds()) return true;
  return holds();
};

export const statusOf = (outcome: unknown): unknown => (outcome as { readonly status?: unknown } | undefined)?.status;
