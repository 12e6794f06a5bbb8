import { PersistentMap } from "../src/kernel/persistent-map.ts";
import { mapped } from "./arbitrary/mapped.ts";
import { describe, expect, it } from "vitest";
import * as approval from "../src/call/check.ts";
import * as batch from "../src/call/check.ts";
import type { BatchRow } from "../src/call/batch.ts";
import * as call from "../src/call/check.ts";
import * as life from "../src/call/life.ts";
import type { BodyState, CallRow } from "../src/call/model.ts";
import * as unknown from "../src/call/recovery/unknown.ts";
import * as catalog from "../src/catalog/concern.ts";
import * as whole from "../src/check.ts";
import type { ChangeCheck } from "../src/concern.ts";
import { outstanding } from "../src/machine.ts";
import { Deadlines } from "../src/kernel/deadline.ts";
import * as effect from "../src/call/effect/check.ts";
import type { OpenEffect } from "../src/call/effect/effect.ts";
import type { BatchRef, CallRef, State } from "../src/kernel/vocabulary.ts";
import * as outbox from "../src/link/check.ts";
import * as request from "../src/request/concern.ts";
import * as scope from "../src/scope/concern.ts";
import { Table } from "../src/kernel/table.ts";
import * as wait from "../src/wait/check.ts";
import type { WaitRow } from "../src/wait/model.ts";
import { Rig, tool } from "./rig.ts";
import { ask, pend, resolve, step, stepOk, submit } from "./scenario/words.ts";

/** A state with something of everything: `a` waits and has a step settled, `b` is pending, `c` is parked. */
const rich = (): State => {
  const rig = submit(
    Rig.open([tool("echo"), tool("guarded", { policy: "requires_approval" })]),
    "echo",
    "echo",
    "guarded",
  );
  const preparation = { type: "prepared", tool_id: "tool:guarded", args: {}, args_hash: "h", payload: null } as const;
  rig.skip().tell({ type: "call.prepared", call: "r:c", preparation }).skip();
  stepOk(ask(rig, "r:a", "done", step()).skip(), "r:a", "done").skip();
  ask(rig, "r:a", "open", step()).skip();
  ask(rig, "r:a", "w", { kind: "wait", wait: "k", deadline_ms: 500 }).skip();
  ask(rig, "r:a", "choice", { kind: "select", mode: "race", keys: ["w"] }).skip();
  pend(rig, "r:b", "key").skip();
  resolve(rig, "early", 1).skip();
  return rig.state;
};

const withCall = (ref: string, more: object): State => {
  const state = rich();
  return { ...state, calls: state.calls.replace(ref, { ...state.calls.at(ref), ...more } as CallRow) };
};
const withBody = (change: (body: BodyState) => Partial<BodyState>): State => {
  const row = rich().calls.at("r:a");
  const body = row !== undefined && "body" in row ? row.body : undefined;
  return withCall("r:a", { body: { ...body, ...change(body as BodyState) } });
};
const underProtocol2 = (state: State): State => ({ ...state, scope: { ...state.scope, protocol: 2 } });
const withOpen = (change: (open: readonly OpenEffect[]) => readonly OpenEffect[]): State =>
  withBody(({ open }) => ({ open: change(open) }));
const withBatch = (more: Partial<BatchRow>): State => {
  const state = rich();
  return { ...state, batches: state.batches.replace("r:", { ...(state.batches.at("r:") as BatchRow), ...more }) };
};
const withWait = (key: string, more: Partial<WaitRow>): State => {
  const state = rich();
  return { ...state, waits: state.waits.replace(key, { ...(state.waits.at(key) as WaitRow), ...more }) };
};
const child = (more: Partial<BatchRow>): State => {
  const state = rich();
  const row = { ...(state.batches.at("r:") as BatchRow), ref: "x" as BatchRef, ...more };
  return { ...state, batches: state.batches.set("x", row) };
};

