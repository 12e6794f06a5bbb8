import { PersistentMap } from "../../src/kernel/persistent-map.ts";
import { mapped } from "../arbitrary/mapped.ts";
import { describe, expect, it } from "vitest";
import { handleChangeChecks, handleChecks, linkChangeChecks, linkChecks } from "../../src/link/check.ts";
import type { HandleRow } from "../../src/link/handle.ts";
import { outstanding } from "../../src/machine.ts";
import type { LinkRow, OutgoingEnd } from "../../src/link/model.ts";
import { processChangeChecks, processStateChecks } from "../../src/process/check.ts";
import type { ProcessRow } from "../../src/process/model.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { registration } from "../process/world.ts";
import { home, Pair, session, working } from "../process/pair.ts";
import { signal, start } from "../process/asking.ts";

const pair = new Pair();
pair.send(start(working()));
pair.deliver();
pair.send(signal("go", 1));
pair.send(signal("go", 2, "s2"));
const [sender, receiver] = [pair.state(session), pair.state(home)];

const all = [...linkChecks, ...handleChecks, ...processStateChecks];
const brokenIn = (state: State): readonly string[] => all.flatMap((check) => check(state, outstanding(state)) ?? []);

const linked = (change: (row: LinkRow) => LinkRow): State => ({ ...sender, links: mapped(sender.links, change) });
const outgoing = (change: (end: OutgoingEnd) => Partial<OutgoingEnd>): State =>
  linked((row) =>
    row.outgoing === undefined ? row : { ...row, outgoing: { ...row.outgoing, ...change(row.outgoing) } },
  );
const last = { number: 3, message: { type: "link.closed" }, born: 1 } as const;
const handled = (change: Partial<HandleRow>): State => ({
  ...sender,
  handles: mapped(sender.handles, (row) => ({ ...row, ...change })),
});
const processed = (change: Partial<ProcessRow>, state = receiver): State => ({
  ...state,
  process: state.process === undefined ? undefined : { ...state.process, ...change },
});
const bare: State = { ...sender, handles: PersistentMap.empty() };
const ended = { state: "cancelled", await_output: { type: "cancelled", message: "" } } as const;

describe("each invariant of links, handles and processes has a check that tells when it is broken", () => {
  const broken: readonly (readonly [string, State])[] = [
    ["L1", outgoing(() => ({ heard: 0, unanswered: PersistentMap.of([[3, last]]), sent: 3, phase: "closing" }))],
    ["L1", outgoing(() => ({ sent: 2 }))],
    ["L2", outgoing(({ unanswered }) => ({ unanswered: unanswered.set(3, last) }))],
    ["L2", outgoing(() => ({ phase: "closing" }))],
    ["L2", outgoing(({ sent }) => ({ phase: "draining", heard: sent, unanswered: PersistentMap.empty() }))],
    ["L4", outgoing(() => ({ waiting: [{ message: signal("go", 1), isLast: false }] }))],
    ["L6", { ...sender, links: PersistentMap.of([["x", { peer: "x" }]]) }],
    ["H1", handled({ holders: [] })],
    ["H1", handled({ holders: [{ session_id: "other" }] })],
    ["H3", handled({ status: "failed" })],
    ["H4", { ...sender, deletion: { asked: [], orphaned: [], preserved: [] } }],
    ["H4", { ...receiver, deletion: { asked: [], orphaned: [], preserved: [] } }],
    ["H4", { ...bare, deletion: { asked: ["p", "p"], orphaned: [], preserved: [] } }],
    ["P12", processed({ wakesNobody: true, registration: registration([], { id: "p1" }) })],
    ["P8", processed({ run: "none" })],
    ["P8", processed({}, { ...receiver, requests: receiver.requests.delete("p1") })],
    ["P8", processed({ run: "engine", status: ended, peers: [] })],
    ["P9", processed({ status: ended })],
    ["P9", processed({ peers: [...(receiver.process?.peers ?? []), ...(receiver.process?.peers ?? [])] })],
    ["P10", { ...receiver, scope: { ...receiver.scope, id: "process:other" } }],
  ];
  for (const [invariant, state] of broken) {
    it(`tells ${brokenIn(state).join("; ")}`, () => {
      expect(brokenIn(state).join("; ")).toMatch(new RegExp(`\\b${invariant}: `));
    });
  }

  it("tells answers to what was not received, and rows under another name", () => {
    const early = PersistentMap.of([[9, { status: "accepted", value: null } as const]]);
    const links = mapped(receiver.links, (row) =>
      row.incoming === undefined ? row : { ...row, incoming: { ...row.incoming, answers: early } },
    );
    expect(brokenIn({ ...receiver, links }).join()).toContain("L3: 9");
    const misplaced = PersistentMap.of([["x", { peer: "y" }]]);
    expect(brokenIn({ ...receiver, links: misplaced }).join()).toContain("L6");
    const handles = PersistentMap.of(sender.handles.values().map((row) => ["x", row]));
    expect(brokenIn({ ...sender, handles }).join()).toContain("H3");
  });

  it("tells what goes back from one state to the next", () => {
    const changes = [...linkChangeChecks, ...handleChangeChecks, ...processChangeChecks];
    const told = (before: State, after: State): string => changes.flatMap((check) => check(before, after) ?? []).join();
    expect(
      told(
        sender,
        outgoing(({ heard }) => ({ heard: heard - 1 })),
      ),
    ).toContain("L7");
    expect(
      told(
        sender,
        outgoing(({ link }) => ({ link: link - 1 })),
      ),
    ).toContain("L7");
    const peerOf = (protocol: number): State => ({
      ...sender,
      links: mapped(sender.links, (row) => ({ ...row, protocol })),
    });
    expect(told(peerOf(2), peerOf(1))).toContain("L8: protocol 2 became 1");
    expect(told(peerOf(1), peerOf(2))).not.toContain("L8");
    const of1 = { ...peerOf(2), scope: { ...sender.scope, protocol: 1 } };
    expect(told(of1, of1)).toContain("L8: its protocol is known");
    const many = handled({ status: "failed", ended: 1 });
    const options = { ...sender.scope.options, max_ended_handles: 0 };
    const without = (state: State): State => ({ ...state, scope: { ...state.scope, options } });
    expect(told(without(sender), without(many))).toContain("H2");
    expect(told(processed({ status: ended }), processed({}))).toContain("P11");
    expect(told(processed({ wakesNobody: true }), receiver)).toContain("P12");
    expect(told({ ...bare, deletion: { asked: [], orphaned: [], preserved: [] } }, bare)).toContain("H4");
    expect(told(sender, sender)).toBe("");
  });

  it("and none where nothing is", () => {
    expect([brokenIn(sender), brokenIn(receiver)]).toEqual([[], []]);
  });
});
