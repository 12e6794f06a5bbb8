/** Turns of the core simulation: what hosts submit, publish and check, and what people decide on budgets. */
import type { Command, Event, EventOf, RejectionCode } from "@pawl/sansio-core";
import { type AgentSpec, type TurnMessage, hasRule } from "@pawl/sansio-core/driver";
import { toolNames } from "./catalog.ts";
import type { Environment } from "./environment.ts";
import { anyAnswer, anyUsage } from "./model.ts";
import { processScopeId } from "./process.ts";
import type { Dice } from "./random.ts";
import type { SimScope } from "./scope.ts";

type Limits = NonNullable<EventOf<"turn.submitted">["limits"]>;
type Doing = (scope: SimScope, world: Environment) => Event | undefined;

const agents = ["main", "main", "main", "bills"] as const;
const frames = ["main", "f2", "bills"] as const;
const whats = ["model_calls", "output_tokens", "total_tokens", "cost", "wall_ms"] as const;

export const mayTalk = ({ id, state }: SimScope): boolean =>
  id !== processScopeId && hasRule(state.scope.protocol, "turns") && state.deletion === undefined;

const anyLimit = (dice: Dice): Limits[keyof Limits] => {
  const limit = dice.pick([1, 3, 10, 1000]);
  // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
  return dice.isUnder(30) ? { limit } : { limit, then: dice.pick(["ask", "ask", "fail", "wrap_up"]) };
};
const anyLimits = (dice: Dice): Limits => Object.fromEntries(dice.list(2, () => [dice.pick(whats), anyLimit(dice)]));

const anySpec = (dice: Dice): AgentSpec => ({
  ...(dice.isUnder(50) ? { system: "Be short." } : {}),
  routes: [
    {
      provider: "p",
      model: "m",
      ...(dice.isUnder(40) ? { fetch: true } : {}),
      ...(dice.isUnder(40) ? { continue: true } : {}),
      ...(dice.isUnder(30) ? { recovery: "ask" as const } : {}),
      ...(dice.isUnder(30) ? { context_tokens: 10 } : {}),
    },
    ...dice.list(1, () => ({ provider: "q", model: "m2" })),
  ],
  shown: toolNames.map((name) => ({ name, input_schema: {} })),
  ...(dice.isUnder(20) ? { limits: anyLimits(dice) } : {}),
  ...(dice.isUnder(50) ? { compaction: { at_percent: 50, keep_groups: dice.below(3) } } : {}),
  ...(dice.isUnder(30) ? { loop: { repeats: 2 } } : {}),
  ...(dice.isUnder(20) ? { output: { schema: {}, repairs: dice.below(2) } } : {}),
});

const published = (dice: Dice, agent: string): Event => ({
  type: "agent.published",
  agent,
  hash: `h${dice.below(1000)}`,
  spec: anySpec(dice),
});

const messages = (content: string): readonly TurnMessage[] => [{ role: "user", content }];

const submitted = (dice: Dice, seq: number): EventOf<"turn.submitted"> => ({
  type: "turn.submitted",
  request: `t${seq}`,
  hash: "h",
  messages: messages(`of ${seq}`),
  when_busy: dice.pick(["queue", "join", "interrupt", "replace"]),
  ...dice.pick([{}, {}, {}, { limits: anyLimits(dice) }, { output: { schema: {} } }, { agent: dice.pick(agents) }]),
});

const mostRequests = 4;

/** A host says something in a session. */
export const talked: Doing = (scope, { dice }) =>
  mayTalk(scope) && scope.state.requests.size < mostRequests ? submitted(dice, scope.state.seq) : undefined;

const parked = ({ state: { conversation } }: SimScope) =>
  conversation.running?.phase.type === "parked" ? conversation.running.phase : undefined;

/** A person decides on a budget that is reached. */
export const budgetDecided: Doing = (scope, { dice, isCalm }) => {
  const phase = parked(scope);
  if (phase === undefined) return undefined;
  const decision = isCalm ? "stop" : dice.pick(["extend", "extend", "stop"] as const);
  const more = Object.fromEntries(phase.reached.map(({ what }) => [what, dice.pick([1, 100, 100_000])]));
  return { type: "budget.decided", ask: phase.ask, decision, add: { turn: more, session: more }, by: "p" };
};

/** A provider says what an attempt was paid that nobody waits for. */
const heardLate: Doing = ({ state }, { dice }) => {
  const [one] = state.conversation.unheard;
  if (one === undefined) return undefined;
  const { model: _, ...of } = one;
  return { type: "model.late", ...of, usage: anyUsage(dice) };
};

const turnCancelled: Doing = ({ state: { conversation } }) =>
  conversation.running === undefined ? undefined : { type: "request.cancelled", request: conversation.running.request };

