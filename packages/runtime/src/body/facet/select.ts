/** Choices among effects, whose winner is on record. */
import type { SelectMode } from "@pawl/sansio-core/driver";
import { EffectError } from "../../error.ts";
import { type Asking, type Durable, handled, valueOf } from "./asking.ts";

export interface Selects {
  readonly race: <const M extends readonly Durable<unknown>[]>(members: M) => Promise<Awaited<M[number]>>;
  readonly any: <const M extends readonly Durable<unknown>[]>(members: M) => Promise<Awaited<M[number]>>;
  readonly all: <const M extends readonly Durable<unknown>[]>(
    members: M,
  ) => Promise<{ readonly [I in keyof M]: Awaited<M[I]> }>;
  readonly allSettled: <const M extends readonly Durable<unknown>[]>(
    members: M,
  ) => Promise<{ readonly [I in keyof M]: PromiseSettledResult<Awaited<M[I]>> }>;
}

export const selects = (asking: Asking): Selects => {
  /** The place of the member that decided; an async function must not return the member, which it would wait for. */
  const select = async (mode: SelectMode, members: readonly Durable<unknown>[]): Promise<number> => {
    for (const member of members) member.catch(() => undefined); // Who chooses among them hears of them by the choice.
    const keys = members.map(({ key }) => key);
    const key = asking.nextName(`select:${mode}`);
    const { winner, result } = await asking.ask(key, { kind: "select", mode, keys }, [mode, ...keys]);
    if (winner === undefined) valueOf(result); // A choice that was refused says why.
    return members.findIndex((member) => member.key === winner);
  };

  const first = async <A>(mode: "race" | "any", members: readonly Durable<A>[]): Promise<A> => {
    const won = members[await select(mode, members)];
    if (won === undefined) throw new EffectError("durable_effect_select", `nothing won a ${mode} of nothing`);
    return won;
  };

  const all = async (members: readonly Durable<unknown>[]): Promise<readonly unknown[]> => {
    if (members.length > 0) await select("all", members);
    return Promise.all(members);
  };

  const allSettled = async (
    members: readonly Durable<unknown>[],
  ): Promise<readonly PromiseSettledResult<unknown>[]> => {
    if (members.length > 0) await select("all_settled", members);
    return Promise.allSettled(members);
  };

  return {
    race: (members) => handled(first("race", members)) as never,
    any: (members) => handled(first("any", members)) as never,
    all: (members) => handled(all(members)) as never,
    allSettled: (members) => handled(allSettled(members)) as never,
  };
};
