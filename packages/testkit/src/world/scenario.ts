/** What a user writes down to have it explored: tools, and what the host does with them. */
import type { Reply, RequestedCall } from "@pawl/sansio-core";
import type { RuntimeOptions, Session, ToolDefinition } from "@pawl/runtime";
import type { Happened } from "./ledger.ts";

export const claimOf = (effect: string, scenario: Scenario, claims: ReadonlyMap<string, Claim>): Claim =>
  scenario.claims?.[effect] ?? claims.get(effect) ?? "exactly_once";

const mayRepeat = (claim: Claim): boolean => claim === "at_least_once" || claim === "any";
export const mayMiss = (claim: Claim): boolean => claim === "at_most_once" || claim === "any";

/**
 * How a count breaks its claim, beside how often the effect happens undisturbed. Where an outcome is unknown a body may
 * leave out what hangs on it, and do once what it does in no other case: look what became of it, tell a person.
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
  /** Something happens outside: money moves, a mail goes out. Under a key it happens once, however often it is asked for. */
  readonly effect: (name: string, of?: EffectOf) => Promise<Happened>;
  /** Virtual time passes. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
}

export interface EffectOf {
  readonly key?: string;
  readonly detail?: unknown;
  /** How long the service takes. */
  readonly ms?: number;
}

/** The host application: it outlives the process that runs the tools, and asks again until it has an answer. */
export interface ScenarioHost {
  readonly call: (request: string, calls: readonly RequestedCall[], session?: string) => Promise<readonly Reply[]>;
  /** Anything else that a host does with a session. It is done again when the process died of it. */
  readonly within: <A>(act: (session: Session) => Promise<A>, of?: ActOf) => Promise<A>;
  /** The same, where what is done already is refused: a repetition that is refused counts as done. */
  readonly once: (act: (session: Session) => Promise<unknown>, of?: ActOf) => Promise<void>;
  /** Waits until an effect of this name has happened outside, and gives the n-th, from 1 on. */
  readonly happened: (effect: string, n?: number) => Promise<Happened>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What is known of an act before it is done. */
export interface ActOf {
  readonly session?: string;
  /** What it is called where orders are told. */
  readonly as?: string;
  /** The request that it is about, if it is about no other. */
  readonly request?: string;
}

/** How often an effect may happen, beside an undisturbed run. */
export type Claim = "exactly_once" | "at_least_once" | "at_most_once" | "any";

export interface Scenario {
  /** Made anew for each process: what they remember dies with it. */
  readonly tools: (outside: Outside) => readonly ToolDefinition[];
  readonly host: (host: ScenarioHost) => Promise<unknown>;
  /** What is claimed of effects by their names, where it is not what their steps and tools say. */
  readonly claims?: { readonly [effect: string]: Claim };
  /** Calls are meant to end in internal errors, and are not told as `failed`. */
  readonly mayFail?: boolean;
  /** Each process begins by looking for what nobody looks after. */
  readonly recovers?: boolean;
  /** What the runtime is given besides. With a `lease` of up to 10 s processes also stand still beyond it, and wake. */
  readonly runtime?: Partial<Pick<RuntimeOptions, "host" | "options" | "patience" | "lease" | "pollMs" | "background">>;
}

/** A scenario as plain as they come: these calls, in one request. */
export const callsOf =
  (...calls: readonly RequestedCall[]): Scenario["host"] =>
  (host) =>
    host.call("r1", calls);
