/** The invariants of effects, one function each: what is broken, and in which body. */
import type { Check } from "../concern.ts";
import { type BodyState, type CallRow, bodyOf } from "./model.ts";
import { effectBatch } from "../kernel/ids.ts";
import type { State } from "../kernel/state.ts";
import type { Waiter } from "../wait/model.ts";

type Broken = (body: BodyState, row: CallRow) => string | undefined;

const firstOf = (state: State, broken: Broken): string | undefined => {
  for (const row of state.calls.rows()) {
    const body = bodyOf(row);
    const what = body === undefined ? undefined : broken(body, row);
    if (what !== undefined) return `body of \`${row.call.ref}\` (${row.phase}): ${what}`;
  }
  return undefined;
};

export const checkE1: Check = (state) =>
  firstOf(state, ({ open }) => {
    const keys = new Set(open.map(({ key }) => key));
    return keys.size === open.length ? undefined : `E1: ${open.length} open effects have ${keys.size} keys`;
  });

export const checkE2: Check = (state) =>
  firstOf(state, ({ settled, attempt }) => {
    for (const [key, effect] of settled) {
      const isOrdered = effect.requested <= effect.settled && effect.settled <= state.seq;
      if (!isOrdered) return `E2: \`${key}\` was asked at ${effect.requested} and settled at ${effect.settled}`;
      if (effect.attempt > attempt) return `E2: \`${key}\` settled in attempt ${effect.attempt} of ${attempt}`;
    }
    return undefined;
  });

export const checkE3: Check = (state) =>
  firstOf(state, ({ open }) => {
    const stray = open.find(({ kind, due }) =>
      due === undefined ? kind === "sleep" : kind !== "sleep" && kind !== "wait",
    );
    return stray === undefined ? undefined : `E3: a ${stray.kind} \`${stray.key}\` is due at ${stray.due?.at}`;
  });

const isWaiter = (waiters: readonly Waiter[], call: string, effect: string): boolean =>
  waiters.some((waiter) => waiter.call === call && waiter.effect === effect);

/** One way; the other way is W3. */
export const checkE4: Check = (state) =>
  firstOf(state, ({ open }, { call }) => {
    const stray = open.find(({ kind, wait, key }) => {
      if ((kind === "wait") !== (wait !== undefined)) return true;
      return wait !== undefined && !isWaiter(state.waits.at(wait)?.waiters ?? [], call.ref, key);
    });
    return stray === undefined ? undefined : `E4: \`${stray.key}\` is no waiter of \`${stray.wait}\``;
  });

export const checkE5: Check = (state) => {
  const childless = firstOf(state, ({ open }, { call }) => {
    const stray = open.find(({ kind, key }) => {
      const parent = kind === "batch" ? state.batches.at(effectBatch(call.ref, key))?.parent : undefined;
      return kind === "batch" && (parent?.call !== call.ref || parent.effect !== key);
    });
    return stray === undefined ? undefined : `E5: its batch \`${stray.key}\` is not live`;
  });
  if (childless !== undefined) return childless;
  for (const { ref, parent } of state.batches.rows()) {
    const row = parent === undefined ? undefined : state.calls.at(parent.call);
    const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
    const isOwned = open.some(({ kind, key }) => kind === "batch" && key === parent?.effect);
    if (parent !== undefined && !isOwned) return `E5: no body has the batch \`${ref}\` open`;
  }
  return undefined;
};

/** A choice that is made is on record at once. */
export const checkE6: Check = (state) =>
  firstOf(state, ({ open, settled }) => {
    const stray = open.find(({ kind, select }) => {
      if (kind !== "select") return select !== undefined;
      const keys = select?.keys ?? [];
      return !keys.every((key) => settled.has(key) || open.some((other) => other.key === key));
    });
    return stray === undefined ? undefined : `E6: \`${stray.key}\` chooses from what is not there`;
  });

export const checkE7: Check = (state) =>
  firstOf(state, ({ open }) => {
    const stray = open.find(({ kind, cleanupMs }) => (kind === "cleanup") !== (cleanupMs !== undefined));
    return stray === undefined ? undefined : `E7: a ${stray.kind} \`${stray.key}\` cleans up for ${stray.cleanupMs} ms`;
  });

export const effectChecks: readonly Check[] = [checkE1, checkE2, checkE3, checkE4, checkE5, checkE6, checkE7];
