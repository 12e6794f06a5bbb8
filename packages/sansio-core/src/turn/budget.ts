/**
 * The ledger of a session: what its turns have used, what is set aside for sub-agents, and which limits are reached.
 *
 * A turn has a part of the ledger while it runs; `session` holds that of all turns that are over, and of attempts that were
 * heard of late. Limits stand at the turn and at the session. A grant sets part of what is left aside for a sub-agent:
 * it counts as used until the sub-agent ends, and then what that has really used is charged.
 *
 * Invariants
 *   BU1  nothing in a ledger is negative, and what is set aside belongs to a live sub-agent
 *   BU2  no model call begins while a limit is reached, but for one wrap-up a turn
 */
import { type Codec, type Json, json, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { type Amounts, AmountsCodec, type Limits, type Then, type Used, type What, whats } from "../kernel/limit.ts";

export type { Amounts, Limits, Used } from "../kernel/limit.ts";
export { UsedCodec } from "../kernel/limit.ts";

export interface Usage {
  readonly input_tokens?: number;
  readonly cached_input_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly output_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly raw?: Json;
}

/** In billionths of the currency, a token. */
export interface Price {
  readonly input: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** A limit that is reached, at the level where it stands. */
export interface Reached {
  readonly of: "turn" | "session";
  readonly what: What;
  readonly limit: number;
  readonly used: number;
}

/** Amounts that are set aside for a sub-agent. `name`: its process; `turn` and `call`: the request and the call that started it. */
export interface Grant {
  readonly name: string;
  readonly turn: string;
  readonly call: string;
  readonly amounts: Amounts;
}

/** One level of limits with what counts towards them. */
export interface Level {
  readonly of: Reached["of"];
  readonly limits: Limits;
  readonly used: Used;
  readonly reserved: Amounts;
}

const most = Number.MAX_SAFE_INTEGER;
const sum = (a: number, b: number): number => Math.min(most, a + b);

/** Adds up amounts of any names; none of them is written as 0. */
export const added = (a: Used, b: Used): Used => {
  const all: { [name: string]: number } = { ...a };
  for (const [name, amount] of Object.entries(b)) all[name] = sum(all[name] ?? 0, amount);
  return Object.fromEntries(Object.entries(all).filter(([, amount]) => amount > 0));
};

/** Returns whether an attempt tells its tokens; 0 is told as well. */
export const isMetered = ({ input_tokens, output_tokens }: Usage): boolean =>
  input_tokens !== undefined || output_tokens !== undefined;

const priced = (tokens: number, price: number): number => Math.min(most, Math.max(0, tokens) * price);

/** The cost of usage: tokens that were read from a cache or written to it, and those of reasoning, have prices of their own. */
export const costOf = (usage: Usage, price: Price): number => {
  const { input_tokens: input = 0, cached_input_tokens: cached = 0, cache_write_tokens: written = 0 } = usage;
  const { output_tokens: output = 0, reasoning_tokens: reasoning = 0 } = usage;
  return [
    priced(input - cached - written, price.input),
    priced(cached, price.cached_input ?? price.input),
    priced(written, price.cache_write ?? price.input),
    priced(output - reasoning, price.output),
    priced(reasoning, price.reasoning ?? price.output),
  ].reduce(sum, 0);
};

/** Converts usage to amounts of a ledger. An attempt that does not tell its tokens is counted as unmetered. */
export const charge = (usage: Usage, price: Price | undefined): Used => {
  if (!isMetered(usage)) return { unmetered: 1 };
  const { input_tokens: input = 0, output_tokens: output = 0 } = usage;
  const tokens = { input_tokens: input, output_tokens: output, total_tokens: sum(input, output) };
  return added({}, price === undefined ? { ...tokens, unpriced: 1 } : { ...tokens, cost: costOf(usage, price) });
};

/** As `charge`, of an attempt that failed: without tokens nothing was paid. */
export const chargeFailed = (usage: Usage | undefined, price: Price | undefined): Used =>
  usage === undefined || !isMetered(usage) ? {} : charge(usage, price);

const amountOf = ({ used, reserved }: Level, what: What): number => sum(used[what] ?? 0, reserved[what] ?? 0);

/** The limits that are reached: those of the turn first, each level in the order of `whats`. */
export const reachedIn = (levels: readonly Level[], but?: What): readonly Reached[] =>
  levels.flatMap((level) =>
    whats.flatMap((what): readonly Reached[] => {
      const limit = level.limits[what]?.limit;
      const used = amountOf(level, what);
      return limit === undefined || what === but || used < limit ? [] : [{ of: level.of, what, limit, used }];
    }),
  );

const thenOf = (levels: readonly Level[], { of, what }: Reached): Then => {
  const limit = levels.find((level) => level.of === of)?.limits[what];
  return limit?.then ?? (what === "model_calls" ? "fail" : "ask");
};

/** Decides by the limits that are reached: the strictest of what they say counts. */
export const verdictOn = (levels: readonly Level[], reached: readonly Reached[]): "go" | Then => {
  const thens = reached.map((one) => thenOf(levels, one));
  return (["fail", "wrap_up", "ask"] as const).find((then) => thens.includes(then)) ?? "go";
};

/** Computes what is left of a limit at its level; undefined where there is none. */
const leftAt = (level: Level, what: What): number | undefined => {
  const limit = level.limits[what]?.limit;
  return limit === undefined ? undefined : Math.max(0, limit - amountOf(level, what));
};

const leftOf = (levels: readonly Level[], what: What): number | undefined => {
  const left = levels.flatMap((level) => leftAt(level, what) ?? []);
  return left.length === 0 ? undefined : Math.min(...left);
};

/** How much the next answer may say, in tokens: at least one, so that it may end; undefined where nothing bounds it. */
export const outputCap = (levels: readonly Level[], own?: number): number | undefined => {
  const bounds = [own, leftOf(levels, "output_tokens"), leftOf(levels, "total_tokens")];
  const known = bounds.filter((bound) => bound !== undefined);
  return known.length === 0 ? undefined : Math.max(1, Math.min(...known));
};

/** Amounts that can be shared out; time passes for all at once. */
const shared: readonly What[] = whats.filter((what) => what !== "wall_ms");

/** The part of what is left for one of `among` sub-agents, or as much as it asks for. What has no limit is not granted. */
export const grantOf = (levels: readonly Level[], among: number, wanted: Amounts = {}): Amounts =>
  Object.fromEntries(
    shared.flatMap((what) => {
      const left = leftOf(levels, what);
      if (left === undefined) return [];
      const part = Math.floor(left / Math.max(1, among));
      return [[what, Math.min(part, wanted[what] ?? part)]];
    }),
  );

/** The limits of a sub-agent with this grant: at each it does as the level does that leaves it the least. */
export const limitsOfGrant = (levels: readonly Level[], amounts: Amounts): Limits =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, limit]) => {
      const what = name as What;
      const least = leftOf(levels, what);
      const then = levels.find((level) => leftAt(level, what) === least)?.limits[what]?.then;
      // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
      return [what, then === undefined ? { limit } : { limit, then }];
    }),
  );

