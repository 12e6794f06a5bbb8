/** Values as tools and hosts send them. */
import {
  type Json,
  type PendingCompletion,
  type Resolution,
  type ToolCallOutput,
  cancelledOutput,
  errorOutput,
  failureOutput,
  lift,
  runtimeCancellation,
  safeRetryFailure,
  successOutput,
  toolFailure,
} from "@pawl/tool-value";
import type { EffectResult } from "../../src/call/effect/effect.ts";
import type { Dice } from "./dice.ts";

const texts = ["", " ", "a", "b", "a/b", "a:b", "__proto__", "constructor", "😀", "é", "%3A"];
export const anyText = (dice: Dice): string => dice.pick(texts);

export const anyJson = (dice: Dice): Json =>
  dice.pick<Json>([null, true, 0, -1, 1.5, 2n ** 70n, "text", [], [1, [2]], {}, { n: 1 }, { __proto: null, a: ["x"] }]);

/** Times that are short, long, and longer than anyone waits. */
export const anyMs = (dice: Dice): number => dice.pick([0, 1, 50, 1000, 60_000, Number.MAX_SAFE_INTEGER]);

export const safeFailure = (dice: Dice): ToolCallOutput =>
  failureOutput(safeRetryFailure("external", "busy", "again", dice.pick([undefined, 0, 500])));

export const anyOutput = (dice: Dice): ToolCallOutput => {
  switch (dice.below(6)) {
    case 0:
      return safeFailure(dice);
    case 1:
      return failureOutput(toolFailure("execution", "broken", "it broke"));
    case 2:
      return cancelledOutput(runtimeCancellation("stopped"));
    case 3:
      return { ...successOutput("over"), control: { type: "finish", value: 1 } };
    case 4:
      return errorOutput(anyJson(dice));
    default:
      return successOutput(lift(anyJson(dice)));
  }
};

export const anyResult = (dice: Dice): EffectResult =>
  dice.isUnder(65)
    ? { status: "ok", value: anyJson(dice) }
    : { status: "err", error: { code: "step_failed", message: "no" } };

export const anyResolution = (dice: Dice): Resolution =>
  dice.pick<Resolution>([
    { status: "ok", payload: 1 },
    { status: "ok", payload: null },
    { status: "err", payload: { code: "denied", message: "no", raw: { a: 1 } } },
    { status: "err", payload: { code: "denied", message: "no" } },
    { status: "timeout" },
    { status: "cancelled" },
  ]);

export const anyPending = (dice: Dice): PendingCompletion => {
  const terms = {
    on_timeout: dice.pick(["error_as_result", "fail_turn"] as const),
    on_cancel: dice.pick(["ignore", "cancel_external_work"] as const),
  };
  const deadline = { secs: dice.pick([0, 1, 60, Number.MAX_SAFE_INTEGER]), nanos: dice.pick([0, 1, 999_999_999]) };
  return dice.isUnder(40) ? { ...terms, deadline } : terms;
};
