/** The invariants of effects, one function each: what is broken, and in which body. */
import { isForgotten } from "./ask.ts";
import type { ChangeCheck, Check } from "../../concern.ts";
import { firstBroken } from "../../kernel/error.ts";
import { type State, effectBatch } from "../../kernel/vocabulary.ts";
import type { Waiter } from "../../wait/model.ts";
import { type EffectKind, firstTry } from "./effect.ts";
import { readsFirstAnswers } from "../life.ts";
import type { BodyState, CallRow } from "../model.ts";
import { bodyOf } from "../row.ts";

type Broken = (body: BodyState, row: CallRow) => string | undefined;

const firstBody = (state: State, broken: Broken): string | undefined =>
  firstBroken(
    state.calls.rows(),
    (row) => `body of \`${row.call.ref}\` (${row.phase})`,
    (row) => {
      const body = bodyOf(row);
      return body === undefined ? undefined : broken(body, row);
    },
  );

export const checkE1: Check = (state) =>
  firstBody(state, ({ open }) => {
    const keys = new Set(open.map(({ key }) => key));
    return keys.size === open.length ? undefined : `E1: ${open.length} open effects have ${keys.size} keys`;
  });

export const checkE2: Check = (state) =>
  firstBody(state, ({ settled, attempt }) => {
    for (const [key, effect] of settled) {
      const isOrdered = effect.requested <= effect.settled && effect.settled <= state.seq;
      if (!isOrdered) return `E2: \`${key}\` was asked at ${effect.requested} and settled at ${effect.settled}`;
      if (effect.first !== undefined && effect.first >= effect.settled)
        return `E2: \`${key}\` was first answered at ${effect.first}, and reused at ${effect.settled}`;
      if (effect.attempt > attempt) return `E2: \`${key}\` settled in attempt ${effect.attempt} of ${attempt}`;
    }
    return undefined;
  });

const mayBeDue: ReadonlySet<EffectKind> = new Set(["sleep", "wait", "approval"]);

export const checkE3: Check = (state) =>
  firstBody(state, ({ open }) => {
    const invalid = open.find(({ kind, due, try: number }) =>
      due === undefined ? kind === "sleep" : !mayBeDue.has(kind) && number === undefined,
    );
    return invalid === undefined ? undefined : `E3: a ${invalid.kind} \`${invalid.key}\` is due at ${invalid.due?.at}`;
  });

const isWaiter = (waiters: readonly Waiter[], call: string, effect: string): boolean =>
  waiters.some((waiter) => waiter.call === call && waiter.effect === effect);

/** One way; the other way is W3. */
export const checkE4: Check = (state) =>
  firstBody(state, ({ open }, { call }) => {
    const invalid = open.find(({ kind, wait, key }) => {
      if ((kind === "wait") !== (wait !== undefined)) return true;
      return wait !== undefined && !isWaiter(state.waits.at(wait)?.waiters ?? [], call.ref, key);
    });
    return invalid === undefined ? undefined : `E4: \`${invalid.key}\` is no waiter of \`${invalid.wait}\``;
  });

export const checkE5: Check = (state) => {
  const childless = firstBody(state, ({ open }, { call }) => {
    const invalid = open.find(({ kind, key }) => {
      const parent = kind === "batch" ? state.batches.at(effectBatch(call.ref, key))?.parent : undefined;
      return kind === "batch" && (parent?.call !== call.ref || parent.effect !== key);
    });
    return invalid === undefined ? undefined : `E5: its batch \`${invalid.key}\` is not live`;
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
  firstBody(state, ({ open, settled }) => {
    const invalid = open.find(({ kind, select }) => {
      if (kind !== "select") return select !== undefined;
      const keys = select?.keys ?? [];
      return !keys.every((key) => settled.has(key) || open.some((other) => other.key === key));
    });
    return invalid === undefined ? undefined : `E6: \`${invalid.key}\` chooses from what is not there`;
  });

export const checkE7: Check = (state) =>
  firstBody(state, ({ open }) => {
    const invalid = open.find(({ kind, cleanupMs }) => (kind === "cleanup") !== (cleanupMs !== undefined));
    return invalid === undefined
      ? undefined
      : `E7: a ${invalid.kind} \`${invalid.key}\` cleans up for ${invalid.cleanupMs} ms`;
  });

export const checkE9: Check = (state) =>
  firstBody(state, ({ open }) => {
    const invalid = open.find(
      ({ kind, recovery, try: number }) =>
        number !== undefined && (kind !== "step" || recovery === "once" || number <= firstTry),
    );
    return invalid === undefined ? undefined : `E9: a ${invalid.kind} \`${invalid.key}\` is in try ${invalid.try}`;
  });

export const checkE10: Check = (state) =>
  firstBody(state, ({ open }) => {
    const invalid = open.find(({ kind, approval }) => (kind === "approval") !== (approval !== undefined));
    return invalid === undefined ? undefined : `E10: a ${invalid.kind} \`${invalid.key}\` asks a person`;
  });

/** An attempt of protocol 1 reads the time of the reuse instead. */
export const checkE8Change: ChangeCheck = (before, after) =>
  firstBody(after, ({ settled, attempt, life }, row) => {
    const earlier = before.calls.at(row.call.ref);
    const was = earlier === undefined || earlier === row ? undefined : bodyOf(earlier);
    if (was?.life.number !== life.number || !readsFirstAnswers(after.scope.protocol, { attempt, life }))
      return undefined;
    for (const [key, { first, settled: place, value, attempt: reusedBy }] of settled) {
      const answer = was.settled.get(key);
      const isOlder = answer !== undefined && answer.attempt < reusedBy && value < place;
      if (!isOlder || isForgotten(answer, reusedBy) || first === (answer.first ?? answer.settled)) continue;
      return `E8: \`${key}\` was first answered at ${answer.first ?? answer.settled}, and reused as if at ${first}`;
    }
    return undefined;
  });

export const effectChecks: readonly Check[] = [
  checkE1,
  checkE2,
  checkE3,
  checkE4,
  checkE5,
  checkE6,
  checkE7,
  checkE9,
  checkE10,
];
export const effectChangeChecks = [checkE8Change] as const;