/** Sums up what is set aside for sub-agents; with `turn`, for those of one turn. */
export const reservedBy = (grants: readonly Grant[], turn?: string): Amounts =>
  grants
    .filter((grant) => turn === undefined || grant.turn === turn)
    .reduce((all, { amounts }) => added(all, amounts), {});

/** Leaves out what a parent is not charged for: the time of a sub-agent. */
export const chargedOf = (used: Used): Used => {
  const { wall_ms: _, ...rest } = used;
  return rest;
};

/** Limits with more added to those that stand. */
export const raised = (limits: Limits, add: Amounts = {}): Limits =>
  Object.fromEntries(
    Object.entries(limits).map(([what, limit]) => [
      what,
      { ...limit, limit: sum(limit.limit, add[what as What] ?? 0) },
    ]),
  );

/** A grant with more added to what it is limited in. */
export const raisedGrant = (amounts: Amounts, add: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).map(([what, amount]) => [what, sum(amount, add[what as What] ?? 0)]));

// Codecs.

export const UsageCodec: Codec<Usage> = record<Usage>("struct Usage", {
  input_tokens: optional(u64),
  cached_input_tokens: optional(u64),
  cache_write_tokens: optional(u64),
  output_tokens: optional(u64),
  reasoning_tokens: optional(u64),
  raw: optional(json),
});
export const GrantCodec: Codec<Grant> = record<Grant>("struct Grant", {
  name: string,
  turn: string,
  call: string,
  amounts: AmountsCodec,
});
export const PriceCodec: Codec<Price> = record<Price>("struct Price", {
  input: u64,
  cached_input: optional(u64),
  cache_write: optional(u64),
  output: u64,
  reasoning: optional(u64),
});
export const ReachedCodec: Codec<Reached> = record<Reached>("struct Reached", {
  of: oneOf("a level", "turn", "session"),
  what: oneOf<What>("what is limited", ...whats),
  limit: u64,
  used: u64,
});
