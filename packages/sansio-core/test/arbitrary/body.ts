/** What a running body asks for, and what comes back. */
import type { CallIn } from "../../src/call/model.ts";
import { awaitedEffects } from "../../src/call/finish.ts";
import { type EffectSpec, type OpenEffect, firstTry } from "../../src/call/effect/effect.ts";
import { hasRule } from "../../src/kernel/protocol.ts";
import type { Event, State } from "../../src/kernel/vocabulary.ts";
import { outstanding } from "../../src/machine.ts";
import type { Dice } from "./dice.ts";
import { anyJson, anyMs, anyOutput, anyPending, anyResult, safeFailure } from "./value.ts";
import { anyAppend, anyAsking, peers } from "./wild-link.ts";
import { toolNames } from "./world.ts";

type Running = CallIn<"running">;

export const waitKeys = ["w0", "w1", "w2", "w3", "w4"] as const;

const anyQuestion = (dice: Dice): EffectSpec => {
  const deadline_ms = dice.maybe(40, () => anyMs(dice));
  const schema = dice.maybe(30, () => ({ type: "object" }));
  return {
    kind: "approval",
    title: "May it?",
    args: anyJson(dice),
    args_hash: "ha",
    ...(deadline_ms === undefined ? {} : { deadline_ms }),
    ...(schema === undefined ? {} : { schema }),
  };
};

/** A step; where its protocol has streams, one of two streams at times. */
const anyStep = (dice: Dice, hasStreams: boolean): EffectSpec => {
  const spec = {
    kind: "step",
    recovery: dice.pick(["again", "again", "idempotent", "once"] as const),
    input: anyJson(dice),
  } as const;
  if (!hasStreams || !dice.isUnder(40)) return spec;
  const resumes = dice.isUnder(50) ? { resumes: true } : {};
  return { ...spec, stream: { name: dice.pick(["a", "b/%"]), ...resumes } };
};

const anySpec = (dice: Dice, { body }: Running, hasLives: boolean): EffectSpec => {
  if (hasLives && dice.isUnder(8)) return anyQuestion(dice);
  switch (dice.below(11)) {
    case 0:
    case 1:
    case 8:
      return anyStep(dice, hasLives);
    case 2:
      return { kind: "sleep", ms: anyMs(dice) };
    case 3: {
      const deadline_ms = dice.maybe(40, () => anyMs(dice));
      const own = hasLives && dice.isUnder(50) ? { own: dice.pick(["life", "call"] as const) } : {};
      return { kind: "wait", wait: dice.pick(waitKeys), ...(deadline_ms === undefined ? {} : { deadline_ms }), ...own };
    }
    case 4:
      return { kind: "host", name: "now", input: null };
    case 5:
      return { kind: "trigger", input: anyJson(dice) };
    case 6: {
      const calls = dice.list(3, (i) => ({ id: `d${i}`, tool: `tool:${dice.pick(toolNames)}`, args: anyJson(dice) }));
      return { kind: "batch", calls };
    }
    case 9:
      return ofScope(dice);
    case 10:
      return { kind: "cleanup", deadline_ms: anyMs(dice) };
    default: {
      const awaitable = body.open.filter(({ kind }) => kind !== "cleanup"); // Nothing but a cancel ends a clean-up.
      const known = [...awaitable.map(({ key }) => key), ...body.settled.keys()];
      const keys = known.filter(() => dice.isUnder(60));
      return { kind: "select", mode: dice.pick(["race", "any", "all", "all_settled"]), keys };
    }
  }
};

/** Returns what a body asks of processes: its own, or another. */
const ofScope = (dice: Dice): EffectSpec => {
  switch (dice.below(4)) {
    case 0: {
      const { request, payload_hash } = anyAppend(dice);
      const { event_type, payload, replay } = request;
      return { kind: "event", event_type, payload, replay_key: replay?.key ?? "d", payload_hash };
    }
    case 1:
      return { kind: "wait", wait: dice.pick(waitKeys), signal: { name: "go", ordinal: 1 + dice.below(2) } };
    default: {
      const message = { to: dice.pick(peers), message: anyAsking(dice) };
      return { kind: "message", ...message, ...(dice.isUnder(30) ? { holder: { session_id: "s" } } : {}) };
    }
  }
};

