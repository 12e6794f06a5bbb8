/** The world outside of the logs: every effect that was done there, and every token that was handed out. It survives all owners. */
import type { Json } from "@pawl/tool-value";

/**
 * How often an effect happens over all owners of its log: a service that honours keys does it once; a step that may not
 * run twice does it at most once; of what depends on time or on losses nothing is said.
 */
export type Claim = "once" | "at_most_once" | "any";

export interface Happened {
  /** Unique for each thing to do: no two calls of a town share one. */
  readonly effect: string;
  readonly key?: string;
  readonly claim: Claim;
}

/** A token that the outside was given, and resolves after a while. */
export interface Token {
  readonly session: string;
  readonly token: string;
  readonly as: string;
  readonly at: number;
}

/** The ledger as it is kept with a log. */
export interface LedgerText {
  readonly happened: readonly Happened[];
  readonly tokens: readonly Token[];
  readonly done: readonly string[];
  readonly replies: { readonly [request: string]: Json };
}

export const emptyLedger: LedgerText = { happened: [], tokens: [], done: [], replies: {} };

export class Ledger {
  readonly #happened: Happened[];
  readonly #tokens: Token[];
  readonly #done: Set<string>;
  readonly #replies: Map<string, Json>;

  constructor({ happened, tokens, done, replies }: LedgerText = emptyLedger) {
    this.#happened = [...happened];
    this.#tokens = [...tokens];
    this.#done = new Set(done);
    this.#replies = new Map(Object.entries(replies));
  }

  /** Records an effect. A repetition under the same key is recognised, and does nothing. */
  add(what: Happened): void {
    const isRepeated = ({ effect, key }: Happened): boolean => effect === what.effect && key === what.key;
    if (what.key === undefined || !this.#happened.some(isRepeated)) this.#happened.push(what);
  }

  hand(token: Token): void {
    if (!this.#tokens.some(({ as }) => as === token.as)) this.#tokens.push(token);
  }

  get tokens(): readonly Token[] {
    return this.#tokens;
  }

  /** Notes that somebody outside has done something, and need not do it again. */
  finish(act: string): void {
    this.#done.add(act);
  }
  isDone(act: string): boolean {
    return this.#done.has(act);
  }

  reply(request: string, said: Json): void {
    this.#replies.set(request, said);
  }
  hasReply(request: string): boolean {
    return this.#replies.has(request);
  }

  get text(): LedgerText {
    return structuredClone({
      happened: this.#happened,
      tokens: this.#tokens,
      done: [...this.#done],
      replies: Object.fromEntries(this.#replies),
    });
  }
}

const timesOf = (happened: readonly Happened[]): ReadonlyMap<string, number> => {
  const times = new Map<string, number>();
  for (const { effect } of happened) times.set(effect, (times.get(effect) ?? 0) + 1);
  return times;
};

/** Lists what is lost or doubled at the end, compared with a run that nothing disturbed. */
export const amiss = (undisturbed: LedgerText, found: LedgerText): readonly string[] => {
  const wanted = undisturbed.happened.filter(({ claim }) => claim === "once").map(({ effect }) => effect);
  const times = timesOf(found.happened);
  const lost = wanted.filter((effect) => !times.has(effect)).map((effect) => `lost: ${effect}`);
  const counted = new Set(found.happened.filter(({ claim }) => claim !== "any").map(({ effect }) => effect));
  const doubled = [...counted].filter((effect) => (times.get(effect) ?? 0) > 1);
  return [...lost, ...doubled.map((effect) => `done ${times.get(effect)} times: ${effect}`)];
};
