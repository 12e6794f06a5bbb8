/** Performs commands as a driver and its environment would. */
import type { Command, CommandOf, Event } from "@pawl/sansio-core";
import {
  ackOf,
  answerOf,
  bodyOf,
  finishedLink,
  firstTry,
  hasRule,
  isExecutor,
  saidProtocol,
  takenBy,
  versionIn,
  wakeKey,
} from "@pawl/sansio-core/driver";
import { Body } from "./body.ts";
import { anyTools } from "./catalog.ts";
import { answerToBackgroundWork } from "./background.ts";
import { speakAsModel } from "./model.ts";
import { answerToTurn } from "./turn.ts";
import { engineEnd, note } from "./process.ts";
import type { Act, SimScope } from "./scope.ts";
import type { Packet, Environment } from "./environment.ts";
import { anyHook, anyJson, anyOutput, anyResult } from "./random.ts";

const mayWaive = ({ state }: SimScope, call: string): boolean => {
  const row = state.calls.at(call);
  return row?.phase === "preparing" && row.manifest.waives_approval === true;
};

const prepared = (
  scope: SimScope,
  { dice }: Environment,
  { call, tool_id, args }: CommandOf<"tool.prepare">,
): Event => ({
  type: "call.prepared",
  call,
  preparation: dice.isUnder(85)
    ? {
        type: "prepared",
        tool_id,
        args,
        args_hash: "ha",
        payload: anyJson(dice),
        ...(mayWaive(scope, call) && dice.isUnder(50) ? { approval: "waived" } : {}),
      }
    : { type: "finished", output: anyOutput(dice) },
});

const checked = ({ dice }: Environment, call: string): Event => ({
  type: "args.checked",
  call,
  args_hash: "ha",
  verdict: dice.isUnder(85)
    ? { verdict: "valid" }
    : dice.pick([{ verdict: "invalid", message: "$.a: wanted" }, { verdict: "no_contract" }]),
});

const resolved = ({ dice, isCalm }: Environment, call: string): Event => ({
  type: "outcome.resolved",
  call,
  resolved: isCalm
    ? { type: "give_up" }
    : dice.pick([
        { type: "run_again" },
        { type: "run_again" },
        { type: "verified", output: anyOutput(dice) },
        { type: "give_up" },
      ]),
});

/** Answers a request of a body, or says that a person is asked, who answers later. */
const hostAnswer = ({ state }: SimScope, { dice, isCalm }: Environment, request: CommandOf<"host.request">): Event => {
  const { call, key, name, input } = request;
  const row = state.calls.at(call);
  const open = row === undefined ? undefined : bodyOf(row)?.open.find((effect) => effect.key === key);
  const answered = { type: "host.answered", call, key, result: anyResult(dice) } as const;
  if (open === undefined || state.scope.protocol === 1) return answered;
  const { seq, hash } = open;
  const asksPerson = !isCalm && dice.isUnder(40);
  const keeps = dice.isUnder(20) ? { keeps: { key: "a", value: dice.below(9) } } : {};
  return asksPerson ? { type: "host.waiting", call, key, seq, name, input } : { ...answered, seq, hash, ...keeps };
};

/** Returns whether the tool of a call in preparation is away. The check of edited arguments is answered either way. */
const isAway = ({ state }: SimScope, { dice, isCalm }: Environment, call: string): boolean =>
  !isCalm && state.scope.protocol >= 2 && state.calls.at(call)?.phase !== "awaiting_approval" && dice.isUnder(6);

