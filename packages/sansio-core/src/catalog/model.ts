/**
 * The catalog: which tools a scope has, and how each is scheduled, retried and recovered.
 *
 * It arrives as an event and is replaced as a whole; overrides outlive the replacement.
 *
 * Invariants
 *   K1  tool ids are unique, and so are names
 *   K2  an override names an availability, not a tool: it may wait for a tool to come
 */
import { hasRule } from "../kernel/protocol.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { Versions } from "../scope/model.ts";

export type Availability = "off" | "searchable" | "callable" | "showcased";
export type Scheduling = "parallel" | "serial";
export type Recovery = "rerunnable" | "owner_bound" | "externally_owned";
export type Policy = "auto" | "requires_approval" | "client_side";
export type DivergencePolicy = "park" | "release" | "fail";

interface RetryBounds {
  readonly max_attempts: number;
  readonly base_delay_ms: number;
  readonly max_delay_ms: number;
}
export type RetryPolicy =
  | { readonly type: "never" }
  | ({ readonly type: "safe" } & RetryBounds)
  | ({ readonly type: "idempotent" } & RetryBounds);

export interface Hints {
  readonly readonly: boolean;
  readonly idempotent: boolean;
}

/** The part of a tool's manifest that the core decides by. */
export interface Tool {
  readonly id: string;
  readonly name: string;
  readonly availability: Availability;
  readonly scheduling: Scheduling;
  readonly retry_policy: RetryPolicy;
  readonly policy: Policy;
  /** Every outside effect of the body is inside a durable effect. */
  readonly durable: boolean;
  readonly hints: Hints;
  readonly recovery?: Recovery;
  readonly divergence: DivergencePolicy;
  /** At the limit of crashes in a row the call fails, and is not parked. From protocol 2 on. */
  readonly on_crash_loop?: "fail";
  /** How long an approval may take; without it a call waits for ever. */
  readonly approval_ms?: number;
  /** Its preparation of a call may waive the approval that its policy requires. From protocol 2 on. */
  readonly waives_approval?: boolean;
  /** The queue in which its calls wait for a place before a body begins. From protocol 2 on. */
  readonly queue?: string;
  /** Arguments are checked (`checks`), and the tool prepares its calls (`prepares`). */
  readonly checks: boolean;
  readonly prepares: boolean;
}

/** A tool of this name, plain but for what is said of it. */
export const plainTool = (name: string, more: Partial<Tool> = {}): Tool => ({
  id: `tool:${name}`,
  name,
  availability: "showcased",
  scheduling: "parallel",
  retry_policy: { type: "never" },
  policy: "auto",
  durable: false,
  hints: { readonly: false, idempotent: false },
  divergence: "park",
  checks: false,
  prepares: false,
  ...more,
});

export interface CatalogRow {
  readonly byName: PersistentMap<string, Tool>;
  readonly byId: PersistentMap<string, Tool>;
  readonly overrides: PersistentMap<string, Availability>;
}

export type CatalogEvent =
  | {
      readonly type: "catalog.published";
      readonly tools: readonly Tool[];
      /** Versions of the code that runs them, in place of those that were said before. */
      readonly versions?: Versions;
    }
  | {
      readonly type: "catalog.overridden";
      readonly names: readonly string[];
      readonly availability: Availability | null;
    };

const ranks: { readonly [A in Availability]: number } = { off: 0, searchable: 1, callable: 2, showcased: 3 };

const isCallable = (tool: Tool, { overrides }: CatalogRow): boolean =>
  ranks[overrides.get(tool.name) ?? tool.availability] >= ranks.callable;

/** A tool that may be called, by its name. */
export const callableByName = (catalog: CatalogRow, name: string): Tool | undefined => {
  const tool = catalog.byName.get(name);
  return tool !== undefined && isCallable(tool, catalog) ? tool : undefined;
};

export const callableById = (catalog: CatalogRow, id: string): Tool | undefined => {
  const tool = catalog.byId.get(id);
  return tool !== undefined && isCallable(tool, catalog) ? tool : undefined;
};

/** Returns a tool as it is for a call whose preparation has waived the approval. */
export const waived = (tool: Tool): Tool => ({ ...tool, policy: "auto" });

/**
 * Returns the tool of a call that is launched, if its catalog still has it. A waiver holds where the tool of today waives
 * approvals too.
 */
export const launchable = (catalog: CatalogRow, prepared: Tool): Tool | undefined => {
  const now = callableById(catalog, prepared.id);
  const isWaived = prepared.waives_approval === true && prepared.policy === "auto";
  return now?.waives_approval === true && isWaived ? waived(now) : now;
};

/** Returns what a lost owner means for a running call; the first property that is set decides. */
export const recoveryOf = (tool: Tool): Recovery => {
  if (tool.recovery !== undefined) return tool.recovery;
  const isSafe =
    tool.durable || tool.hints.idempotent || tool.hints.readonly || tool.retry_policy.type === "idempotent";
  return isSafe ? "rerunnable" : "owner_bound";
};

/** Returns tools as a scope of this protocol has them: without what later protocols brought. */
export const toolsUnder = (protocol: number, tools: readonly Tool[]): readonly Tool[] => {
  if (hasRule(protocol, "crash_loops")) return tools;
  return tools.map((tool) => {
    const { on_crash_loop: _, waives_approval: __, queue: ___, ...rest } = tool;
    return Object.keys(rest).length === Object.keys(tool).length ? tool : rest;
  });
};

/** Its rows in a state. */
export interface CatalogRows {
  readonly catalog: CatalogRow;
}