const broken: { readonly [name: string]: readonly [whole.Check, State] } = {
  C1: [call.checkC1, withBatch({ calls: ["r:b", "r:a", "r:c"] as unknown as readonly CallRef[] })],
  C2: [call.checkC2, withBody(() => ({ run: 0 }))],
  C3: [call.checkC3, withCall("r:a", { observed: false })],
  C4: [call.checkC4, withOpen(([first]) => [{ ...(first as OpenEffect), key: "done" }])],
  C5: [call.checkC5, withOpen((open) => open.toReversed())],
  C8: [call.checkC8, withCall("r:a", { cancelled: { seq: 1, cleans: false } })],
  C13: [unknown.checkC13, withBody(() => ({ version: "v2", failed: [{ version: "v2", cause: "diverged" }] }))],
  C6: [call.checkC6, withCall("r:a", { phase: "backing_off" })],
  C10: [call.checkC10, withCall("r:a", { phase: "suspended" })],
  C11: [call.checkC11, withCall("r:a", { phase: "suspended", link: { to: "process:p", since: 1 } })],
  C9: [life.checkC9, withBody(() => ({ life: { ...life.firstLife, attempt: 2 } }))],
  B1: [batch.checkB1, withBatch({ calls: ["r:x"] as unknown as readonly CallRef[] })],
  B2: [batch.checkB2, withBatch({ unfinished: 1 })],
  B3: [batch.checkB3, withBatch({ occupied: 2 })],
  B5: [batch.checkB5, withBatch({ phase: "cancelling" })],
  B6: [batch.checkB6, withBatch({ phase: "ended" })],
  B7: [batch.checkB7, withCall("r:b", { phase: "ready", due: { at: 1, birth: 1 } })],
  R1: [request.checkR1, { ...rich(), batches: Table.empty() }],
  R2: [request.checkR2, withCall("r:b", { call: { ...rich().calls.at("r:b")?.call, id: "a" } })],
  E1: [effect.checkE1, withOpen((open) => [...open, ...open])],
  E2: [effect.checkE2, withBody(({ settled }) => ({ settled: mapped(settled, (one) => ({ ...one, settled: 1 })) }))],
  E3: [effect.checkE3, withOpen(([first]) => [{ ...(first as OpenEffect), due: { at: 1, birth: 1 } }])],
  E4: [effect.checkE4, withOpen((open) => open.map((one) => (one.kind === "wait" ? { ...one, wait: "other" } : one)))],
  E5: [effect.checkE5, child({ parent: { call: "r:a" as CallRef, effect: "b" } })],
  E6: [effect.checkE6, withOpen((open) => open.filter(({ kind }) => kind === "select"))],
  E7: [effect.checkE7, withOpen(([first]) => [{ ...(first as OpenEffect), cleanupMs: 1 }])],
  E9: [effect.checkE9, withOpen(([first]) => [{ ...(first as OpenEffect), try: 1 }])],
  E10: [effect.checkE10, withOpen(([first]) => [{ ...(first as OpenEffect), kind: "approval" }])],
  W1: [wait.checkW1, withWait("early", { waiters: [{ call: "r:b" as CallRef }] })],
  W2: [wait.checkW2, { ...rich(), unclaimed: 2 }],
  W3: [wait.checkW3, withWait("key", { waiters: [] })],
  W4: [wait.checkW4, withWait("key", { requests: [] })],
  W6: [wait.checkW6, withWait("early", { own: { call: "r:a" as CallRef } })],
  W5: [wait.checkW5, { ...rich(), deletion: { asked: [], orphaned: [], preserved: [] } }],
  A1: [approval.checkA1, withCall("r:c", { manifest: tool("echo") })],
  A3: [approval.checkA3, { ...rich(), awaitingApproval: 0 }],
  O1: [
    outbox.checkO1,
    {
      ...rich(),
      outbox: PersistentMap.of([["x", { type: "external.cancel", call: "r:a" as CallRef, key: "y", born: 1 }]]),
    },
  ],
  K1: [catalog.checkK1, { ...rich(), catalog: { ...rich().catalog, byName: PersistentMap.empty() } }],
  K2: [
    catalog.checkK2,
    { ...rich(), catalog: { ...rich().catalog, overrides: PersistentMap.of([["x", "never" as never]]) } },
  ],
  deadline: [whole.checkNextDeadline, { ...rich(), deadlines: Deadlines.none }],
  waits: [whole.checkTables, { ...rich(), waits: rich().waits.set("x", rich().waits.at("key") as WaitRow) }],
  "deadline of": [whole.checkNumbers, withCall("r:a", { due: { at: 2 ** 53, birth: 1 } })],
  call: [whole.checkPast, withBody(() => ({ startedAt: 10 ** 9 }))],
};