/** Returns the immediate answer of a command, as the duty table names it. */
const answerTo = (scope: SimScope, world: Environment, command: Command): Event | undefined => {
  const { dice } = world;
  const isOfTool = command.type === "args.check" || command.type === "tool.prepare";
  if (isOfTool && isAway(scope, world, command.call)) return { type: "call.tool_missing", call: command.call };
  switch (command.type) {
    case "hook.run":
      return { type: "hook.ran", call: command.call, phase: command.phase, outcome: anyHook(dice) };
    case "place.take":
      return { type: "place.granted", call: command.call, attempt: command.attempt };
    case "args.check":
      return checked(world, command.call);
    case "tool.prepare":
      return prepared(scope, world, command);
    case "outcome.resolve":
      return resolved(world, command.call);
    case "result.project":
      return { type: "result.projected", call: command.call, parts: anyJson(dice) };
    case "replies.record": {
      const { call, key, replies, triggers } = command;
      return { type: "replies.recorded", call, key, replies, triggers };
    }
    case "host.request":
      return hostAnswer(scope, world, command);
    case "external.cancel":
      return { type: "external.cancel_acked", key: command.key };
    case "reply":
      return ackOf(scope.state, command.request);
    case "wake.deliver":
      return { type: "wake.acked", key: command.key };
    case "env.load":
      return { type: "catalog.published", tools: anyTools(dice, scope.state.scope.protocol) };
    case "lambda.apply": {
      const { request, id } = command;
      const result = dice.isUnder(85)
        ? { status: "ok" as const, output: "l" }
        : { status: "err" as const, message: "no" };
      return { type: "lambda.applied", request, id, result };
    }
    case "engine.cancel":
      return { type: "process.event_appended", ...engineEnd(true) };
    default:
      return answerToBackgroundWork(dice, command) ?? answerToTurn(scope, world, command);
  }
};

const startBody = (scope: SimScope, world: Environment, body: Body, recovery: string | undefined): void => {
  const { dice, isCalm } = world;
  scope.bodies.set(body.of.call, body);
  if (!isCalm && dice.isUnder(4)) {
    scope.bodies.delete(body.of.call);
    scope.offer({ type: "call.executor_missing", ...body.of });
    return;
  }
  const key = `done:${body.of.call}`;
  if (recovery === "externally_owned") scope.offer({ type: "call.dispatched", ...body.of, owner: "worker:1", key });
  else if (!isCalm && dice.isUnder(6)) scope.offer({ type: "call.dispatched", ...body.of, owner: "executor:x" });
};

/** Starts a body. A later run is recorded first, and durable before the body acts. */
const execute = (scope: SimScope, world: Environment, command: CommandOf<"tool.execute">): void => {
  const { call, attempt, run, args, cause, recovery } = command;
  const body = new Body(scope, world, { call, attempt, run }, args);
  if (cause === undefined) return startBody(scope, world, body, recovery);
  const { owner, versions } = scope.state.scope;
  const version = versionIn(versions, command.tool_id);
  const said = version === undefined ? {} : { version };
  if (scope.offer({ type: "call.resumed", call, attempt, run, cause, owner, ...said }) === undefined)
    scope.hold({ type: "body.start", body });
};

/** Runs a step, unless its run is over. */
const runStep = (scope: SimScope, world: Environment, command: CommandOf<"step.run">): void => {
  const { call, attempt, run } = command;
  const row = scope.state.calls.at(call);
  if (row?.phase !== "running" || row.body.attempt !== attempt || row.body.run !== run) return;
  world.conservation.ran(scope.id, command, scope.state);
  const said = streamed(scope, world, command);
  if (said === undefined) return void scope.offer(afterTry(scope, world, command));
  scope.offer(said);
  scope.todo.push(command);
};

/** Returns what the producer of a stream reports next: that it begins again, or chunks; undefined where it has said all. */
const streamed = ({ state }: SimScope, { dice, isCalm }: Environment, { call, key, run }: CommandOf<"step.run">) => {
  const row = state.calls.at(call);
  const body = row === undefined ? undefined : bodyOf(row);
  const name = body?.open.find((open) => open.key === key)?.stream;
  const stream = body?.streams.find((one) => one.name === name);
  if (stream === undefined || stream.isDone || isCalm || dice.isUnder(20)) return undefined;
  const { chunks: from, attempts, resumes, last: after } = stream;
  const of = { call, stream: stream.name, from, ...(after === undefined ? {} : { after }) };
  const attempt = attempts.length + 1;
  if (stream.run !== run)
    return { type: "stream.reset", ...of, attempt, ...(resumes ? { keep: attempts.at(-1)?.keep ?? 0 } : {}) } as const;
  const chunks = dice.list(3, (i) => `chunk ${from + i}`);
  if (from + chunks.length > state.scope.options.max_stream_chunks) return undefined;
  const last = dice.isUnder(20) ? { last: true } : {};
  return { type: "stream.recorded", ...of, attempt: attempts.length, chunks, ...last } as const;
};

