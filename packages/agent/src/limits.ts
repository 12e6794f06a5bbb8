/** Limits of what a turn may use, as programs write them. */
import type { AgentDefinition } from "@pawl/runtime/driver";
import { defined } from "./model.ts";

/**
 * A limit, and what happens when it is reached: a person is asked, the turn fails, or the model answers once more without
 * tools. Default: model calls fail, everything else asks.
 */
export type Limit = number | { readonly limit: number; readonly whenReached?: "ask" | "fail" | "wrapUp" };

export interface Limits {
  readonly modelCalls?: Limit;
  readonly inputTokens?: Limit;
  readonly outputTokens?: Limit;
  readonly totalTokens?: Limit;
  /** Billionths of the currency of the prices on record. */
  readonly cost?: Limit;
  readonly wallMs?: Limit;
}

type Recorded = NonNullable<AgentDefinition["limits"]>;

const limitOf = (given: Limit | undefined): Recorded[keyof Recorded] => {
  if (given === undefined || typeof given === "number") return given === undefined ? undefined : { limit: given };
  const { limit, whenReached } = given;
  if (whenReached === undefined) return { limit };
  const follows = whenReached === "wrapUp" ? "wrap_up" : whenReached;
  // oxlint-disable-next-line unicorn/no-thenable -- the field's name in the log
  return { limit, then: follows };
};

/** Returns limits as they stand in the log. */
export const limitsOf = ({ modelCalls, inputTokens, outputTokens, totalTokens, cost, wallMs }: Limits): Recorded =>
  defined({
    model_calls: limitOf(modelCalls),
    input_tokens: limitOf(inputTokens),
    output_tokens: limitOf(outputTokens),
    total_tokens: limitOf(totalTokens),
    cost: limitOf(cost),
    wall_ms: limitOf(wallMs),
  }) as Recorded;
