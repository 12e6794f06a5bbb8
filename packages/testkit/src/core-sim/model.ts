/** The scripted model of the core simulation: an attempt says something, and something more, until it ends. */
import type { CommandOf, Event, EventOf } from "@pawl/sansio-core";
import {
  type AnswerPart,
  type FailureClass,
  type Finish,
  type Piece,
  type Usage,
  modelFate,
} from "@pawl/sansio-core/driver";
import { toolNames } from "./catalog.ts";
import type { Environment } from "./environment.ts";
import { writeArgs } from "./program.ts";
import type { Dice } from "./random.ts";
import type { SimScope } from "./scope.ts";
import { CoreSimViolation } from "./violation.ts";

type Ask = CommandOf<"model.ask">;
type OfAttempt = Pick<Ask, "request" | "n" | "attempt">;

export const anyUsage = (dice: Dice): Usage =>
  dice.isUnder(30) ? {} : { input_tokens: dice.pick([0, 4, 9]), output_tokens: dice.pick([0, 1, 5]) };

const anyCall = (dice: Dice): AnswerPart => {
  const call = {
    type: "tool-call",
    id: dice.pick(["x", "y", ""]),
    tool: dice.pick([...toolNames, "nowhere"]),
  } as const;
  if (dice.isUnder(5)) return { ...call, input: "no JSON" };
  return { ...call, args: writeArgs({ p: dice.below(100_000), depth: 0, anew: 0 }) };
};

const anyPart = (dice: Dice): AnswerPart =>
  dice.pick<() => AnswerPart>([
    () => ({ type: "text", text: dice.pick(["", "1", "so"]) }),
    () => ({ type: "reasoning", text: "well", meta: { p: { s: 1 } } }),
    () => anyCall(dice),
    () => anyCall(dice),
    () => ({ type: "tool-call", id: "p1", tool: "web", args: {}, provider: true }),
    () => ({ type: "tool-result", id: "p1", tool: "web", result: null }),
    () => ({ type: "approval-request", approval_id: "ap", id: "p1", tool: "web" }),
  ])();

/** Parts that come whole, each in a block that no other event of the log has. */
const partsIn = ({ state }: SimScope, parts: readonly AnswerPart[]): readonly Piece[] =>
  parts.map((part, i) => ({ b: 1 + 8 * state.seq + i, part }));

const textPiece = (text: string): Piece => ({ b: 0, type: "text", text });

const anyPieces = (scope: SimScope, dice: Dice): readonly Piece[] =>
  dice.isUnder(40)
    ? [textPiece(dice.pick(["1", "so"]))]
    : partsIn(
        scope,
        dice.list(3, () => anyPart(dice)),
      );

const reasons: readonly Finish["reason"][] = ["length", "content-filter", "error", "interrupted", "other"];
const anyFinish = (dice: Dice): Finish => ({ reason: dice.isUnder(85) ? "stop" : dice.pick(reasons) });

const anyVerdict = (dice: Dice): Pick<EventOf<"model.answered">, "verdict"> =>
  dice.pick([{}, { verdict: { valid: true } }, { verdict: { invalid: "no" } }] as const);

const prompt = { messages: 1, hash: "0" };

/** The whole answer of a model that ends its turn: it fits every form. */
const lastWord = { pieces: [textPiece("1")], finish: { reason: "stop" }, verdict: { valid: true } } as const;

export const anyAnswer = (
  scope: SimScope,
  { dice, isCalm }: Environment,
): Pick<EventOf<"model.answered">, "pieces" | "finish" | "usage" | "verdict"> =>
  isCalm
    ? { ...lastWord, usage: anyUsage(dice) }
    : { pieces: anyPieces(scope, dice), finish: anyFinish(dice), usage: anyUsage(dice), ...anyVerdict(dice) };

const answered = (scope: SimScope, world: Environment, of: OfAttempt, streamed: number): Event => ({
  type: "model.answered",
  ...of,
  ...(streamed === 0 ? {} : { streamed }),
  ...anyAnswer(scope, world),
  prompt,
  ms: 1,
});

const classes: readonly FailureClass[] = [
  "rate_limit",
  "transport",
  "empty",
  "context_too_long",
  "content_filter",
  "quota",
  "invalid_request",
];

const failed = ({ dice }: Environment, { mode, ...command }: Ask): Event => ({
  type: "model.failed",
  request: command.request,
  n: command.n,
  attempt: command.attempt,
  class: mode === "fetch" && dice.isUnder(60) ? "not_found" : dice.pick(classes),
  message: "no",
  ...dice.pick([{}, {}, { retry_after_ms: dice.pick([0, 5, 10_000_000]) }]),
  ...dice.pick([{}, { pieces: [textPiece("and")] }, { usage: anyUsage(dice) }]),
  prompt,
  ms: 1,
});

const stopped = (scope: SimScope, { dice }: Environment, of: OfAttempt): Event => ({
  type: "model.stopped",
  ...of,
  pieces: dice.isUnder(50) ? [] : anyPieces(scope, dice),
  ...dice.pick([{}, { usage: anyUsage(dice) }]),
});

/** Returns what an open attempt says next; one that was told to stop may be silent for a while. */
const said = (scope: SimScope, world: Environment, command: Ask): Event | undefined => {
  const { dice, isCalm } = world;
  const { request, n, attempt } = command;
  const of = { request, n, attempt };
  const phase = scope.state.conversation.running?.phase;
  if (phase?.type === "stopping") {
    if (isCalm || dice.isUnder(40)) return stopped(scope, world, of);
    if (dice.isUnder(40)) return undefined;
    return dice.isUnder(50) ? answered(scope, world, of, phase.call.streamed.length) : failed(world, command);
  }
  const streamed = phase?.type === "asking" ? phase.call.streamed.length : 0;
  if (isCalm) return answered(scope, world, of, streamed);
  const roll = dice.below(100);
  if (roll < 25) return { type: "model.streamed", ...of, pieces: anyPieces(scope, dice) };
  if (roll < 32) return { type: "model.identified", ...of, provider_id: `of ${command.key}` };
  return roll < 80 ? answered(scope, world, of, streamed) : failed(world, command);
};

const isEnd = ({ type }: Event): boolean => type !== "model.streamed" && type !== "model.identified";

/** Lets the model of an attempt speak once. Of an attempt that nobody waits for it says what was paid. */
export const speakAsModel = (scope: SimScope, world: Environment, command: Ask): void => {
  const { request, n, attempt } = command;
  while (scope.isDue) scope.offer({ type: "clock.ticked" }); // An attempt that was silent for too long is over.
  const fate = modelFate(scope.state, command);
  if (fate === "known") return;
  if (fate === "take") world.conservation.prompts.look(scope, command);
  const late = { type: "model.late", request, n, attempt, usage: anyUsage(world.dice) } as const;
  const event = fate === "late" ? late : said(scope, world, command);
  const refused = event === undefined ? undefined : scope.offer(event);
  if (refused !== undefined)
    throw new CoreSimViolation("rejection", `${scope.id}: an attempt that is open may not speak: ${refused.message}`);
  if (event === undefined || !isEnd(event)) scope.todo.push(command);
};