/** A try of a step ends: by its result, or with another to follow. */
const afterTry = (
  { state }: SimScope,
  { dice, isCalm }: Environment,
  { call, attempt, run, key, recovery, try: number = firstTry }: CommandOf<"step.run">,
): Event => {
  const of = { call, attempt, run, key };
  const mayFail = hasRule(state.scope.protocol, "step_retries") && recovery !== "once" && !isCalm;
  if (mayFail && dice.isUnder(25)) {
    const error = { code: "busy", message: "try again" };
    return { type: "step.failed", ...of, try: number, error, retry_in_ms: dice.pick([0, 50, 60_000]) };
  }
  return { type: "step.settled", ...of, result: anyResult(dice), ...(number === firstTry ? {} : { try: number }) };
};

const runEngine = (scope: SimScope, { dice, isCalm }: Environment): void => {
  const append = isCalm || dice.isUnder(30) ? engineEnd(scope.state.process?.cancelled ?? false) : note(dice);
  scope.offer({ type: "process.event_appended", ...append });
};

const bodyOfRun = (
  scope: SimScope,
  { call, attempt, run }: CommandOf<"tool.cancel" | "step.answer">,
): Body | undefined => {
  const body = scope.bodies.get(call);
  return body?.of.attempt === attempt && body.of.run === run ? body : undefined;
};

export const perform = (scope: SimScope, world: Environment, act: Act): void => {
  switch (act.type) {
    case "body.start":
      return startBody(scope, world, act.body, undefined);
    case "packet":
      world.packets.push(act.packet);
      return;
    case "tool.execute":
      return execute(scope, world, act);
    case "step.run":
      return runStep(scope, world, act);
    case "engine.run":
      return runEngine(scope, world);
    case "model.ask":
      return speakAsModel(scope, world, act);
    case "tool.cancel": {
      const body = bodyOfRun(scope, act);
      if (body !== undefined) body.isCancelled = true;
      return;
    }
    case "step.answer":
      bodyOfRun(scope, act)?.answered.add(act.key);
      return;
    case "send": {
      const { type: _, to, ...said } = act;
      const event = { type: "message.received", from: scope.id, ...said } as const;
      world.packets.push({ type: "message", to, event });
      return;
    }
    case "message.answer": {
      world.packets.push({ ...act, type: "answer", from: scope.id });
      return;
    }
    default: {
      const event = answerTo(scope, world, act);
      if (event !== undefined) offerTwice(scope, world, event);
    }
  }
};

/** Delivers an event twice now and then. The second one must be rejected or have no effect. */
const offerTwice = (scope: SimScope, world: Environment, event: Event): void => {
  scope.offer(event);
  if (world.isCalm || !world.dice.isUnder(3)) return;
  world.coverage.befell("event twice");
  scope.offer(event);
};

type Request = Extract<Packet, { readonly type: "message" }>;

const answerAgain = (scope: SimScope, { event }: Request, isOver: boolean): void => {
  const outcome = answerOf(scope.state, event, isOver);
  const { from: to, link, number } = event;
  if (outcome !== undefined)
    scope.hold({
      type: "packet",
      packet: { type: "answer", to, from: scope.id, link, number, outcome, ...saidProtocol(scope.state) },
    });
};

const receive = (scope: SimScope, packet: Request): void => {
  const event = takenBy(scope.state, packet.event);
  if (scope.isFinished("link", finishedLink(event.from, event.link))) return answerAgain(scope, packet, true);
  const { message } = event;
  const isKnown = message.type === "process.woke" && scope.isFinished("wake", wakeKey(message.wake));
  const refused = scope.offer(isKnown ? { ...event, known: true } : event);
  if (refused?.code === "already_received") answerAgain(scope, packet, false);
};

/** Delivers a packet to its scope. */
export const deliver = (scope: SimScope, packet: Packet): void => {
  if (packet.type === "message") return receive(scope, packet);
  const { type: _, to: __, from: to, ...said } = packet;
  scope.offer({ type: "message.answered", to, ...takenBy(scope.state, said) });
};

/** Returns the executors that run calls, according to the log. */
export const executorsOf = ({ state }: SimScope): readonly string[] =>
  state.calls.rows().flatMap((row) => (row.phase === "running" && isExecutor(row.owner) ? [row.owner] : []));