/** Events of hosts about a conversation, besides its turns. */
export const conversed: Doing = (scope, world) => {
  if (!mayTalk(scope)) return undefined;
  const { dice } = world;
  const doing = dice.pick<Doing>([
    () => published(dice, dice.pick(agents)),
    () => ({ type: "prices.published", currency: "EUR", prices: { m: { input: 1 + dice.below(9), output: 2 } } }),
    () => ({ type: "limits.set", limits: { turn: anyLimits(dice), session: dice.isUnder(20) ? anyLimits(dice) : {} } }),
    ({ state }) =>
      state.conversation.running === undefined
        ? {
            type: "frame.opened",
            frame: dice.pick(frames),
            messages: dice.list(1, () => ({ role: "assistant", content: "Earlier." }) as const),
            current: dice.isUnder(50),
          }
        : { type: "compaction.requested" },
    budgetDecided,
    budgetDecided,
    heardLate,
    turnCancelled,
  ]);
  return doing(scope, world);
};

/** Returns the host's answer to a question of a turn, if it has one. */
export const answerToTurn = (scope: SimScope, world: Environment, command: Command): Event | undefined => {
  const { dice, isCalm } = world;
  switch (command.type) {
    case "agent.load": {
      const { agent } = command;
      return isCalm || dice.isUnder(85) ? published(dice, agent) : { type: "agent.missing", agent };
    }
    case "turn.check": {
      const { request, n } = command;
      const goesOn = { type: "turn.checked", request, n, verdict: { type: "go_on" } } as const;
      if (isCalm || dice.isUnder(70)) return goesOn;
      return dice.pick([
        { ...goesOn, messages: messages("mind this") },
        { ...goesOn, verdict: { type: "end", reason: "enough" } },
      ] as const);
    }
    case "model.resolve": {
      const { request, n, attempt } = command;
      const outcome = dice.pick([
        { type: "again" },
        { type: "again" },
        { type: "give_up" },
        { type: "answer", ...anyAnswer(scope, world) },
      ] as const);
      return { type: "model.resolved", request, n, attempt, outcome };
    }
    default:
      return undefined;
  }
};

type Make = (scope: SimScope, dice: Dice) => Event | undefined;

const whileRunning =
  (make: (running: NonNullable<SimScope["state"]["conversation"]["running"]>) => Event | undefined): Make =>
  (scope) => {
    const { running } = scope.state.conversation;
    return running === undefined || !mayTalk(scope) ? undefined : make(running);
  };

/** Invalid events of turns, by the expected rejection. */
export const invalidTurns: { readonly [C in RejectionCode]?: Make } = {
  invalid_turn: (scope, dice) =>
    mayTalk(scope) ? { ...submitted(dice, scope.state.seq), request: "nothing said", messages: [] } : undefined,
  session_busy: (scope, dice) =>
    whileRunning(() => ({ ...submitted(dice, scope.state.seq), when_busy: "refuse" }))(scope, dice),
  too_many_turns: (scope, dice) => {
    const { conversation, scope: of } = scope.state;
    const isFull = conversation.running !== undefined && conversation.waiting.length >= of.options.max_waiting_turns;
    return isFull && mayTalk(scope) ? { ...submitted(dice, scope.state.seq), request: "one too many" } : undefined;
  },
  frame_in_use: whileRunning(() => ({ type: "frame.opened", frame: "f2", messages: [], current: true })),
  already_answered: whileRunning(({ request, phase }) => {
    if (phase.type !== "asking") return undefined;
    const { n, attempt } = phase.call;
    const [said, prompt] = [
      { pieces: [], finish: { reason: "stop" }, usage: {} },
      { messages: 1, hash: "0" },
    ] as const;
    return { type: "model.answered", request, n, attempt: attempt + 1, ...said, prompt, ms: 1 };
  }),
  extension_too_small: (scope) => {
    const phase = parked(scope);
    const { running, limits } = scope.state.conversation;
    const stands = (of: "turn" | "session") => (of === "turn" ? (running?.limits ?? {}) : limits.session);
    const isSame = phase?.reached.some(({ of, what, limit }) => stands(of)[what]?.limit === limit);
    return phase !== undefined && isSame === true
      ? { type: "budget.decided", ask: phase.ask, decision: "extend", by: "p" }
      : undefined;
  },
  edit_not_possible: ({ state }) => {
    const row = state.calls.rows().find((one) => one.phase === "awaiting_approval" && one.call.name.includes(".a"));
    if (row?.phase !== "awaiting_approval") return undefined;
    const decision = { type: "approve_edited", args: {} } as const;
    return { type: "approval.decided", call: row.call.ref, decision, args_hash: row.approval.argsHash, by: "p" };
  },
};
