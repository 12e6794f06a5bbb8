/** What a runtime is made of. */
import type { Bounds } from "./session/admission.ts";
import type { BackgroundOptions } from "./process/host.ts";
import type { Journal, Lease } from "./journal/journal.ts";
import type { Platform } from "./platform.ts";
import type { ToolDefinition } from "./tool/tool.ts";
import type { Registry } from "./tool/registry.ts";
import type { Roots } from "./scope/token.ts";
import type { HostPort } from "./host/host.ts";
import type { Log, Telemetry } from "./log.ts";
import type { Patience } from "./body/stop.ts";
import type { Linger } from "./lifecycle/idle-cache.ts";
import type { Mover } from "./move/mover.ts";
import type { SnapshotOptions } from "./scope/snapshots.ts";
import type { SweepSchedule } from "./journal/sweep.ts";
import type { Options } from "@pawl/sansio-core";

/** How long an executor may be away, unless the host says otherwise. */
export const executorLeaseMs = 30_000;

export interface RuntimeOptions extends SnapshotOptions {
  readonly journal: Journal;
  readonly platform: Platform;
  /** Its tools; a registry may change them while scopes are open. */
  readonly tools: readonly ToolDefinition[] | Registry;
  /** This driver instance, as it stands in the log. */
  readonly instance: string;
  /** How long others keep away from the instance's scopes after its last sign of life, and where they reach it. */
  readonly lease?: Lease;
  /** How often an instance with a lease looks for messages from scopes of others: every 100 ms, unless it is said here. */
  readonly pollMs?: number;
  readonly roots: Roots;
  readonly host?: HostPort;
  readonly options?: Partial<Options>;
  readonly patience?: Partial<Patience>;
  /** How long an executor may be away before what it runs is lost. */
  readonly executorLeaseMs?: number;
  /** How much it takes on at a time. */
  readonly bounds?: Partial<Bounds>;
  /** How long scopes at rest stay in memory, and how many. */
  readonly linger?: Partial<Linger>;
  /** What it logs goes there, with no values of calls. */
  readonly log?: Log;
  /** Who reads along all that is stepped. */
  readonly telemetry?: Telemetry;
  /** Values whose text is longer are put aside, where the journal keeps blobs: 65,536 characters, if it is not said. */
  readonly blobChars?: number;
  /** How often blobs that no log names any more are taken away; never, without it. */
  readonly sweep?: SweepSchedule;
  /** How background runs are run here. */
  readonly background?: Partial<BackgroundOptions>;
  /** Whom scopes move to, by address; throws where it knows nobody there. */
  readonly mover?: (to: string) => Mover;
}

/** How often an instance looks for mail from others, unless the host says otherwise. */
export const pollMs = 100;
