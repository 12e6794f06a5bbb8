/** Options of a runtime. */
import type { Bounds } from "./session/admission.ts";
import type { BackgroundOptions } from "./process/host.ts";
import type { Journal, Lease } from "./journal/journal.ts";
import type { Platform } from "./platform.ts";
import type { ToolDefinition } from "./tool/definition.ts";
import type { Registry } from "./tool/registry.ts";
import type { Roots } from "./scope/wait-token.ts";
import type { HostPort } from "./host/host.ts";
import type { Log, Telemetry } from "./log.ts";
import type { Patience } from "./body/rest.ts";
import type { Linger } from "./lifecycle/eviction.ts";
import type { Mover } from "./move/mover.ts";
import type { SnapshotOptions } from "./scope/snapshots.ts";
import type { TurnPace } from "./turn/pace.ts";
import type { SweepSchedule } from "./journal/sweep.ts";
import type { Options } from "@pawl/sansio-core";

/** Default lease of an executor. */
export const executorLeaseMs = 30_000;
/** How long bodies may take to reach a record while their host drains. */
export const drainMs = 10_000;

export interface RuntimeOptions extends SnapshotOptions {
  readonly journal: Journal;
  readonly platform: Platform;
  /** Its tools. A registry may change them while scopes are open. */
  readonly tools: readonly ToolDefinition[] | Registry;
  /**
   * The version of the host's code, for tools that say none of their own. A call that one version cannot go on with waits
   * for another. Without it each start counts as another version.
   */
  readonly codeVersion?: string;
  /** This driver instance, as it stands in the log. */
  readonly instance: string;
  /**
   * Time for which others keep away from the instance's scopes after its last sign of life, and where they reach it.
   */
  readonly lease?: Lease;
  /**
   * Interval at which an instance with a lease looks for messages from scopes of others: 100 ms by default, and 5,000 where the store
   * wakes it.
   */
  readonly pollMs?: number;
  readonly roots: Roots;
  readonly host?: HostPort;
  readonly options?: Partial<Options>;
  readonly patience?: Partial<Patience>;
  /** Time an executor may be away before what it runs is lost. */
  readonly executorLeaseMs?: number;
  /** Bounds of what it admits at a time. */
  readonly bounds?: Partial<Bounds>;
  /** Bounds of how long scopes at rest stay in memory, and how many. */
  readonly linger?: Partial<Linger>;
  /** Receives log entries, without values of calls. */
  readonly log?: Log;
  /** Receives every event that is stepped, for traces and metrics. */
  readonly telemetry?: Telemetry;
  /** Characters above which a value is stored apart from the log, where the journal keeps blobs: 65,536 by default. */
  readonly blobChars?: number;
  /** Schedule for removing blobs that no log names any more; without it they stay. */
  readonly sweep?: SweepSchedule;
  /** How models are asked: checkpoints of their answers, patience with them, and how many are asked at once. */
  readonly turns?: Partial<TurnPace>;
  /** Options of background runs. */
  readonly background?: Partial<BackgroundOptions>;
  /**
   * Lets scopes go on to a newer protocol. `auto` (default): a scope is upgraded when it is opened next, and a new one begins
   * under the newest. `never`: scopes keep their protocol, and new ones are of protocol 1, which every release can read.
   */
  readonly upgrade?: "auto" | "never";
  /** Returns the peer at an address that scopes move to; throws where it knows nobody there. */
  readonly mover?: (to: string) => Mover;
}

/** Returns the interval of looking for what others did: longer where the store wakes its instances. */
export const pollMsOf = ({ journal, pollMs }: Pick<RuntimeOptions, "journal" | "pollMs">): number =>
  pollMs ?? (journal.listen === undefined ? 100 : 5000);
