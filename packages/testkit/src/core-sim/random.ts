/** Random values for the core simulation. */
import { SeededRandom } from "../world/random.ts";
import type { EventOf } from "@pawl/sansio-core";
import type { EffectResult } from "@pawl/sansio-core/driver";
import {
  type Json,
  type PendingCompletion,
  type Resolution,
  type ToolCallOutput,
  cancelledOutput,
  errorOutput,
  failureOutput,
  runtimeCancellation,
  safeRetryFailure,
  successOutput,
  toolFailure,
} from "@pawl/tool-value";

const jsons: readonly Json[] = [null, true, -1, 1.5, 2n ** 70n, "text", [1, [2]], {}, { n: 1 }];
export const anyJson = (dice: Dice): Json => dice.pick(jsons);

export const cancelled: ToolCallOutput = cancelledOutput(runtimeCancellation("stopped"));
const retryable: readonly ToolCallOutput[] = [undefined, 0, 500].map((afterMs) =>
  failureOutput(safeRetryFailure("external", "busy", "again", afterMs)),
);
const outputs: readonly ToolCallOutput[] = [
  successOutput("over"),
  successOutput(1),
  { ...successOutput("over"), control: { type: "finish", value: 1 } },
  {
    ...successOutput("over"),
    control: { type: "switch_agent_frame", frame_id: "f2", initial_nodes: [], task: "go on" },
  },
  { ...failureOutput(toolFailure("execution", "broken", "it broke")), control: { type: "finish", value: 1 } },
  failureOutput(toolFailure("execution", "broken", "it broke")),
  errorOutput({ n: 1 }),
  cancelled,
];
export const anyOutput = (dice: Dice): ToolCallOutput => dice.pick(dice.isUnder(25) ? retryable : outputs);

export const anyResult = (dice: Dice): EffectResult =>
  dice.isUnder(75)
    ? { status: "ok", value: anyJson(dice) }
    : { status: "err", error: { code: "step_failed", message: "no" } };

const resolutions: readonly Resolution[] = [
  { status: "ok", payload: 1 },
  { status: "ok", payload: null },
  { status: "err", payload: { code: "denied", message: "no" } },
  { status: "timeout" },
  { status: "cancelled" },
];
export const anyResolution = (dice: Dice): Resolution => dice.pick(resolutions);

export const anyPending = (dice: Dice): PendingCompletion => {
  const terms = {
    on_timeout: dice.pick(["error_as_result", "fail_turn"] as const),
    on_cancel: dice.pick(["ignore", "cancel_external_work", "cancel_external_work"] as const),
  };
  return dice.isUnder(40) ? { ...terms, deadline: { secs: dice.pick([0, 1, 60]), nanos: 1 } } : terms;
};

type HookOutcome = EventOf<"hook.ran">["outcome"];
export const anyHook = (dice: Dice): HookOutcome => {
  if (dice.isUnder(10)) return { status: "err", message: "broken" };
  const directives = dice.list(2, () =>
    dice.pick([
      { kind: "replace_tool_args", args: { p: dice.below(1000) } },
      { kind: "short_circuit_tool", output: anyOutput(dice) },
      { kind: "abort_turn", code: "stop", message: "stop" },
      { kind: "create_session" },
      { kind: "enqueue_messages", error: "no queue" },
      { kind: "emit_runtime_events" },
      { kind: "emit_trace" },
    ] as const),
  );
  return { status: "ok", directives };
};

export class Dice extends SeededRandom {
  pick<A>(items: readonly A[]): A {
    return items[this.below(items.length)] as A;
  }

  isUnder(percent: number): boolean {
    return this.below(100) < percent;
  }

  list<A>(most: number, make: (index: number) => A): readonly A[] {
    return Array.from({ length: this.below(most + 1) }, (_, i) => make(i));
  }
}

/** Takes a random item out of a list. The order of the others changes. */
export const takeAny = <A>(items: A[], dice: Dice): A | undefined => {
  if (items.length === 0) return undefined;
  const at = dice.below(items.length);
  const taken = items[at] as A;
  const last = items.pop() as A;
  if (at < items.length) items[at] = last;
  return taken;
};
