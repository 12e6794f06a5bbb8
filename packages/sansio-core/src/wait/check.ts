/** The invariants of waits, one function each: what is broken, and in which wait. */
import { firstBroken } from "../kernel/error.ts";
import type { Check } from "../concern.ts";
import { isLifeOver } from "../call/life.ts";
import { bodyOf } from "../call/row.ts";
import type { State } from "../kernel/vocabulary.ts";
import type { Waiter, WaitRow } from "./model.ts";

const firstOf = (state: State, broken: (row: WaitRow) => string | undefined): string | undefined =>
  firstBroken(state.waits.rows(), (row) => `wait \`${row.key}\``, broken);

const isOver = ({ terminal, revoked }: WaitRow): boolean => terminal !== undefined || revoked === true;

export const checkW1: Check = (state) =>
  firstOf(state, (row) => (isOver(row) && row.waiters.length > 0 ? "W1: it is over, and is waited for" : undefined));

export const checkW2: Check = (state) => {
  const open = firstOf(state, (row) =>
    row.requests.length === 0 && !isOver(row) ? "W2: nobody claims it, and it is not over" : undefined,
  );
  const unclaimed = state.waits.rows().filter(({ requests }) => requests.length === 0).length;
  return (
    open ?? (unclaimed === state.unclaimed ? undefined : `W2: counts ${state.unclaimed} unclaimed of ${unclaimed}`)
  );
};

const resolved = (state: State): number =>
  state.waits.rows().filter(({ requests, terminal }) => requests.length === 0 && terminal !== undefined).length;

/** A resolution makes no more of them than are allowed; a smaller bound, and a revocation, may leave more. */
export const checkW2Change = (before: State, after: State): string | undefined => {
  if (after.unclaimed <= before.unclaimed) return undefined;
  const max = after.scope.options.max_unclaimed;
  const isAllowed = after.unclaimed <= max || resolved(after) <= resolved(before);
  return isAllowed ? undefined : `W2: a resolution made ${after.unclaimed} unclaimed of ${max}`;
};

const waits = (state: State, key: string, { call, effect }: Waiter): boolean => {
  const row = state.calls.at(call);
  if (row === undefined) return false;
  if (effect === undefined) return row.phase === "pending" && row.key === key;
  return bodyOf(row)?.open.some((open) => open.key === effect && open.wait === key) ?? false;
};

export const checkW3: Check = (state) => {
  const invalid = firstOf(state, ({ key, waiters }) => {
    const waiter = waiters.find((one) => !waits(state, key, one));
    return waiter === undefined ? undefined : `W3: \`${waiter.call}\` does not wait for it`;
  });
  if (invalid !== undefined) return invalid;
  for (const row of state.calls.rows()) {
    if (row.phase !== "pending") continue;
    const waiters = state.waits.at(row.key)?.waiters ?? [];
    const isHeard = waiters.some(({ call, effect }) => call === row.call.ref && effect === undefined);
    if (!isHeard) return `call \`${row.call.ref}\`: W3: it is pending, and no waiter of \`${row.key}\``;
  }
  return undefined;
};

/** The keys that each running request lists. */
const listed = (state: State): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    state.requests
      .rows()
      .flatMap((row) => (row.phase === "running" ? [[row.request, new Set(row.waits)] as const] : [])),
  );

export const checkW4: Check = (state) => {
  const lists = listed(state);
  const unlisted = firstOf(state, ({ key, requests }) => {
    const invalid = requests.find((id) => !lists.get(id)?.has(key));
    return invalid === undefined ? undefined : `W4: \`${invalid}\` does not list it`;
  });
  if (unlisted !== undefined) return unlisted;
  for (const row of state.requests.rows()) {
    if (row.phase !== "running") continue;
    const invalid = row.waits.find((key) => !state.waits.at(key)?.requests.includes(row.request));
    if (invalid !== undefined) return `request \`${row.request}\`: W4: it does not hold \`${invalid}\``;
    if (lists.get(row.request)?.size !== row.waits.length)
      return `request \`${row.request}\`: W4: it lists a wait twice`;
  }
  return undefined;
};

export const checkW5: Check = (state) =>
  state.deletion === undefined
    ? undefined
    : firstOf(state, (row) => (isOver(row) ? undefined : "W5: it is open, and its session is deleted"));

export const checkW6: Check = (state) =>
  firstOf(state, ({ key, own }) => {
    if (own === undefined) return undefined;
    const row = state.calls.at(own.call);
    if (isLifeOver(row, own.life)) return `W6: it is of \`${own.call}\`, which is over`;
    const isListed = row !== undefined && bodyOf(row)?.waits.includes(key) === true;
    return isListed ? undefined : `W6: \`${own.call}\` does not list it as its own`;
  });

export const waitChecks: readonly Check[] = [checkW1, checkW2, checkW3, checkW4, checkW5, checkW6];
export const waitChangeChecks = [checkW2Change] as const;
