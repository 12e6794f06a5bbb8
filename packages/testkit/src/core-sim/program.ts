/**
 * Programs of bodies. A program is a function of its arguments, so that a body that runs again makes the same requests.
 */
import { type EffectKind, type EffectSpec, type StepRecovery, signalWaitKey } from "@pawl/sansio-core/driver";
import { type Json, isObject } from "@pawl/tool-value";
import { toolId, toolNames } from "./catalog.ts";
import { Dice } from "./random.ts";
import { anyAsking, appended, processId, processScopeId } from "./process.ts";

/** The program's number, its depth in nested batches, and the number of its restarts. */
export interface Args {
  readonly p: number;
  readonly depth: number;
  readonly anew: number;
}

const numberIn = (args: Json, name: string): number => {
  const value = isObject(args) ? args[name] : undefined;
  return typeof value === "number" ? value : 0;
};
export const argsOf = (args: Json): Args => ({
  p: numberIn(args, "p"),
  depth: numberIn(args, "depth"),
  anew: numberIn(args, "anew"),
});
export const writeArgs = ({ p, depth, anew }: Args): Json => ({ p, depth, anew });

export interface Instruction {
  readonly key: string;
  readonly hash: string;
  readonly effect: EffectSpec;
  /** The body continues only after the answer. */
  readonly isAwaited: boolean;
}

export type Ending = "done" | "pending" | "anew";

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly ending: Ending;
  /** The program makes another request when it runs again. */
  readonly isFickle: boolean;
}

/** Where a program runs: its scope and call, and the kind of process in this seed. */
export interface Place {
  readonly scope: string;
  readonly call: string;
  /** The life of the call, where its protocol has lives. */
  readonly life: number | undefined;
  readonly processKind: number;
}

const kinds: readonly EffectKind[] = [
  "step",
  "step",
  "step",
  "step",
  "sleep",
  "cleanup",
  "wait",
  "wait",
  "host",
  "trigger",
  "batch",
  "message",
  "message",
  "event",
  "select",
];

/** Wait keys that several calls share and that may be resolved early. */
export const sharedWaits: readonly string[] = ["w0", "w1", "w2", "w3"];

const waitOf = (dice: Dice, { scope, call, life }: Place, key: string): EffectSpec => {
  const isOfProcess = scope === processScopeId && dice.isUnder(60);
  const ordinal = 1 + dice.below(2);
  if (isOfProcess)
    return { kind: "wait", wait: signalWaitKey(processId, "go", ordinal), signal: { name: "go", ordinal } };
  const due = dice.isUnder(40) ? { deadline_ms: dice.pick([0, 50, 60_000]) } : {};
  if (dice.isUnder(40)) return { kind: "wait", wait: dice.pick(sharedWaits), ...due };
  const own = dice.pick(["life", "call"] as const);
  const of = own === "life" && life !== undefined && life > 1 ? `${call}:${life}` : call;
  return { kind: "wait", wait: `w:${of}:${key}`, ...due, ...(life === undefined ? {} : { own }) };
};

const children = (dice: Dice, { depth }: Args): EffectSpec => ({
  kind: "batch",
  calls: dice.list(3, (i) => ({
    id: `d${i}`,
    tool: toolId(dice.pick(toolNames)),
    args: writeArgs({ p: dice.below(100_000), depth: depth + 1, anew: 0 }),
  })),
});

/** A question to a person, which ends by itself where nobody decides. */
const question = (dice: Dice): EffectSpec => {
  const deadline_ms = dice.pick([0, 50, 60_000]);
  return { kind: "approval", title: "May it?", args: null, args_hash: "h", deadline_ms };
};

/** A step. Of two that may run again one streams, where its protocol has streams: under the name of its key. */
const stepOf = (recovery: StepRecovery, { p }: Args, { life }: Place, key: string): EffectSpec => {
  const step = { kind: "step", recovery, input: null } as const;
  if (life === undefined || recovery === "once" || p % 2 === 0) return step;
  return { ...step, stream: { name: key, ...(p % 3 === 0 ? { resumes: true } : {}) } };
};

const effectOf = (dice: Dice, args: Args, place: Place, key: string, earlier: readonly string[]): EffectSpec => {
  const kind = dice.pick(kinds);
  switch (kind) {
    case "approval":
      return question(dice);
    case "sleep":
      if (place.life !== undefined && dice.isUnder(30)) return question(dice);
      return { kind, ms: dice.pick([0, 1, 50, 1000, 60_000]) };
    case "cleanup":
      return { kind, deadline_ms: dice.pick([0, 1000]) };
    case "wait":
      return waitOf(dice, place, key);
    case "host":
      return { kind, name: "now", input: null };
    case "trigger":
      return { kind, input: { n: 1 } };
    case "batch":
      return args.depth < 2 ? children(dice, args) : { kind: "sleep", ms: 1 };
    case "message": {
      const message = anyAsking(dice, place.processKind, `w:${place.call}:${key}`);
      const holder = dice.isUnder(15) ? { holder: { session_id: "s" } } : {};
      return { kind, to: processScopeId, message, ...holder };
    }
    case "event": {
      if (place.scope !== processScopeId) return { kind: "step", recovery: "once", input: null };
      const { request, payload_hash } = appended("note", "e", "e");
      return { kind, ...request, replay_key: `${place.call}:${key}`, payload_hash };
    }
    case "select":
      return earlier.length === 0
        ? { kind: "sleep", ms: 5 }
        : { kind, mode: dice.pick(["race", "any", "all", "all_settled"]), keys: earlier };
    case "step":
      return stepOf(dice.pick(["again", "again", "idempotent", "once"]), args, place, key);
  }
};

const endings: readonly Ending[] = ["done", "done", "done", "done", "done", "done", "pending", "pending", "anew"];

export const programOf = (args: Args, place: Place): Program => {
  const dice = new Dice(Math.imul(args.p + 1, 0x9e37) ^ (args.depth << 20) ^ args.anew);
  const keys: string[] = [];
  const instructions = dice.list(5, (i): Instruction => {
    const key = `k${i}`;
    const earlier = keys.filter(() => dice.isUnder(60));
    const effect = effectOf(dice, args, place, key, earlier);
    if (effect.kind !== "cleanup") keys.push(key); // A cleanup may never be answered.
    return { key, hash: `h${args.p}`, effect, isAwaited: dice.isUnder(60) && effect.kind !== "cleanup" };
  });
  const ending = dice.pick(endings);
  return { instructions, ending: ending === "anew" && args.anew > 1 ? "done" : ending, isFickle: dice.isUnder(8) };
};
