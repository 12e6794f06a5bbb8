/** What a journal in memory keeps of moves. */
import type { StoredScope } from "./memory-scope.ts";
import type { Adoption, MoveEnd, MoveStore } from "./move-store.ts";
import type { ScopeSecret } from "../scope/token.ts";

interface Moves {
  readonly ends: Map<string, MoveEnd>;
  readonly secrets: Map<string, ScopeSecret>;
}

export const memoryMoves = (at: (scope: string) => StoredScope): MoveStore => {
  const scopes = new Map<string, Moves>();
  const of = (scope: string): Moves => {
    const moves = scopes.get(scope) ?? { ends: new Map(), secrets: new Map() };
    scopes.set(scope, moves);
    return moves;
  };
  const adopt = (adoption: Adoption): Awaited<ReturnType<MoveStore["adopt"]>> => {
    const { ends, secrets } = of(adoption.scope);
    const ended = ends.get(adoption.nonce);
    if (ended !== undefined) return ended.type === "never" ? ended : { type: "ok" };
    const fenced = at(adoption.scope).adopt(adoption);
    if (fenced !== undefined) return fenced;
    ends.set(adoption.nonce, { type: "received", epoch: adoption.epoch });
    for (const secret of adoption.secrets) secrets.set(`${secret.kid} ${secret.secret}`, secret);
    return { type: "ok" };
  };
  const decline = (scope: string, nonce: string): MoveEnd => {
    const { ends } = of(scope);
    const end = ends.get(nonce) ?? { type: "never" };
    ends.set(nonce, end);
    return end;
  };
  return {
    adopt: async (adoption) => adopt(adoption),
    decline: async (scope, nonce) => decline(scope, nonce),
    ended: async (scope, nonce) => of(scope).ends.get(nonce),
    secrets: async (scope) => [...of(scope).secrets.values()],
    index: async (scope) => at(scope).index(),
  };
};