const ofRun = ({ call, body: { attempt, run } }: Running) => ({ call: call.ref, attempt, run });

/** The version of the code that runs a body, where its protocol knows versions. */
export const inVersion = (dice: Dice, { scope }: State): { readonly version?: string } =>
  hasRule(scope.protocol, "parked_divergence") ? dice.pick([{}, { version: "v1" }, { version: "v2" }]) : {};

const asks = (dice: Dice, state: State, row: Running): Event => ({
  type: "effect.requested",
  ...ofRun(row),
  key: `k${dice.below(12)}`,
  hash: `h${dice.below(2)}`,
  effect: anySpec(dice, row, hasRule(state.scope.protocol, "lives")),
  ...(hasRule(state.scope.protocol, "patches") && dice.isUnder(10)
    ? { patched: { [dice.pick(["p", "q"])]: dice.isUnder(50) } }
    : {}),
  ...(dice.isUnder(6) ? { refused: { code: "call_id_conflict", message: "there is such a call already" } } : {}),
});

/** Mostly what its end would wait for, now and then nothing or something else. */
const left = (dice: Dice, state: State, { call, body }: Running): { readonly left?: readonly string[] } => {
  if (state.scope.protocol === 1 || dice.isUnder(10)) return {};
  const keys = [...awaitedEffects(state, call.ref), ...body.open.filter(() => dice.isUnder(5)).map(({ key }) => key)];
  return keys.length === 0 ? {} : { left: keys };
};

const settles = (dice: Dice, state: State, row: Running): Event => {
  const { ref } = row.call;
  const pending = {
    type: "pending",
    key: dice.isUnder(90) ? `done:${ref}` : dice.pick(waitKeys),
    pending: anyPending(dice),
  } as const;
  const output = dice.isUnder(45) ? safeFailure(dice) : anyOutput(dice);
  const result = dice.isUnder(20) ? pending : ({ type: "done", output } as const);
  return { type: "call.settled", ...ofRun(row), result, duration_ms: dice.below(100), ...left(dice, state, row) };
};

/** It is quiet, and its driver asks whether it may leave memory; or it has a message for a link that may be full. */
const rests = (dice: Dice, row: Running): Event => {
  const link = dice.maybe(25, () => dice.pick(peers));
  return { type: "call.suspended", ...ofRun(row), ...(link === undefined ? {} : { link }) };
};

/** It has ended, and is to run again when a wait of its is over. */
const parks = (dice: Dice, row: Running): Event | undefined => {
  const waits = row.body.open.filter(({ kind }) => kind === "wait");
  return waits.length === 0 ? undefined : { type: "call.suspended", ...ofRun(row), parked: dice.pick(waits).key };
};

/** Its report of itself: that it waits, begins anew, has gone astray, or can not be run here. */
const continues = (dice: Dice, state: State, row: Running): Event => {
  const continued = { type: "call.continued", ...ofRun(row), args: anyJson(dice), ...left(dice, state, row) } as const;
  if (!hasRule(state.scope.protocol, "lives")) return continued;
  const signals = dice.list(2, () => ({ name: dice.pick(["go", "stop"]), ordinal: 1 + dice.below(3) }));
  return { ...continued, args_hash: dice.pick(["ha", "hb"]), signals };
};

const reports = (dice: Dice, state: State, row: Running): Event => {
  const of = ofRun(row);
  switch (dice.below(7)) {
    case 0:
      return { type: "call.dispatched", ...of, owner: dice.pick(["worker:1", "executor:x"]), key: `done:${of.call}` };
    case 2:
      return parks(dice, row) ?? { type: "clock.ticked" };
    case 1:
    case 6:
      return rests(dice, row);
    case 3:
      return continues(dice, state, row);
    case 4:
      return { type: "call.diverged", ...of, position: 1, expected: "a", found: "b", ...inVersion(dice, state) };
    default:
      return { type: "call.executor_missing", ...of };
  }
};

