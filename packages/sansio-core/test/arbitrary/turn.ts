/** What happens to turns: any event of them, which may fit the state, and what a world would answer. */
import type { AgentSpec } from "../../src/turn/agent.ts";
import type { Amounts, Limits } from "../../src/kernel/limit.ts";
import { whats } from "../../src/kernel/limit.ts";
import type { Usage } from "../../src/turn/budget.ts";
import { callIn } from "../../src/turn/conversation.ts";
import { failureClasses, finishReasons } from "../../src/turn/event.ts";
import type { AnswerPart, Message, Piece } from "../../src/turn/message.ts";
import type { Event, EventType, State } from "../../src/kernel/vocabulary.ts";
import type { Dice } from "./dice.ts";
import { type Make, Names } from "./names.ts";
import { anyJson, anyText } from "./value.ts";
import { toolNames } from "./world.ts";

const agents = ["main", "main", "bills"] as const;
const frames = ["main", "f2", "bills"] as const;
const turns = ["t1", "t2", "t3", "t4"] as const;

const anyMessage = (dice: Dice): Message =>
  dice.pick<() => Message>([
    () => ({ role: "user", content: anyText(dice) }),
    () => ({ role: "user", content: [{ type: "text", text: anyText(dice), meta: { p: 1 } }] }),
    () => ({ role: "system", content: "Be short." }),
    () => ({ role: dice.pick(["assistant", "user"] as const), content: anyText(dice) }),
  ])();

const anyThen = (dice: Dice): Limits[keyof Limits] => {
  const limit = dice.pick([0, 1, 3, 10, 1000]);
  // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
  return dice.isUnder(30) ? { limit } : { limit, then: dice.pick(["ask", "fail", "wrap_up"]) };
};

const anyLimits = (dice: Dice): Limits => Object.fromEntries(dice.list(2, () => [dice.pick(whats), anyThen(dice)]));

const anyAmounts = (dice: Dice): Amounts =>
  Object.fromEntries(dice.list(2, () => [dice.pick(whats), dice.pick([1, 100, 100_000])]));

const anySpec = (dice: Dice): AgentSpec => ({
  ...(dice.isUnder(50) ? { system: anyText(dice) } : {}),
  routes: [
    {
      provider: "p",
      model: "m",
      ...(dice.isUnder(40) ? { fetch: true } : {}),
      ...(dice.isUnder(40) ? { continue: true } : {}),
      ...(dice.isUnder(30) ? { recovery: "ask" as const } : {}),
      ...(dice.isUnder(40) ? { context_tokens: 10 } : {}),
    },
    ...dice.list(1, () => ({ provider: "q", model: "m2" })),
  ],
  shown: toolNames.map((name) => ({ name, input_schema: {} })),
  ...(dice.isUnder(30) ? { limits: anyLimits(dice) } : {}),
  ...(dice.isUnder(50) ? { compaction: { at_percent: 50, keep_groups: dice.below(3) } } : {}),
  ...(dice.isUnder(30) ? { loop: { repeats: 2 } } : {}),
  ...(dice.isUnder(20) ? { output: { schema: {}, repairs: dice.below(2) } } : {}),
});

const anyUsage = (dice: Dice): Usage =>
  dice.isUnder(40) ? {} : { input_tokens: dice.pick([0, 4, 9]), output_tokens: dice.pick([0, 1, 5]) };

const anyPart = (dice: Dice): AnswerPart =>
  dice.pick<() => AnswerPart>([
    () => ({ type: "text", text: anyText(dice) }),
    () => ({ type: "text", text: "" }),
    () => ({ type: "reasoning", text: anyText(dice), meta: { p: { s: 1 } } }),
    () => ({
      type: "tool-call",
      id: dice.pick(["x", "y", ""]),
      tool: dice.pick([...toolNames, "zap"]),
      args: anyJson(dice),
    }),
    () => ({ type: "tool-call", id: "p1", tool: "web", args: {}, provider: true }),
    () => ({ type: "tool-result", id: "p1", tool: "web", result: anyJson(dice) }),
    () => ({ type: "approval-request", approval_id: dice.pick(["ap", "aq"]), id: "p1" }),
  ])();

/** Pieces of an answer: a few texts, or parts that come whole. */
export const anyPieces = (dice: Dice): readonly Piece[] =>
  dice.isUnder(50)
    ? [{ b: 0, type: "text", text: anyText(dice) }]
    : dice.list(3, () => anyPart(dice)).map((part, i) => ({ b: i + 1, part }));

/** An attempt that is open, mostly; or one that was, or never was. */
export const anyAttempt = (dice: Dice, { conversation: { running, unheard } }: State) => {
  const call = running === undefined ? undefined : callIn(running.phase);
  if (running !== undefined && call !== undefined && dice.isUnder(85))
    return { request: running.request, n: call.n, attempt: call.attempt };
  const [one] = unheard;
  if (one !== undefined && dice.isUnder(60)) return { request: one.request, n: one.n, attempt: one.attempt };
  return { request: dice.pick(turns), n: 1 + dice.below(3), attempt: 1 + dice.below(3) };
};

const prompt = { messages: 1, hash: "0" };
const anyAnswer = (dice: Dice) => ({
  pieces: anyPieces(dice),
  finish: { reason: dice.isUnder(60) ? ("stop" as const) : dice.pick(finishReasons) },
  usage: anyUsage(dice),
  ...dice.pick([{}, { verdict: { valid: true } as const }, { verdict: { invalid: "no" } }]),
});

