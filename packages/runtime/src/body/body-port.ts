/** The contract between the runs of bodies and their scope: what a run asks for is recorded, in its order. */
import type { Ask, Event } from "@pawl/sansio-core";
import {
  type EffectResult,
  type Patches,
  type ProtocolRule,
  type StepError,
  firstTry,
  hasRule,
} from "@pawl/sansio-core/driver";
import { textOf } from "../error.ts";
import type { HostRequest } from "../host/host-request.ts";
import type { Platform } from "../platform.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import { isAwaiting, type Patience } from "./body-end.ts";
import type { Divergence } from "./divergence.ts";
import {
  type Request,
  type RequestQueue,
  type RunId,
  askAs,
  recordRequest,
  unknownOutcome,
  withPatches,
} from "./record.ts";

export interface BodyPort {
  /** The ends that wait for a change of their scope. */
  readonly ending: Set<{ readonly review: () => void }>;
  /** Asks for a turn, in which answers are delivered. */
  readonly schedule: () => void;
  /** Abandons the scope, whose interpreter has failed. */
  readonly fail: (thrown: unknown) => void;
  /** Returns true while this process owns the scope. */
  readonly mayAct: () => boolean;
  readonly ask: (run: RunId, request: Request) => Ask;
  /** `patched`: what the run was told by `ctx.patched` since its last event. */
  readonly record: (run: RunId, request: Request, patched: Patches | undefined) => void;
  readonly reuse: (run: RunId, request: Request, patched: Patches | undefined) => void;
  readonly settle: (run: RunId, key: string, result: EffectResult, tried: number) => void;
  /** Records that a try has failed, and that another follows. */
  readonly failed: (run: RunId, key: string, tried: number, error: StepError, retryInMs: number) => void;
  /** Records that the outcome of a step is unknown, behind the requests before it. */
  readonly unknown: (run: RunId, key: string) => void;
  /** Tells whether the end of the run's body waits for any of these requests, which have no answer. */
  readonly awaits: (run: RunId, requests: Iterable<{ readonly request: Request }>) => boolean;
  /** Returns how long it does; undefined where the protocol has bodies end at once. */
  readonly effectsMs: () => number | undefined;
  /** Cancels the wait under this key. */
  readonly leave: (run: RunId, key: string) => void;
  /** Records that all clean-ups after a cancel are done. */
  readonly cleanedUp: (run: RunId) => void;
  readonly diverge: (run: RunId, position: number, divergence: Divergence) => void;
  /** Returns true while a request of the run waits to be recorded, for anything but room in its link. */
  readonly isHeld: (run: RunId) => boolean;
  /** Returns true if a deadline of the scope has passed that no event says yet. */
  readonly isDue: () => boolean;
  /** Suspends the run if it only waits; returns whether it did. */
  readonly suspend: (run: RunId) => boolean;
  readonly platform: Platform;
  readonly patience: Patience;
}

interface PortScope {
  readonly runner: ScopeRunner;
  readonly requests: RequestQueue;
  readonly askHost: (request: HostRequest) => void;
  readonly suspend: (run: RunId) => boolean;
  /** Makes the event that says where a run diverged. */
  readonly diverged: (...of: Parameters<BodyPort["diverge"]>) => Promise<Event>;
}

/** Returns the port of all runs of a scope. */
export const bodyPort = (
  { platform, patience }: Pick<BodyPort, "platform" | "patience">,
  { runner, requests, askHost, suspend, diverged }: PortScope,
): BodyPort => {
  const has = (rule: ProtocolRule): boolean => hasRule(runner.state.scope.protocol, rule);
  const tell = (event: Event): void => void runner.apply(event);
  const fail = (thrown: unknown): void => runner.abandon(`a body cannot go on: ${textOf(thrown)}`);
  return {
    ending: new Set(),
    mayAct: () => runner.mayAct(),
    isHeld: ({ call }) => requests.has(call) && !(has("suspends_every_wait") && requests.linkOf(call) !== undefined),
    isDue: () => runner.isDue,
    ask: (id, request) => askAs(runner.state, id, request, askHost),
    record: (id, request, patched) => requests.ask(id.call, () => recordRequest(runner, id, request, patched)),
    leave: ({ call }, key) => tell({ type: "wait.cancelled", call, key }),
    reuse: ({ call, attempt }, { key, effect }, patched) => {
      const hasLosers = effect.kind === "select" && has("waits_for_effects");
      const keys = hasLosers ? { keys: effect.keys } : {};
      const reused = withPatches({ type: "effect.reused", call, attempt, key, ...keys } as const, patched);
      requests.ask(call, () => (tell(reused), "done"));
    },
    settle: ({ call, attempt, run }, key, result, tried) => {
      const settled = { type: "step.settled", call, attempt, run, key, result } as const;
      tell(tried === firstTry ? settled : { ...settled, try: tried });
    },
    failed: (id, key, tried, error, retry_in_ms) =>
      tell({ type: "step.failed", ...id, key, try: tried, error, retry_in_ms }),
    unknown: (id, key) => {
      const settle = () => (tell({ type: "step.settled", ...id, key, result: unknownOutcome }), "done" as const);
      return has("unknown_step_in_place") ? requests.ask(id.call, settle) : void settle();
    },
    awaits: ({ call }, asked) => isAwaiting(runner.state, call, asked),
    effectsMs: () => (has("waits_for_effects") ? runner.state.scope.options.effects_ms : undefined),
    diverge: (...of) =>
      void diverged(...of)
        .then(tell)
        .catch(fail),
    cleanedUp: (id) => tell({ type: "call.cleaned_up", ...id }),
    schedule: () => runner.schedule(),
    suspend,
    fail,
    platform,
    patience,
  };
};
