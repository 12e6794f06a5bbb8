/** What a runtime is made of. */
import type { BackgroundOptions } from "./background/host.ts";
import type { Journal, Lease } from "./journal.ts";
import type { Platform } from "./platform.ts";
import type { ToolDefinition } from "./tool.ts";
import type { Registry } from "./registry.ts";
import type { Roots } from "./token.ts";
import type { HostPort } from "./host-request.ts";
import type { Patience } from "./body.ts";
import type { Linger } from "./lingering.ts";
import type { Mover } from "./mover.ts";
import type { Options } from "@pawl/sansio-core";

export interface RuntimeOptions {
  readonly journal: Journal;
  readonly platform: Platform;
  /** Its tools; a registry may change them while scopes are open. */
  readonly tools: readonly ToolDefinition[] | Registry;
  /** This driver instance, as it stands in the log. */
  readonly instance: string;
  /** How long others keep away from the instance's scopes after its last sign of life, and where they reach it. */
  readonly lease?: Lease;
  readonly roots: Roots;
  readonly host?: HostPort;
  readonly options?: Partial<Options>;
  readonly patience?: Partial<Patience>;
  /** How long an executor may be away before what it runs is lost. */
  readonly executorLeaseMs?: number;
  /** How long scopes at rest stay in memory, and how many. */
  readonly linger?: Partial<Linger>;
  /** How background runs are run here. */
  readonly background?: Partial<BackgroundOptions>;
  /** Whom scopes move to, by address. */
  readonly mover?: (to: string) => Mover;
}