type TurnType = Extract<EventType, `agent.${string}` | `model.${string}` | `turn.${string}`> | OtherType;
type OtherType = "prices.published" | "limits.set" | "frame.opened" | "budget.decided" | "compaction.requested";

export const turnMakers: { readonly [T in TurnType]: Make<T> } = {
  "agent.published": ({ dice }) => ({ agent: dice.pick(agents), hash: dice.pick(["h", "g"]), spec: anySpec(dice) }),
  "agent.missing": ({ dice, state }) => {
    const phase = state.conversation.running?.phase;
    return { agent: phase?.type === "loading" ? phase.agent : dice.pick(agents) };
  },
  "prices.published": ({ dice }) => ({ currency: "EUR", prices: { m: { input: dice.below(9), output: 2 } } }),
  "limits.set": ({ dice }) => ({ limits: { turn: anyLimits(dice), session: dice.isUnder(30) ? anyLimits(dice) : {} } }),
  "frame.opened": ({ dice }) => ({
    frame: dice.pick(frames),
    messages: dice.list(2, () => anyMessage(dice)),
    current: dice.isUnder(50),
    ...dice.pick([{}, { agent: dice.pick(agents) }]),
  }),
  "turn.submitted": ({ dice }) => ({
    request: dice.pick(turns),
    hash: dice.pick(["h", "h", "g"]),
    messages: dice.list(3, () => anyMessage(dice)),
    when_busy: dice.pick(["queue", "join", "interrupt", "replace", "refuse"]),
    ...dice.pick([{}, {}, { limits: anyLimits(dice) }, { output: { schema: {} } }, { agent: dice.pick(agents) }]),
  }),
  "model.identified": ({ dice, state }) => ({ ...anyAttempt(dice, state), provider_id: anyText(dice) }),
  "model.streamed": ({ dice, state }) => ({ ...anyAttempt(dice, state), pieces: anyPieces(dice) }),
  "model.answered": ({ dice, state }) => ({ ...anyAttempt(dice, state), ...anyAnswer(dice), prompt, ms: 1 }),
  "model.failed": ({ dice, state }) => ({
    ...anyAttempt(dice, state),
    class: dice.pick(failureClasses),
    message: anyText(dice),
    ...dice.pick([{}, { retry_after_ms: dice.pick([0, 5, 10_000_000]) }]),
    ...dice.pick([{}, { pieces: anyPieces(dice) }, { usage: anyUsage(dice) }]),
    prompt,
    ms: 1,
  }),
  "model.stopped": ({ dice, state }) => ({
    ...anyAttempt(dice, state),
    pieces: anyPieces(dice),
    usage: anyUsage(dice),
  }),
  "model.late": ({ dice, state }) => ({ ...anyAttempt(dice, state), usage: anyUsage(dice) }),
  "model.resolved": ({ dice, state }) => ({
    ...anyAttempt(dice, state),
    outcome: dice.pick([{ type: "again" }, { type: "give_up" }, { type: "answer", ...anyAnswer(dice) }] as const),
  }),
  "turn.checked": ({ dice, state }) => {
    const { running } = state.conversation;
    const n = running?.phase.type === "checking" ? running.phase.n : 1;
    return {
      request: running?.request ?? "nobody",
      n,
      verdict: dice.pick([{ type: "go_on" }, { type: "go_on" }, { type: "end", reason: "enough" }] as const),
      ...(dice.isUnder(30) ? { messages: [anyMessage(dice)] } : {}),
    };
  },
  "budget.decided": ({ dice, state: { conversation } }) => ({
    ask: dice.isUnder(80) ? conversation.asks : dice.below(3),
    decision: dice.pick(["extend", "extend", "stop"]),
    add: { turn: anyAmounts(dice), session: anyAmounts(dice) },
    by: anyText(dice),
  }),
  "compaction.requested": ({ dice }) => dice.pick([{}, { request: dice.pick(turns) }]),
};

/** Returns what a host submits, and what a model, a person and a host would say of the running turn. */
export const ofTurns = (dice: Dice, state: State): Event => {
  const { running, agents: known } = state.conversation;
  const named = new Names(dice, state);
  const make = <T extends TurnType>(type: T): Event => ({ type, ...turnMakers[type](named) }) as Event;
  if (known.size === 0) return make("agent.published");
  if (running === undefined || dice.isUnder(15)) return submittedTurn(dice, state);
  switch (running.phase.type) {
    case "asking":
      return make(
        dice.pick(["model.answered", "model.answered", "model.streamed", "model.failed", "model.identified"]),
      );
    case "stopping":
      return make(dice.pick(["model.stopped", "model.answered", "model.streamed"]));
    case "unknown":
      return make("model.resolved");
    case "checking":
      return make("turn.checked");
    case "parked":
      return make("budget.decided");
    case "loading":
      return make(dice.pick(["agent.published", "agent.missing"]));
    default:
      return make(dice.pick(["model.late", "compaction.requested", "limits.set", "prices.published"]));
  }
};

const submittedTurn = (dice: Dice, state: State): Event => ({
  type: "turn.submitted",
  request: `t${state.seq}`,
  hash: "h",
  messages: [{ role: "user", content: anyText(dice) }],
  when_busy: dice.pick(["queue", "join", "interrupt", "replace"]),
  ...dice.pick([{}, {}, { limits: anyLimits(dice) }]),
});
