/** race, any, all, allSettled over effects of one body: which of them decides, by their places in the log. */
import type { EffectStatus, SelectMode, SettledEffect } from "./effect-model.ts";

export interface Winner {
  readonly key: string;
  readonly status: EffectStatus;
}
type Settled = { readonly get: (key: string) => SettledEffect | undefined };
type Member = readonly [key: string, effect: SettledEffect];

const byPlace = ([, a]: Member, [, b]: Member): number => a.settled - b.settled || a.index - b.index;

const winner = (member: Member | undefined): Winner | undefined =>
  member === undefined ? undefined : { key: member[0], status: member[1].status };

/** Who decides, or undefined while nobody does. */
export const decideSelect = (mode: SelectMode, keys: readonly string[], settled: Settled): Winner | undefined => {
  const done = keys
    .flatMap((key): Member[] => {
      const effect = settled.get(key);
      return effect === undefined ? [] : [[key, effect]];
    })
    .toSorted(byPlace);
  const isOver = done.length === keys.length;
  const first = (status: EffectStatus): Winner | undefined =>
    winner(done.find(([, effect]) => effect.status === status));
  switch (mode) {
    case "race":
      return winner(done[0]);
    case "any":
      return first("ok") ?? (isOver ? winner(done.at(-1)) : undefined);
    case "all":
      return first("err") ?? (isOver ? winner(done.at(-1)) : undefined);
    case "all_settled": {
      const last = isOver ? done.at(-1) : undefined;
      return last === undefined ? undefined : { key: last[0], status: "ok" };
    }
  }
};
