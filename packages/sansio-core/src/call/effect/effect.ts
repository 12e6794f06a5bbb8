/**
 * An effect: something a body asks of `ctx`, remembered under a key so that a body that runs again is answered.
 *
 *   requested ─▶ open ─▶ settled (at once where it was refused)
 *                  └───▶ abandoned (its attempt or its call ended)
 *
 * Keys decide *which* record answers; the log decides *when*. A settled effect keeps key, hash, status and sequence;
 * its value is read from the log.
 *
 * Invariants
 *   E1  keys are unique among the open and settled effects of a call, attempt by attempt
 *   E2  a settled effect stands at no earlier place in the log than its request, and in no later attempt than the current;
 *       one that is reused was first answered before
 *   E3  an open sleep has a due time, and a wait or an approval may have one, as a step between two tries has; nothing
 *       else has
 *   E4  an open wait is a waiter of its wait, and the other way round
 *   E5  an open child batch is live, and names this effect as its parent; every child batch has one
 *   E6  an open select chooses from effects that are on record
 *   E7  an open clean-up has a time of its own, and nothing else has
 *   E8  an answer that a later attempt reuses keeps the event in which it first took its place
 *   E9  only a step has tries, which it counts from the second on; one that may run only once has no second
 *   E10 an open approval has its question, and nothing else has
 */
import type { Kept } from "../../about/model.ts";
import type { Json } from "@pawl/tool-value";
import type { Patches } from "../model.ts";
import type { SignalPlace } from "../life.ts";
import type { SessionScope } from "../../identity/scope.ts";
import type { Deadline } from "../../kernel/deadline.ts";
import type { Asking } from "../../message/message.ts";
import type { Reply } from "../../request/model.ts";
import type { StreamSpec } from "./stream.ts";

/** The fate of a step whose owner was lost while it ran. */
export type StepRecovery = "again" | "idempotent" | "once";
export type SelectMode = "race" | "any" | "all" | "all_settled";

export interface ChildCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
}

/** A question of a body to a person. */
export interface AskedApproval {
  readonly title: string;
  readonly args: Json;
  readonly args_hash: string;
  readonly schema?: Json;
}

/** The request of a body. */
export type EffectSpec =
  | {
      readonly kind: "step";
      readonly recovery: StepRecovery;
      readonly input: Json;
      /** Its chunks are a stream, while it works. */
      readonly stream?: StreamSpec;
    }
  | { readonly kind: "sleep"; readonly ms: number }
  /** Answered when the call is told to stop: then the body has so long to clean up, in each of its runs. */
  | { readonly kind: "cleanup"; readonly deadline_ms: number }
  | {
      readonly kind: "wait";
      readonly wait: string;
      readonly deadline_ms?: number;
      /** For a process that waits for a signal: its name and number. */
      readonly signal?: SignalPlace;
      /** The key is the life's own, or the call's, and leaves the state with it. Without: it is shared by a request. */
      readonly own?: "life" | "call";
    }
  | { readonly kind: "host"; readonly name: string; readonly input: Json }
  /** A host request whose answer is an occurrence, which the call's batch reports with its replies. */
  | { readonly kind: "trigger"; readonly input: Json }
  | { readonly kind: "batch"; readonly calls: readonly ChildCall[] }
  /** Something asked of a process: settled by its answer. `holder`: in whose name, where the body did not start it. */
  | { readonly kind: "message"; readonly to: string; readonly message: Asking; readonly holder?: SessionScope }
  /** An event in the log of the body's own process: settled at once. */
  | {
      readonly kind: "event";
      readonly event_type: string;
      readonly payload: Json;
      readonly replay_key: string;
      readonly payload_hash: string;
      readonly invalid?: string;
      readonly wake_target_scope?: SessionScope;
    }
  | { readonly kind: "select"; readonly mode: SelectMode; readonly keys: readonly string[] }
  /** A person's decision on these arguments, which is named by their hash. `schema`: for edited ones, as JSON Schema. */
  | ({ readonly kind: "approval"; readonly deadline_ms?: number } & AskedApproval);
export type EffectKind = EffectSpec["kind"];

/** In an order that is never changed: snapshots name places in it. */
export const effectKinds = [
  "step",
  "sleep",
  "wait",
  "host",
  "trigger",
  "batch",
  "select",
  "message",
  "event",
  "cleanup",
  "approval",
] as const satisfies readonly EffectKind[];

export interface OpenEffect {
  readonly key: string;
  readonly kind: EffectKind;
  readonly hash: string;
  /** The sequence of its request, and the run that made it. */
  readonly seq: number;
  readonly attempt: number;
  readonly run: number;
  /** For a step. */
  readonly recovery?: StepRecovery;
  /** For a step whose first try has failed: the try that runs, or that is due. */
  readonly try?: number;
  /** For a step that streams: the name of its stream. */
  readonly stream?: string;
  /** A select that had it to choose from was decided, and chose another. */
  readonly loser?: boolean;
  /** For a wait: its key. */
  readonly wait?: string;
  /** For a select: the effects that it chooses from. */
  readonly select?: { readonly mode: SelectMode; readonly keys: readonly string[] };
  readonly due?: Deadline;
  /** For a clean-up: how long it may take. */
  readonly cleanupMs?: number;
  /** For a request whose host asks a person: what it is asked again after an opening, while no body asks. */
  readonly waiting?: { readonly name: string; readonly input: Json };
  /** For an approval: the question. */
  readonly approval?: AskedApproval;
}

