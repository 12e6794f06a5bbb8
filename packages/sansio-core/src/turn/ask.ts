/** Asks a model: the n-th model call of a turn, and its attempts. */
import type { Draft } from "../kernel/draft.ts";
import { Invariant } from "../kernel/error.ts";
import type { State } from "../kernel/vocabulary.ts";
import { type Level, type Reached, outputCap } from "./budget.ts";
import {
  agentOf,
  change,
  charged,
  conversationOf,
  inPhase,
  levelsOf,
  observe,
  put,
  routeOf,
  endTurn,
} from "./conversation.ts";
import type { ModelKind } from "./event.ts";
import type { ModelCall, PhaseIn, RunningTurn, TurnCommand } from "./model.ts";

type Ask = Extract<TurnCommand, { readonly type: "model.ask" }>;

const executionScopeOf = ({ requests }: State, request: string): string => {
  const row = requests.at(request);
  if (row === undefined) throw new Invariant(`turn ${request} has no request`);
  return row.executionScope;
};

/** The command that asks for an attempt: the same when it is asked for, and when a new owner is told of it. */
export const askOf = (state: State, row: RunningTurn, call: ModelCall): Ask => ({
  type: "model.ask",
  request: row.request,
  n: call.n,
  attempt: call.attempt,
  kind: call.kind,
  key: `${executionScopeOf(state, row.request)}:model:${call.n}.${call.failures}`,
  frame: row.frame,
  agent: agentOf(row).seq,
  route: call.route,
  mode: call.mode,
  ...(call.mode === "fetch" && call.providerId !== undefined ? { provider_id: call.providerId } : {}),
  tools: call.withoutTools !== true,
  ...(call.cap === undefined ? {} : { max_output_tokens: call.cap }),
});

/** A limit of cost cannot be held where the model has no price. */
const isUnpriced = (draft: Draft, levels: readonly Level[], model: string): boolean =>
  draft.options.unpriced === "fail" &&
  levels.some(({ limits }) => limits.cost !== undefined) &&
  !conversationOf(draft).prices.has(model);

/** Asks for an attempt. The first of a model call is counted, whatever comes of it. */
export const ask = (draft: Draft, row: RunningTurn, call: ModelCall): void => {
  const { model, max_output_tokens: own } = routeOf(row, call.route);
  const levels = levelsOf(draft, row);
  if (isUnpriced(draft, levels, model)) {
    const message = `a limit of cost stands, and the model \`${model}\` has no price`;
    return endTurn(draft, row, { status: "failed", code: "price_missing", message });
  }
  const { cap: _, ...rest } = call;
  const cap = outputCap(levels, own);
  const bound = cap === undefined ? rest : { ...rest, cap };
  const opened = { ...bound, streamed: [], pieces: [], epoch: draft.scope.epoch, asked: draft.seq };
  const counted = call.attempt === 1 ? charged(row, { model_calls: 1 }) : row;
  put(draft, inPhase(draft, { ...counted, n: call.n }, { type: "asking", call: opened }));
  draft.emit(askOf(draft.state, row, opened));
  const { n, attempt } = call;
  if (attempt > 1) observe(draft, row.request, { what: "model_reset", n, attempt, keep: call.prefix.length });
  observe(draft, row.request, { what: "model_asked", n, attempt });
};

/** Begins the next model call of a turn. */
export const askNext = (
  draft: Draft,
  row: RunningTurn,
  kind: ModelKind,
  more: Pick<ModelCall, "withoutTools" | "range"> = {},
): void =>
  ask(draft, row, {
    kind,
    n: row.n + 1,
    attempt: 1,
    mode: "fresh",
    failures: 0,
    route: row.route,
    onRoute: 0,
    losses: 0,
    streamed: [],
    pieces: [],
    prefix: "",
    prefixed: [],
    epoch: draft.scope.epoch,
    asked: draft.seq,
    ...more,
  });

/** Numbers a question about budgets, and parks the turn until a person decides. */
export const park = (
  draft: Draft,
  row: RunningTurn,
  reached: readonly Reached[],
  at: Pick<PhaseIn<"parked">, "call" | "end">,
): void => {
  const number = conversationOf(draft).asks + 1;
  change(draft, { asks: number });
  put(draft, inPhase(draft, row, { type: "parked", ask: number, reached, since: draft.at, ...at }));
  observe(draft, row.request, { what: "turn_parked", ask: number, reached });
};