const changes: { readonly [name: string]: readonly [ChangeCheck, State, State] } = {
  C2: [call.checkC2Change, withBody(() => ({ run: 2 })), rich()],
  C9: [life.checkC9Change, rich(), withBody(() => ({ life: { ...life.firstLife, number: 2 } }))],
  E8: [
    effect.checkE8Change,
    underProtocol2(withBody(() => ({ attempt: 2 }))),
    underProtocol2(
      withBody(({ settled, startedAt }) => ({
        attempt: 2,
        settled: mapped(settled, (one) => ({ ...one, attempt: 2, settled: startedAt })),
      })),
    ),
  ],
  C7: [
    call.checkC7Change,
    withCall("r:c", { phase: "preparing", manifest: tool("echo") }),
    withCall("r:c", { phase: "ready" }),
  ],
  B4: [
    batch.checkB4Change,
    rich(),
    { ...withBatch({ occupied: 3 }), scope: { ...rich().scope, options: { ...rich().scope.options, concurrency: 1 } } },
  ],
  R3: [
    request.checkR3Change,
    rich(),
    { ...rich(), requests: Table.of([["r", { ...rich().requests.at("r"), phase: "replying", replies: [] } as never]]) },
  ],
  W2: [
    wait.checkW2Change,
    { ...rich(), unclaimed: 0, waits: Table.empty() },
    { ...rich(), scope: { ...rich().scope, options: { ...rich().scope.options, max_unclaimed: 0 } } },
  ],
  A2: [
    approval.checkA2Change,
    {
      ...withCall("r:c", { phase: "preparing" }),
      sticky: PersistentMap.of([["tool:guarded", { decision: "approve", by: "p" }]]),
    },
    rich(),
  ],
  S1: [scope.checkS1Change, { ...rich(), scope: { ...rich().scope, epoch: 9 } }, rich()],
  S2: [scope.checkS2Change, { ...rich(), scope: { ...rich().scope, protocol: 9 } }, rich()],
  S3: [
    scope.checkS3Change,
    { ...rich(), scope: { ...rich().scope, status: { type: "moved", to: "b", nonce: "n" } } },
    { ...rich(), scope: { ...rich().scope, status: { type: "moved", to: "b", nonce: "n" } } },
  ],
  S4: [scope.checkS4Change, { ...rich(), at: 10 ** 9 }, { ...rich(), seq: rich().seq + 1 }],
};

describe("a checker", () => {
  it("finds nothing wrong with what is right", () => {
    expect(whole.checkAll(rich())).toBeUndefined();
  });
  for (const [name, [check, state]] of Object.entries(broken)) {
    it(`of ${name} says what is broken, and in which row`, () => {
      expect(check(state, outstanding(state))).toMatch(name);
      expect(whole.checkAll(state)).toBeDefined();
    });
  }
  for (const [name, [check, before, after]] of Object.entries(changes)) {
    it(`of ${name} says what may not have changed so`, () => {
      expect(check(before, after)).toMatch(name);
    });
  }
});