/** The number of a step's first try, which is not written. */
export const firstTry = 1;

export type EffectStatus = "ok" | "err";

export interface SettledEffect {
  readonly kind: EffectKind;
  readonly hash: string;
  readonly status: EffectStatus;
  /** The attempt in which it settled. */
  readonly attempt: number;
  readonly requested: number;
  /** Its place in the log: of several in one event the lower index comes first. */
  readonly settled: number;
  readonly index: number;
  /** The event in which an answer that was reused first took its place: the body's clock stands there. */
  readonly first: number | undefined;
  /** The event that holds the value. */
  readonly value: number;
  /** For a select: the key that won. */
  readonly winner: string | undefined;
  /** Set for a step that may run only once. */
  readonly once: boolean;
}

export interface StepError {
  readonly code: string;
  readonly message: string;
  /** The error that the step threw, in the form in which its driver keeps values. */
  readonly thrown?: Json;
}

/** How work of a body's outside ended: its value, or its error. */
export type EffectResult =
  | { readonly status: "ok"; readonly value: Json }
  | { readonly status: "err"; readonly error: StepError };

export type EffectEvent =
  | {
      readonly type: "effect.requested";
      readonly call: string;
      readonly attempt: number;
      readonly run: number;
      readonly key: string;
      /** The hash of the body's input. */
      readonly hash: string;
      readonly effect: EffectSpec;
      /** Cannot be carried out, and is answered with this error instead. */
      readonly refused?: StepError;
      /** The answers that the run was given by `ctx.patched` since its last event. */
      readonly patched?: Patches;
    }
  | {
      readonly type: "step.settled";
      readonly call: string;
      readonly attempt: number;
      readonly run: number;
      readonly key: string;
      readonly result: EffectResult;
      /** Left out by the first. */
      readonly try?: number;
    }
  /** A try has failed, and another follows after this time. */
  | {
      readonly type: "step.failed";
      readonly call: string;
      readonly attempt: number;
      readonly run: number;
      readonly key: string;
      readonly try: number;
      readonly error: StepError;
      readonly retry_in_ms: number;
    }
  | {
      readonly type: "host.answered";
      readonly call: string;
      readonly key: string;
      readonly result: EffectResult;
      /** The request that it is of: the event that made it, and the hash of its input. */
      readonly seq?: number;
      readonly hash?: string;
      /** A value of the scope that the request writes. */
      readonly keeps?: Kept;
    }
  /** The host asks a person, and may take its time. `seq`: the event of the request. */
  | {
      readonly type: "host.waiting";
      readonly call: string;
      readonly key: string;
      readonly seq: number;
      readonly name: string;
      readonly input: Json;
    }
  /** The value of a child batch: what its calls came to, in their order. */
  | {
      readonly type: "replies.recorded";
      readonly call: string;
      readonly key: string;
      readonly replies: readonly Reply[];
      readonly triggers: readonly Json[];
    }
  | {
      readonly type: "effect.reused";
      readonly call: string;
      readonly attempt: number;
      readonly key: string;
      /** For a select: what it chose from. What of it is open again is not waited for. */
      readonly keys?: readonly string[];
      readonly patched?: Patches;
    };

// Decides race, any, all and allSettled over the effects of a body, by their places in the log.

export interface Winner {
  readonly key: string;
  readonly status: EffectStatus;
}
type Settled = { readonly get: (key: string) => SettledEffect | undefined };
type Member = readonly [key: string, effect: SettledEffect];

const byPlace = ([, a]: Member, [, b]: Member): number => a.settled - b.settled || a.index - b.index;

const winner = (member: Member | undefined): Winner | undefined =>
  member === undefined ? undefined : { key: member[0], status: member[1].status };

/** Returns the effect that decides, or undefined while none does. */
export const decideSelect = (mode: SelectMode, keys: readonly string[], settled: Settled): Winner | undefined => {
  const done = keys
    .flatMap((key): Member[] => {
      const effect = settled.get(key);
      return effect === undefined ? [] : [[key, effect]];
    })
    .toSorted(byPlace);
  const isOver = done.length === keys.length;
  const first = (status: EffectStatus): Winner | undefined =>
    winner(done.find(([, effect]) => effect.status === status));
  switch (mode) {
    case "race":
      return winner(done[0]);
    case "any":
      return first("ok") ?? (isOver ? winner(done.at(-1)) : undefined);
    case "all":
      return first("err") ?? (isOver ? winner(done.at(-1)) : undefined);
    case "all_settled": {
      const last = isOver ? done.at(-1) : undefined;
      return last === undefined ? undefined : { key: last[0], status: "ok" };
    }
  }
};
