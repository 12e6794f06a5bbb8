/** A simulated tool body: runs a program, asks the core for advice on each request, and follows it. */
import { type CallRef, type EventOf, type State, ask } from "@pawl/sansio-core";
import { type BodyState, awaitedEffects, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import { type Json, successOutput } from "@pawl/tool-value";
import { type Args, type Instruction, type Program, argsOf, programOf, writeArgs } from "./program.ts";
import type { SimScope } from "./scope.ts";
import type { Environment } from "./environment.ts";
import { anyOutput, anyPending, cancelled } from "./random.ts";
import { anyPatches, isOff, versionOf } from "./version.ts";

type OpenEffect = BodyState["open"][number];

export interface RunOf {
  readonly call: CallRef;
  readonly attempt: number;
  readonly run: number;
}

/** Returns the life of a call, where the protocol of its scope has lives. */
export const lifeIn = ({ scope, calls }: State, call: CallRef): number | undefined => {
  const row = calls.at(call);
  return hasRule(scope.protocol, "lives") ? (row && bodyOf(row))?.life.number : undefined;
};

export class Body {
  readonly of: RunOf;
  readonly args: Args;
  readonly program: Program;
  readonly answered = new Set<string>();
  at = 0;
  waitsFor: string | undefined;
  isCancelled = false;
  /** The links at the time when one of them was full. The body retries once they have changed. */
  blockedBy: State["links"] | undefined;

  constructor({ id: scope, state }: SimScope, world: Environment, { call, attempt, run }: RunOf, args: Json) {
    this.of = { call, attempt, run };
    this.args = argsOf(args);
    this.program = programOf(this.args, { scope, call, life: lifeIn(state, call), processKind: world.processKind });
  }

  get isWaiting(): boolean {
    return this.waitsFor !== undefined && !this.answered.has(this.waitsFor) && !this.isCancelled;
  }

  /** Advances the program after a request; the body waits if the request is awaited. */
  went(on: Instruction, isAnswered = false): true {
    this.at += 1;
    if (isAnswered) this.answered.add(on.key);
    this.waitsFor = on.isAwaited ? on.key : undefined;
    return true;
  }
}

const openIn = (scope: SimScope, { call }: RunOf, key: string): OpenEffect | undefined => {
  const row = scope.state.calls.at(call);
  return row === undefined ? undefined : bodyOf(row)?.open.find((open) => open.key === key);
};

/** Drops a body. A cancelled one may still settle late. */
const leave = (scope: SimScope, world: Environment, body: Body): true => {
  scope.bodies.delete(body.of.call);
  if (body.isCancelled && !world.isCalm)
    scope.offer({ type: "call.settled_late", ...body.of, output: anyOutput(world.dice), duration_ms: 1 });
  return true;
};

type Ended = EventOf<"call.settled" | "call.continued">;

const resultOf = ({ state }: SimScope, world: Environment, { of, program, isCancelled }: Body): Ended => {
  const { dice } = world;
  const settled = { type: "call.settled", ...of, duration_ms: dice.below(100), ...anyPatches(dice, state) } as const;
  if (isCancelled) return { ...settled, result: { type: "done", output: cancelled } };
  if (program.ending === "pending")
    return { ...settled, result: { type: "pending", key: `done:${of.call}`, pending: anyPending(dice) } };
  const output = world.isCalm ? successOutput("done") : anyOutput(dice);
  return { ...settled, result: { type: "done", output } };
};

const continued = ({ state }: SimScope, of: RunOf, args: Json): Ended => {
  const said = lifeIn(state, of.call) === undefined ? {} : { args_hash: `anew ${of.run}`, signals: [] };
  return { type: "call.continued", ...of, args, ...said };
};

/** The effects that a body's end waits for. Now and then it loses its patience, and names what it leaves. */
const leftOf = ({ state }: SimScope, { dice }: Environment, body: Body): readonly string[] | "waits" => {
  if (!hasRule(state.scope.protocol, "waits_for_effects") || body.isCancelled) return [];
  const awaited = awaitedEffects(state, body.of.call);
  return awaited.length === 0 || dice.isUnder(5) ? awaited : "waits";
};

const end = (scope: SimScope, world: Environment, body: Body): boolean => {
  const left = leftOf(scope, world, body);
  if (left === "waits") return false;
  scope.bodies.delete(body.of.call);
  const { args, of } = body;
  const isAnew = body.program.ending === "anew" && !body.isCancelled;
  const ended: Ended = isAnew
    ? continued(scope, of, writeArgs({ ...args, anew: args.anew + 1 }))
    : resultOf(scope, world, body);
  scope.offer(left.length === 0 ? ended : { ...ended, left });
  return true;
};

const request = (scope: SimScope, world: Environment, body: Body, { key, hash, effect }: Instruction): boolean => {
  const patched = anyPatches(world.dice, scope.state);
  const refused = scope.offer({ type: "effect.requested", ...body.of, key, hash, effect, ...patched });
  if (refused === undefined) return true;
  if (refused.code === "link_full") body.blockedBy = scope.state.links;
  else leave(scope, world, body);
  return false;
};

/** Runs a step again whose outcome in an earlier run is unknown. */
const rerun = (scope: SimScope, body: Body, key: string): void => {
  const open = openIn(scope, body.of, key);
  const tried = open?.try === undefined ? {} : { try: open.try };
  const { recovery = "again" } = open ?? {};
  const command = { type: "step.run", ...body.of, key, recovery, ...tried } as const;
  if (recovery === "idempotent") scope.todo.push(command);
  else scope.hold(command);
};

/** Asks the host again, under the same key, for what an earlier run asked. */
const askAgain = (scope: SimScope, { of }: Body, { key, effect }: Instruction): void => {
  if (openIn(scope, of, key)?.run === of.run) return;
  const { kind } = effect;
  if (kind === "host") scope.hold({ type: "host.request", ...of, key, name: effect.name, input: effect.input });
  if (kind === "trigger") scope.hold({ type: "host.request", ...of, key, name: "trigger.emit", input: effect.input });
};

const unknown = { code: "step_outcome_unknown", message: "its owner was lost while it ran" };

const reuse = (scope: SimScope, { dice }: Environment, { of: { call, attempt } }: Body, key: string): boolean =>
  scope.offer({ type: "effect.reused", call, attempt, key, ...anyPatches(dice, scope.state) }) === undefined;

type Diverged = Extract<ReturnType<typeof ask>, { readonly type: "diverged" }>;

const divergence = (
  { state }: SimScope,
  { of, at }: Body,
  { expected, found }: Diverged,
  version: string | undefined,
): EventOf<"call.diverged"> => {
  const event = { type: "call.diverged", ...of, position: at, expected, found } as const;
  if (!hasRule(state.scope.protocol, "parked_divergence")) return event;
  const asked = { key: "k0", kind: "step", hash: "h" } as const;
  return { ...event, differs: { expected: asked, found: asked }, ...(version === undefined ? {} : { version }) };
};

/** Follows the core's advice on a request. Returns false if the body has to retry later. */
const obey = (scope: SimScope, world: Environment, body: Body, next: Instruction): boolean => {
  const { program, of } = body;
  const version = versionOf(scope.state, of.call);
  const isOther = isOff(program, of, version) && next === program.instructions[0];
  const asked = isOther ? { ...next, hash: `${next.hash}?` } : next;
  const { key, hash, effect } = asked;
  const advice = ask(scope.state, { ...of, key, kind: effect.kind, hash });
  switch (advice.type) {
    case "record":
      return request(scope, world, body, asked) && body.went(next);
    case "answer":
      return body.went(next, true);
    case "reuse":
      return reuse(scope, world, body, key) && body.went(next);
    case "join":
      askAgain(scope, body, asked);
      return body.went(next);
    case "run":
      rerun(scope, body, key);
      return body.went(next);
    case "unknown":
      scope.offer({ type: "step.settled", ...of, key, result: { status: "err", error: unknown } });
      return body.went(next);
    case "diverged":
      scope.bodies.delete(of.call);
      scope.offer(divergence(scope, body, advice, version));
      return true;
    case "ended":
      return leave(scope, world, body);
  }
};

/** Lets a body do its next action. Returns false if it has none. */
export const speak = (scope: SimScope, world: Environment, body: Body): boolean => {
  const row = scope.state.calls.at(body.of.call);
  if (row?.phase !== "running" || row.body.attempt !== body.of.attempt || row.body.run !== body.of.run)
    return leave(scope, world, body);
  if (body.blockedBy === scope.state.links && !world.isCalm) return restForRoom(scope, world, body);
  if (row.cancelled?.cleans && (body.isWaiting || world.dice.isUnder(40)))
    return scope.offer({ type: "call.cleaned_up", ...body.of }) === undefined;
  if (body.isWaiting) return rest(scope, world, body);
  const next = body.program.instructions[body.at];
  const isOver = next === undefined || (body.isCancelled && world.dice.isUnder(60));
  return isOver ? end(scope, world, body) : obey(scope, world, body, next);
};

/** Lets a waiting body suspend, or cancel its wait. The core decides whether it waits for nothing but records. */
const rest = (scope: SimScope, { dice, isCalm }: Environment, body: Body): boolean => {
  if (isCalm || !dice.isUnder(12)) return false;
  return dice.isUnder(10) ? cancelWait(scope, body) : suspend(scope, body, {});
};

const suspend = (scope: SimScope, body: Body, waiting: { readonly link?: string }): boolean => {
  if (scope.offer({ type: "call.suspended", ...body.of, ...waiting }) !== undefined) return false;
  scope.bodies.delete(body.of.call);
  return true;
};

/** Lets a body suspend whose next message finds its link full. */
const restForRoom = (scope: SimScope, { dice, isCalm }: Environment, body: Body): boolean => {
  const next = body.program.instructions[body.at]?.effect;
  const isAsked = next?.kind === "message" && !isCalm && dice.isUnder(30);
  return isAsked && scope.state.scope.protocol >= 2 && suspend(scope, body, { link: next.to });
};

const cancelWait = (scope: SimScope, { of, waitsFor }: Body): boolean => {
  const row = scope.state.calls.at(of.call);
  const open = row?.phase === "running" ? row.body.open : [];
  const isWait = open.some(({ key, kind }) => key === waitsFor && kind === "wait");
  return isWait && scope.offer({ type: "wait.cancelled", call: of.call, key: waitsFor ?? "" }) === undefined;
};
