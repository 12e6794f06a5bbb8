import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { cancelRequest } from "../../src/process/hash.ts";
import { processChecks } from "../../src/process/check.ts";
import { completionRequest } from "../../src/process/registration.ts";
import type { ProcessEventAppendRequest, ProcessRow } from "../../src/process/model.ts";
import { enterWait, leaveWait } from "../../src/process/signal.ts";
import { append, eventType, processRow, request, right } from "./world.ts";

const brokenIn = (row: ProcessRow): readonly string[] => processChecks.flatMap((check) => check(row) ?? []);

const types = [eventType("x"), eventType("signal.go"), eventType("signal.stop")];
const keys = fc.constantFrom("a", "b", "c", undefined);
const requests: fc.Arbitrary<ProcessEventAppendRequest> = fc.oneof(
  fc
    .tuple(fc.constantFrom("x", "y", "signal.go"), fc.integer({ min: 0, max: 1 }), keys)
    .map((args) => request(...args)),
  fc.constantFrom("p", "q").map((reason) => cancelRequest("p1", reason).request),
  fc.constantFrom(0, 1).map((value) => completionRequest("p1", { type: "success", value })),
);
type Move = ProcessEventAppendRequest | "wait" | "leave";
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(requests, fc.constantFrom("wait" as const, "leave" as const)),
);

const moved = (row: ProcessRow, move: Move): ProcessRow => {
  if (move === "wait") return E.getOrElse(() => row)(enterWait(row, "go", 1, 2500));
  if (move === "leave") return leaveWait(row, 2500);
  return E.match(
    () => row,
    ({ row: next }: { readonly row: ProcessRow }) => next,
  )(append(row, move));
};

describe("the invariants of a process", () => {
  it("hold after whatever happens to it", () => {
    fc.assert(
      fc.property(moves, (all) => {
        let row = processRow(types);
        for (const move of all) {
          row = moved(row, move);
          expect(brokenIn(row)).toEqual([]);
        }
      }),
    );
  });
  it("leave an accepted event where it is, however often it is appended again", () => {
    fc.assert(
      fc.property(fc.array(requests), requests, (all, again) => {
        const row = all.reduce(moved, processRow(types));
        const first = append(row, again);
        if (E.isLeft(first) || again.replay === undefined) return;
        const second = right(append(all.reduce(moved, first.right.row), again));
        expect(second.isReplay).toBe(true);
        expect(second.event).toEqual(first.right.event);
        expect(second.signal).toEqual(first.right.signal);
      }),
    );
  });
});

describe("each invariant has a check that tells when it is broken", () => {
  const row = right(append(processRow(types), request("signal.go", 1, "K"))).row;
  const waiting = right(enterWait(row, "go", 2, 3000));
  const entry = { hash: "h", seq: 1, at: 0 };
  const kind = waiting.wait?.kind ?? ({} as never);
  const waits = (change: object): ProcessRow => ({ ...waiting, wait: { kind: { ...kind, ...change }, since_ms: 0 } });
  const said = row.registration;

  const broken: readonly (readonly [string, ProcessRow])[] = [
    ["P1", { ...row, registration: { ...said, id: " " } }],
    ["P1", { ...row, registration: { ...said, env_ref: "e" } }],
    ["P2", { ...row, registration: { ...said, event_types: said.event_types.slice(0, -1) } }],
    ["P2", { ...row, registration: { ...said, event_types: [...said.event_types, eventType("x")] } }],
    ["P3", { ...row, replays: row.replays.set("L", { ...entry, seq: 2 }) }],
    ["P3", { ...row, replays: row.replays.set("L", entry) }],
    ["P4", { ...row, signals: row.signals.set("x", 0) }],
    ["P4", { ...row, signals: row.signals.set("signal.stop", 1) }],
    ["P5", { ...processRow(), status: { state: "completed", await_output: { type: "success", value: 1 } } }],
    ["P5", { ...waiting, status: { state: "cancelled", await_output: { type: "cancelled", message: "" } } }],
    ["P6", waits({ event_type: "signal.no" })],
    ["P6", waits({ name: "stop" })],
    ["P6", waits({ ordinal: 0 })],
    ["P6", waits({ key: "k" })],
    ["P7", { ...row, updatedAt: 0 }],
  ];
  for (const [invariant, wrong] of broken) {
    it(`tells ${brokenIn(wrong).join("; ")}`, () => {
      expect(brokenIn(wrong)).toEqual([expect.stringMatching(new RegExp(`^${invariant}: `))]);
    });
  }
  it("and none where nothing is", () => {
    expect(brokenIn(row)).toEqual([]);
    expect(brokenIn(waiting)).toEqual([]);
  });
});