/** The producer of a stream reports: chunks, or that it begins again. */
const streams = (dice: Dice, { call, body }: Running, name: string): Event | undefined => {
  const row = body.streams.find((stream) => stream.name === name);
  if (row === undefined) return undefined;
  const { chunks: from, attempts, resumes, last: after } = row;
  const of = { call: call.ref, stream: name, from, ...(after === undefined ? {} : { after }) };
  const keep = resumes ? { keep: attempts.at(-1)?.keep ?? 0 } : {};
  if (row.run !== body.run || dice.isUnder(15))
    return { type: "stream.reset", ...of, attempt: attempts.length + 1, ...keep };
  const last = dice.isUnder(20) ? { last: true } : {};
  return {
    type: "stream.recorded",
    ...of,
    attempt: attempts.length,
    chunks: dice.list(3, () => anyJson(dice)),
    ...last,
  };
};

/** A try of a step ends: one that ran, or that ran out of time before. */
const afterTry = (dice: Dice, state: State, row: Running, { key, try: now = firstTry }: OpenEffect): Event => {
  const of = ofRun(row);
  const number = dice.isUnder(85) ? now : 1 + dice.below(now);
  const isTriedAgain = state.scope.protocol > 1 && dice.isUnder(40);
  if (isTriedAgain) {
    const error = { code: "busy", message: "try again" };
    return { type: "step.failed", ...of, key, try: number, error, retry_in_ms: anyMs(dice) };
  }
  const tried = number === firstTry ? {} : { try: number };
  return { type: "step.settled", ...of, key, result: anyResult(dice), ...tried };
};

/** A person's word on what a body asks. */
export const decides = (dice: Dice, call: string, key: string): Event => ({
  type: "approval.decided",
  call: `${call}/${key}`,
  decision: dice.pick([
    { type: "approve" },
    { type: "approve_edited", args: { edited: true } },
    { type: "reject", reason: "not now" },
  ] as const),
  args_hash: dice.isUnder(90) ? "ha" : "stale",
  by: "p",
  ...(dice.isUnder(5) ? { sticky: "later" as const } : {}),
});

/** Returns what comes back for something that is open. */
const answers = (dice: Dice, state: State, row: Running): Event | undefined => {
  const { open } = row.body;
  if (open.length === 0) return undefined;
  const effect = dice.pick(open);
  const { kind, key, seq, hash, waiting } = effect;
  const of = ofRun(row);
  switch (kind) {
    case "step": {
      const said = effect.stream === undefined || dice.isUnder(40) ? undefined : streams(dice, row, effect.stream);
      return said ?? afterTry(dice, state, row, effect);
    }
    case "host":
    case "trigger": {
      if (waiting === undefined && dice.isUnder(40))
        return { type: "host.waiting", call: of.call, key, seq, name: "ask", input: anyJson(dice) };
      const named = state.scope.protocol === 1 ? {} : { seq, hash };
      const keeps =
        state.scope.protocol > 1 && dice.isUnder(30) ? { keeps: { key: dice.pick(["a", "b"]), value: 1 } } : {};
      return { type: "host.answered", call: of.call, key, result: anyResult(dice), ...named, ...keeps };
    }
    case "wait":
      return dice.isUnder(30) ? { type: "wait.cancelled", call: of.call, key } : undefined;
    case "batch":
      return repliesOf(state, of.call, key);
    case "approval":
      return decides(dice, of.call, key);
    default:
      return undefined;
  }
};

/** Returns what a driver records once a batch of a body has ended. */
export const repliesOf = (state: State, call: string, key: string): Event | undefined => {
  for (const command of outstanding(state)) {
    if (command.type !== "replies.record" || command.call !== call || command.key !== key) continue;
    const { replies, triggers } = command;
    return { type: "replies.recorded", call, key, replies, triggers };
  }
  return undefined;
};

const reuses = (dice: Dice, { call, body }: Running): Event | undefined => {
  const earlier = [...body.settled].filter(([, { attempt }]) => attempt < body.attempt);
  if (earlier.length === 0) return undefined;
  return { type: "effect.reused", call: call.ref, attempt: body.attempt, key: dice.pick(earlier)[0] };
};

export const ofRunning = (dice: Dice, state: State, row: Running): Event => {
  if (row.cancelled?.cleans && dice.isUnder(30)) return { type: "call.cleaned_up", ...ofRun(row) };
  const roll = dice.below(100);
  if (roll < 40) return answers(dice, state, row) ?? asks(dice, state, row);
  if (roll < 52) return reuses(dice, row) ?? asks(dice, state, row);
  if (roll < 76) return asks(dice, state, row);
  return roll < 89 ? settles(dice, state, row) : reports(dice, state, row);
};
