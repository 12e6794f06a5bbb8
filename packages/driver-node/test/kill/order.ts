/** What a process of the tests is told to be. */
import type { Bounds } from "@pawl/runtime";
import type { HostLimits } from "../../src/index.ts";
import type { Fate } from "./fate.ts";

export interface Order {
  readonly folder: string;
  readonly instance: string;
  readonly commits: "inline" | "thread";
  readonly fate?: Fate;
  /** Snapshots far more often than usual. */
  readonly snapshots?: boolean;
  /** And logs that are cut up to the one before the last. */
  readonly retention?: boolean;
  /** How long some steps take before they do what they do. */
  readonly slowMs?: number;
  readonly leaseMs?: number;
  readonly limits?: Partial<HostLimits>;
  /** How much its runtime takes on at a time. */
  readonly bounds?: Partial<Bounds>;
}

export const hostSecret = new Uint8Array(32).fill(9);
export const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
