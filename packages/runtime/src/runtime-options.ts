/**
 * Options of a runtime, and their check. Options of the core are recorded in the log of every scope. An option
 * that could not be read back would keep the scope closed for ever, so all are checked before the runtime starts.
 */
import type { Bounds } from "./session/admission.ts";
import type { BackgroundOptions } from "./process/host.ts";
import type { Journal, Lease } from "./journal/journal.ts";
import type { Platform } from "./platform.ts";
import type { ToolDefinition } from "./tool/definition.ts";
import type { Registry } from "./tool/registry.ts";
import type { Roots } from "./scope/wait-token.ts";
import type { HostPort } from "./host/host.ts";
import type { Log, Telemetry } from "./log.ts";
import type { Patience } from "./body/body-end.ts";
import type { Linger } from "./lifecycle/eviction.ts";
import type { Mover } from "./move/mover.ts";
import type { SnapshotOptions } from "./scope/snapshots.ts";
import type { TurnPace } from "./turn/pace.ts";
import type { SweepSchedule } from "./journal/sweep.ts";
import { Options, defaultOptions, invalidOption } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { Refused, refusedOption, shownOf, wrongNumber } from "./error.ts";
import { describe, read } from "@pawl/tool-value";

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Camelled<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T as Camel<K & string>]: Camelled<T[K]> }
    : T;

/** The options of scopes in camelCase. The log has them with its own names: `effectsMs` is `effects_ms` there. */
export type ScopeOptions = Partial<Camelled<Options>>;

const storedName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelText = (text: string): string => text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const renamed = (given: unknown, rename: (name: string) => string): unknown =>
  typeof given !== "object" || given === null || Array.isArray(given)
    ? given
    : Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), renamed(value, rename)]));

/** Returns options under the names of the log. */
export const storedOptions = (given: ScopeOptions = {}): Partial<Options> =>
  renamed(given, storedName) as Partial<Options>;

/** Returns options of the log under the names that programs give. */
export const shownOptions = (stored: Options): ScopeOptions => renamed(stored, camelText) as ScopeOptions;

/** Times that hold where nothing else is said. */
export const defaults = {
  /** The lease of an executor. */
  executorLeaseMs: 30_000,
  /** How long bodies may take to reach a record while their host drains. */
  drainMs: 10_000,
  /** The interval of looking for messages from others, and the same where the store wakes its instances. */
  pollMs: 100,
  wokenPollMs: 5000,
};

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
  /** Limits and times of scopes, as they are recorded when one is opened. */
  readonly options?: ScopeOptions;
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
  pollMs ?? defaults[journal.listen === undefined ? "pollMs" : "wokenPollMs"];

/** Checks the options that are given. */
const admitNumbers = (at: string, of: object = {}): void => {
  for (const [name, found] of Object.entries(of))
    if (found !== undefined && !(typeof found === "number" && found >= 0)) throw wrongNumber(at + name, found);
};

const admitPositive = (name: string, found: unknown): void => {
  if (!(typeof found === "number" && found > 0)) throw wrongNumber(name, found, "above");
};

/** A century. Stores add the time of a lease to their clock and keep the sum, so it must have a bound. */
const mostLeaseMs = 100 * 365 * 24 * 60 * 60 * 1000;

const admitLease = (found: unknown): void => {
  admitPositive("lease.ttlMs", found);
  if (!Number.isInteger(found) || (found as number) > mostLeaseMs)
    throw refusedOption(`\`lease.ttlMs\`: expected a whole number up to ${mostLeaseMs}, found ${shownOf(found)}`);
};

const admitUpgrade = (found: unknown = "auto"): void => {
  if (found !== "auto" && found !== "never")
    throw refusedOption(`\`upgrade\`: expected "auto" or "never", found ${shownOf(found)}`);
};

const admitCore = (options: ScopeOptions): void => {
  const known = Object.keys(defaultOptions).map(camelText);
  const unknownKey = Object.keys(options).find((name) => !known.includes(name));
  if (unknownKey !== undefined)
    throw refusedOption(`\`options.${unknownKey}\` is no option: expected some of ${known.join(", ")}`);
  const all = read(Options, { ...defaultOptions, ...storedOptions(options) });
  if (E.isLeft(all)) throw refusedOption(`\`options\`: ${camelText(describe(all.left))}`);
  const invalid = invalidOption(all.right);
  if (invalid !== undefined) throw refusedOption(`\`options\`: ${camelText(invalid)}`);
};

/** Returns the same options if a runtime can be made of them; else throws what is wrong with one (`invalid_option`). */
export const admittedOptions = <A extends Partial<RuntimeOptions>>(options: A): A => {
  const { pollMs, executorLeaseMs, snapshotAfter, bounds, lease, sweep, retention } = options;
  const { patience, linger, blobChars, upgrade } = options;
  admitNumbers("", { executorLeaseMs, snapshotAfter });
  admitNumbers("bounds.", bounds);
  if (pollMs !== undefined) admitPositive("pollMs", pollMs);
  if (lease !== undefined) admitLease(lease?.ttlMs);
  if (sweep !== undefined) admitPositive("sweep.everyMs", sweep?.everyMs);
  if (retention !== undefined) admitNumbers("retention.", { olderThanMs: retention?.olderThanMs ?? null });
  admitCore(options.options ?? {});
  admitNumbers("", { blobChars });
  admitNumbers("patience.", patience);
  admitNumbers("linger.", linger);
  admitUpgrade(upgrade);
  return options;
};

/** Checks the id of a session or a process. */
export const admittedId = (what: "session" | "process", id: unknown): string => {
  if (typeof id === "string" && id.trim() !== "" && id.isWellFormed()) return id;
  const found = typeof id === "string" ? JSON.stringify(id) : typeof id;
  const wanted = "a text of whole characters that is not blank";
  throw new Refused("invalid_argument", `a ${what}'s id is expected to be ${wanted}, found ${found}`);
};
