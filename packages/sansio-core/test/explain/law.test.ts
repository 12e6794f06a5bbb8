import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { initial, nextDeadline, outstanding, step } from "../../src/machine.ts";
import { bodyOf } from "../../src/call/row.ts";
import type { Event, State } from "../../src/kernel/vocabulary.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import type { CallReason, EffectReason, Why } from "../../src/explain/model.ts";
import { type Entered, enter, why } from "../../src/explain/why.ts";
import { PersistentMap } from "../../src/kernel/persistent-map.ts";
import { play, recorded, script, statesOf } from "../arbitrary/play.ts";
import { eventOfCall, eventOfEffect, eventOfOther } from "./moves.ts";

const effectsOf = ({ what }: CallReason): readonly EffectReason[] => ("effects" in what ? what.effects : []);

/** Tries a law on every state of many histories. */
const everywhere = (broken: (state: State, found: Why) => string | undefined): void => {
  fc.assert(
    fc.property(script(80), (one) => {
      for (const state of statesOf(play(one))) {
        const what = broken(state, why(state));
        if (what !== undefined) throw new Error(`after event ${state.seq}: ${what}`);
      }
    }),
    { numRuns: 200 },
  );
};

/** The state after an event, with time as it is or at a later time. */
const after = (state: State, event: Event, at = state.at): State | string => {
  const result = step(state, { seq: state.seq + 1, at: Math.max(at, state.at), event: recorded(event) });
  return E.isLeft(result) ? `${event.type}: ${result.left.code}: ${result.left.message}` : result.right.state;
};

/** Some steps pass fewer deadlines than are due. */
const afterTime = (state: State, at: number): State => {
  let next = state;
  do next = after(next, { type: "clock.ticked" }, at) as State;
  while ((nextDeadline(next)?.at ?? Infinity) <= at);
  return next;
};

/** Calls that a reason names beside its own. */
const namedCalls = (reason: CallReason): readonly string[] => {
  const { what } = reason;
  const own = what.type === "turn_to_prepare" ? [what.behind] : what.type === "slot" ? what.behind : [];
  const batch = what.type === "batch" ? what.calls : [];
  return [...own, ...batch, ...effectsOf(reason).flatMap(({ what: on }) => (on.kind === "batch" ? on.calls : []))];
};

const strayIn = (state: State, reason: CallReason): string | undefined => {
  const row = state.calls.at(reason.call);
  if (row === undefined) return "it is not live";
  if (row.phase !== reason.phase) return `it is ${row.phase}`;
  const call = namedCalls(reason).find((ref) => state.calls.at(ref) === undefined);
  if (call !== undefined) return `it names the absent call ${call}`;
  for (const { key, what } of effectsOf(reason)) {
    if (!bodyOf(row)?.open.some((open) => open.key === key)) return `it names the absent effect ${key}`;
    if (what.kind === "wait" && state.waits.at(what.wait) === undefined) return `no wait ${what.wait}`;
    if (what.kind === "batch" && state.batches.at(what.batch) === undefined) return `no batch ${what.batch}`;
    if (what.kind === "message" && !state.links.has(what.to)) return `no link to ${what.to}`;
  }
  const { what } = reason;
  if ((what.type === "slot" || what.type === "batch") && state.batches.at(what.batch) === undefined) return "no batch";
  return what.type === "completion" && state.waits.at(what.key) === undefined ? `no wait ${what.key}` : undefined;
};

/** Says whether anything at all may move a call: an event, time, one of its effects, or another call. */
const isHopeless = (reason: CallReason): boolean =>
  reason.movedBy.length === 0 &&
  reason.until === undefined &&
  namedCalls(reason).length === 0 &&
  effectsOf(reason).every(
    ({ movedBy, until, what }) =>
      movedBy.length === 0 && until === undefined && what.kind !== "select" && what.kind !== "message",
  );

