/** Scenarios, which users write: tools, the host's behaviour, and claims about effects. */
import type { CallOfRequest, HostPort, Replies, Runtime, RuntimeOptions, Session, ToolDefinition } from "@pawl/runtime";
import type { Happened } from "./ledger.ts";

export const claimOf = (effect: string, scenario: Scenario, claims: ReadonlyMap<string, Claim>): Claim =>
  scenario.claims?.[effect] ?? claims.get(effect) ?? "exactly_once";

const mayRepeat = (claim: Claim): boolean => claim === "at_least_once" || claim === "any";
export const mayMiss = (claim: Claim): boolean => claim === "at_most_once" || claim === "any";

/**
 * Tells how a count breaks its claim, compared with an undisturbed run. After an unknown outcome a body may leave out
 * the effects that depend on it, and may do other things once, such as looking up the outcome or asking a person.
 */
export const breach = (
  claim: Claim,
  count: number,
  usual: number,
  isUnknown: boolean,
): "lost" | "doubled" | undefined => {
  const most = isUnknown ? Math.max(usual, 1) : usual;
  if (count > most && !mayRepeat(claim)) return "doubled";
  return count < usual && !mayMiss(claim) && !isUnknown ? "lost" : undefined;
};

/** The world outside of a process, as its tools see it. */
export interface Outside {
  /** Causes an effect outside: money moves, a mail is sent. Under a key it happens only once. */
  readonly effect: (name: string, of?: EffectOf) => Promise<Happened>;
  /** Waits in virtual time. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export interface EffectOf {
  readonly key?: string;
  readonly detail?: unknown;
  /** Duration of the service's work. */
  readonly ms?: number;
}

/** The host application. It survives the processes that run tools, and asks again until it has an answer. */
export interface ScenarioHost {
  readonly request: (request: string, calls: readonly CallOfRequest[], session?: string) => Promise<Replies>;
  /** Does anything with a session, and its runtime, and repeats it if the process dies. */
  readonly within: <A>(act: (session: Session, runtime: Runtime) => Promise<A>, of?: ActOf) => Promise<A>;
  /** The same for acts that are refused when repeated: a refused repetition counts as done. */
  readonly once: (act: (session: Session, runtime: Runtime) => Promise<unknown>, of?: ActOf) => Promise<void>;
  /** Resolves with the n-th occurrence of an effect outside, counted from 1. */
  readonly happened: (effect: string, n?: number) => Promise<Happened>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Facts about an act before it is done. */
export interface ActOf {
  readonly session?: string;
  /** Its name in orders. */
  readonly as?: string;
  /** The request that it concerns, if it concerns only one. */
  readonly request?: string;
}

/** How often an effect may happen, compared with an undisturbed run. */
export type Claim = "exactly_once" | "at_least_once" | "at_most_once" | "any";

export interface Scenario {
  /** Makes the tools of one process. Their memory dies with it. */
  readonly tools: (outside: Outside) => readonly ToolDefinition[];
  readonly host: (host: ScenarioHost) => Promise<unknown>;
  /** Makes the tools that the host opens its sessions with, in place of those of the process. */
  readonly sessionTools?: (outside: Outside) => readonly ToolDefinition[];
  /** Makes what one process asks the models of its turns with; `scriptedModel` makes a model that counts what is paid. */
  readonly models?: (outside: Outside) => NonNullable<HostPort["models"]>;
  /** Claims of effects by name, if they differ from what steps and tools imply. */
  readonly claims?: { readonly [effect: string]: Claim };
  /** Internal errors are intended, and not reported as `failed`. */
  readonly mayFail?: boolean;
  /**
   * The first process keeps its scopes under protocol 1, and those after it upgrade them: at every moment of a death, and
   * in an exploration of orders between any two arrivals.
   */
  readonly upgrades?: boolean;
  /** Each process starts with `recover()`. */
  readonly recovers?: boolean;
  /** Further options of the runtime. With a `lease` of up to 10 s processes are also frozen beyond it. */
  readonly runtime?: Partial<
    Pick<RuntimeOptions, "host" | "options" | "patience" | "lease" | "pollMs" | "background" | "upgrade">
  >;
}

/** A host that makes these calls in one request. */
export const callsOf =
  (...calls: readonly CallOfRequest[]): Scenario["host"] =>
  (host) =>
    host.request("r1", calls);
