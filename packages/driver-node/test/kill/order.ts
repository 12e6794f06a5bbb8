/** Orders for a test process. */
import type { Bounds } from "@pawl/runtime";
import type { HostLimits } from "../../src/index.ts";
import type { Fate } from "./fate.ts";

export interface Order {
  readonly folder: string;
  readonly instance: string;
  readonly commits: "inline" | "thread";
  /** A database in place of the journal file in the folder, and the schema in it. */
  readonly postgres?: { readonly url: string; readonly schema: string };
  readonly fate?: Fate;
  /** Takes snapshots far more often than usual. */
  readonly snapshots?: boolean;
  /** Cuts logs up to the snapshot before the last. */
  readonly retention?: boolean;
  /** Delay of some steps before their effect. */
  readonly slowMs?: number;
  readonly leaseMs?: number;
  readonly limits?: Partial<HostLimits>;
  /** Bounds of its runtime. */
  readonly bounds?: Partial<Bounds>;
}

export const hostSecret = new Uint8Array(32).fill(9);
export const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