describe("why a scope stands where it stands", () => {
  it("has one reason for every live call, and none for another", () => {
    everywhere((state, { calls }) => {
      const named = calls.map(({ call }) => call).toSorted();
      const live = state.calls
        .rows()
        .map(({ call }) => call.ref)
        .toSorted();
      return named.join("\n") === live.join("\n") ? undefined : `found ${named.join()}, live are ${live.join()}`;
    });
  });

  it("names nothing that is not there, and something that can move each call", () => {
    everywhere((state, { calls }) => {
      for (const reason of calls) {
        const stray = strayIn(state, reason) ?? (isHopeless(reason) ? "nothing can move it" : undefined);
        if (stray !== undefined) return `${reason.call} (${reason.phase}): ${stray}: ${JSON.stringify(reason)}`;
      }
      return undefined;
    });
  });

  it("stands since an event of the log, and names no deadline before the scope's next one", () => {
    everywhere((state, { calls, others }) => {
      const next = nextDeadline(state)?.at ?? Infinity;
      for (const { since = 1, until = next } of [...calls, ...calls.flatMap(effectsOf), ...others]) {
        if (since < 1 || since > state.seq) return `since ${since}`;
        if (until < next) return `until ${until}, and the next deadline is ${next}`;
      }
      return undefined;
    });
  });

  it("changes by every event that it names, made from what it says", () => {
    const tried = new Set<string>();
    everywhere((state, { calls, others }) => {
      const isDue = (nextDeadline(state)?.at ?? Infinity) <= state.at; // Time passes before any event is looked at.
      if (isDue || state.scope.status.type === "moved") return undefined;
      const isOpen = state.scope.status.type === "open";
      const events = calls.flatMap((reason) => [
        [reason.movedBy, eventOfCall(reason)] as const,
        ...effectsOf(reason).map(
          (effect) => [effect.movedBy, eventOfEffect(reason, effect, state.scope.protocol)] as const,
        ),
      ]);
      const all = [...(isOpen ? events : []), ...others.map((other) => [other.movedBy, eventOfOther(other)] as const)];
      for (const [movedBy, event] of all) {
        if (event === undefined || (!isOpen && event.type !== "scope.kept")) continue;
        if (!movedBy.includes(event.type)) return `${event.type} is not among ${movedBy.join()}`;
        tried.add(event.type);
        const next = after(state, event);
        if (typeof next === "string") return next;
        if (JSON.stringify(why(next)) === JSON.stringify(why(state))) return `${event.type} moves nothing`;
      }
      return undefined;
    });
    for (const type of ["approval.decided", "call.resumed", "wait.resolved", "host.answered", "outcome.resolved"])
      expect(tried).toContain(type);
  });

  it("changes when the time comes that it names", () => {
    everywhere((state, { calls }) => {
      if (state.scope.status.type !== "open") return undefined;
      for (const reason of calls) {
        for (const until of [reason, ...effectsOf(reason)].flatMap((one) => one.until ?? [])) {
          if (until > state.at + 10_000_000) continue;
          const row = afterTime(state, until).calls.at(reason.call);
          if (row === state.calls.at(reason.call)) return `${reason.call} stands as it stood at ${until}`;
        }
      }
      return undefined;
    });
  });

  it("says the same of a restored state", () => {
    everywhere((state, found) => {
      const restored = restore(snapshot(state));
      if (E.isLeft(restored)) return "it can not be restored";
      return JSON.stringify(why(restored.right)) === JSON.stringify(found) ? undefined : "it differs";
    });
  });

  it("leaves nothing out: whatever is outstanding belongs to a reason", () => {
    everywhere((state, { calls, others }) => {
      if (outstanding(state).length === 0 || calls.length + others.length > 0) return undefined;
      return "something is outstanding, for no reason";
    });
  });
});

describe("since when", () => {
  it("is the event with which a call came to its phase", () => {
    fc.assert(
      fc.property(script(120), (one) => {
        const states = statesOf(play(one));
        const plain = new Map<string, number>();
        let entered: Entered = PersistentMap.empty();
        for (const [i, state] of states.entries()) {
          const before = states[i - 1] ?? initial(state.scope.id);
          entered = enter(entered, before, state);
          for (const { call, phase } of state.calls.rows())
            if (before.calls.at(call.ref)?.phase !== phase) plain.set(call.ref, state.seq);
          for (const ref of plain.keys()) if (state.calls.at(ref) === undefined) plain.delete(ref);
          expect(Object.fromEntries(entered)).toEqual(Object.fromEntries(plain));
        }
      }),
      { numRuns: 100 },
    );
  });
});
