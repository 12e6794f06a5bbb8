/** Limits of what turns may use: they stand in options and in events, and the ledger of `turn/budget.ts` holds them. */
import { type Codec, oneOf, optional, record, u64 } from "@pawl/tool-value";

/** All that can be limited, in the order in which limits are listed. */
export const whats = ["model_calls", "input_tokens", "output_tokens", "total_tokens", "cost", "wall_ms"] as const;
export type What = (typeof whats)[number];

/** When a limit is reached, a person is asked, the turn fails, or the model is asked once more, without tools. */
export type Then = "ask" | "fail" | "wrap_up";

export interface Limit {
  readonly limit: number;
  readonly then?: Then;
}
export type Limits = { readonly [K in What]?: Limit };

/** Amounts of what can be limited. */
export type Amounts = { readonly [K in What]?: number };

/** Amounts, with how often usage was not told, or had no price. What is 0 is left out. */
export type Used = Amounts & { readonly unmetered?: number; readonly unpriced?: number };

/** The same codec for everything that can be limited. */
export const perWhat = <C>(of: C): { readonly [K in What]: C } =>
  Object.fromEntries(whats.map((what) => [what, of])) as { readonly [K in What]: C };

const LimitCodec: Codec<Limit> = record<Limit>("struct Limit", {
  limit: u64,
  // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
  then: optional<Then>(oneOf("ask, fail or wrap_up", "ask", "fail", "wrap_up")),
});
/** Decodes and encodes the limits of a turn, an agent or a session. */
export const LimitsCodec: Codec<Limits> = record<Limits>("struct Limits", perWhat(optional(LimitCodec)));
export const AmountsCodec: Codec<Amounts> = record<Amounts>("struct Amounts", perWhat(optional(u64)));
export const UsedCodec: Codec<Used> = record<Used>("struct Used", {
  ...perWhat(optional(u64)),
  unmetered: optional(u64),
  unpriced: optional(u64),
});
