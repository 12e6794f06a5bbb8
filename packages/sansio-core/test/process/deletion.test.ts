import { describe, expect, it } from "vitest";
import { handlesOf } from "../../src/link/handle.ts";
import { eventPayloadHash } from "../../src/process/hash.ts";
import { processScope } from "../../src/identity/scope.ts";
import { recordOf, startedByProcess } from "../../src/process/registration.ts";
import type { ProcessRow } from "../../src/process/model.ts";
import { World } from "../link/world.ts";
import { Pair, holder, home, session, working } from "./pair.ts";
import { signal, start } from "./asking.ts";
import { eventType } from "./world.ts";

const far = { session_id: "far" };
const farScope = "session:far";
const waking = working({
  event_types: [eventType("note", { wake: { input: "payload", dedupe_key: "event_identity" } })],
});
const note = (say: string) =>
  ({
    type: "process.event_appended",
    request: { event_type: "note", payload: say },
    payload_hash: eventPayloadHash("note", say).hash,
  }) as const;
const deleted = { type: "session.deleted" } as const;

const started = (of = waking): Pair => {
  const pair = new Pair();
  pair.send(start(of));
  pair.open(farScope).deliver();
  return pair;
};
const rowOf = (world: World): ProcessRow => {
  const row = world.state(home).process;
  if (row === undefined) throw new Error("no process");
  return row;
};
const reports = (world: World, scope = session): readonly object[] =>
  world.gave(scope, "deletion.report").map(({ orphaned, preserved }) => ({ orphaned, preserved }));

describe("a session that is deleted", () => {
  it("lets go of its processes, which live on and wake nobody, and reports them as orphaned", () => {
    const pair = started().tell(session, deleted);
    expect(handlesOf(pair.state(session), holder, "all")).toEqual([]);
    expect(reports(pair)).toEqual([]);
    pair.deliver();
    expect(reports(pair)).toEqual([{ orphaned: ["p1"], preserved: [] }]);
    expect(pair.state(session).deletion).toEqual({ asked: [], orphaned: ["p1"], preserved: [] });
    expect(pair.status).toBe("running");
    pair.tell(home, note("anybody?")).deliver();
    expect(pair.gave(session, "wake.deliver")).toEqual([]);
    expect(recordOf(rowOf(pair)).wake_target).toBeUndefined();
    expect(startedByProcess(rowOf(pair))).not.toHaveProperty("wake_target");
    pair.end().deliver();
    expect(pair.status).toBe("completed");
  });

  it("leaves what another session holds to that session", () => {
    const pair = started();
    const granted = { holder: far, process: "p1", descriptor: {}, status: "running" } as const;
    pair
      .tell(farScope, { type: "handle.granted", ...granted })
      .deliver()
      .tell(session, deleted)
      .deliver();
    expect(reports(pair)).toEqual([{ orphaned: [], preserved: ["p1"] }]);
    pair.end().deliver();
    expect(handlesOf(pair.state(farScope), far, "all")).toMatchObject([{ status: "completed" }]);
  });

  it("has nothing to say of what it handed on, and is woken by it no more", () => {
    const pair = started();
    pair.tell(session, { type: "handles.transferred", from: holder, to: far, processes: ["p1"] }).deliver();
    pair.tell(session, deleted).deliver();
    expect(reports(pair)).toEqual([{ orphaned: [], preserved: [] }]);
    expect(rowOf(pair).wakesNobody).toBe(true);
    pair.tell(farScope, deleted).deliver();
    expect(reports(pair, farScope)).toEqual([{ orphaned: ["p1"], preserved: [] }]);
  });

  it("says nothing of processes that have ended, also of one that ends meanwhile", () => {
    const over = started().end();
    over.deliver().tell(session, deleted);
    expect(reports(over)).toEqual([{ orphaned: [], preserved: [] }]);
    const racing = started().tell(session, deleted);
    racing.end().deliver();
    expect(reports(racing)).toEqual([{ orphaned: [], preserved: [] }]);
  });

  it("lets go of a process that was still being started", () => {
    const pair = new Pair();
    pair.send(start(waking));
    pair.tell(session, deleted);
    expect(reports(pair)).toEqual([{ orphaned: [], preserved: [] }]);
    pair.deliver();
    expect(reports(pair).at(-1)).toEqual({ orphaned: ["p1"], preserved: [] });
    expect(rowOf(pair).wakesNobody).toBe(true);
  });

  it("revokes its waits, those that nobody knows yet too", () => {
    const pair = started();
    const key = pair.ask({ kind: "wait", wait: "k" });
    pair.tell(session, deleted);
    expect(pair.settled(key)).toBe("err");
    const resolution = { status: "ok", payload: 1 } as const;
    for (const wait of ["k", "never seen"]) {
      expect(pair.offer(session, { type: "wait.resolved", key: wait, resolution })).toBe("unknown_or_revoked");
    }
    expect(pair.settled(pair.ask({ kind: "wait", wait: "later" }))).toBe("err");
    pair.tell(session, { type: "wait.revoked", keys: ["later"] });
  });

  it("takes nothing new, and is deleted once", () => {
    const pair = started().tell(session, deleted).deliver();
    const calls = [{ id: "b", tool: "body", args: null }];
    expect(pair.offer(session, { type: "request.submitted", request: "r2", hash: "h", calls })).toBe("session_deleted");
    const granted = { holder, process: "p9", descriptor: {}, status: "running" } as const;
    expect(pair.offer(session, { type: "handle.granted", ...granted })).toBe("session_deleted");
    expect(pair.offer(session, deleted)).toBe("session_deleted");
    expect(pair.offer(home, deleted)).toBe("handle_refused");
    expect(pair.settled(pair.send(signal("go", 1), { named: true }))).toBe("err");
  });

  it("does not take handles any more: they stay with whoever hands them on", () => {
    const pair = started().tell(farScope, deleted);
    pair.tell(session, { type: "handles.transferred", from: holder, to: far, processes: ["p1"] }).deliver();
    expect(handlesOf(pair.state(session), holder, "live")).toMatchObject([{ id: "p1" }]);
    pair.end().deliver();
    expect(handlesOf(pair.state(session), holder, "all")).toMatchObject([{ status: "completed" }]);
  });

  it("is found out by a process that it never knew, and that was to wake it", () => {
    const world = new World().open(farScope).open(home);
    world.tell(farScope, deleted);
    const input = { type: "engine", kind: "e", payload: null } as const;
    const of = { ...waking, input, wake_target: far };
    world.tell(home, { ...start(of), type: "process.registered" }).deliver();
    expect(rowOf(world).wakesNobody).toBe(true);
    expect(world.state(farScope).handles.size).toBe(0);
  });

  it("comes to the same report however badly messages are carried, and whoever's owner is lost", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const luck = Array.from({ length: 60 }, (_, i) => (seed * 7919 + i * 104_729) % 97);
      const pair = started().tell(session, deleted);
      pair.deliverBadly(luck);
      pair.crash(seed % 2 === 0 ? session : home).settle();
      expect(pair.state(session).deletion).toEqual({ asked: [], orphaned: ["p1"], preserved: [] });
      expect(rowOf(pair).wakesNobody).toBe(true);
    }
  });
});

describe("a link that has as much unanswered as it may", () => {
  const bounded = { max_unanswered: 2 };
  it("takes no more of a body until something is answered", () => {
    const pair = new Pair();
    pair.open(processScope("p2"));
    pair.tell(session, { type: "scope.configured", options: { ...pair.state(session).scope.options, ...bounded } });
    pair.send(start(working()));
    pair.send(signal("go", 1));
    const message = { kind: "message", to: home, message: signal("go", 2, "s2") } as const;
    const more = { type: "effect.requested", call: "r:b", attempt: 1, run: 1, key: "k9", hash: "h" } as const;
    expect(pair.offer(session, { ...more, effect: message })).toBe("link_full");
    const elsewhere = { ...message, to: processScope("p2") };
    pair.tell(session, { ...more, key: "k8", effect: elsewhere });
    pair.deliver().tell(session, { ...more, effect: message });
  });

  it("takes no more wakes, and the process's events are refused until there is room", () => {
    const pair = started();
    pair.tell(home, { type: "scope.configured", options: { ...pair.state(home).scope.options, ...bounded } });
    pair.tell(home, note("one")).tell(home, note("two"));
    expect(pair.offer(home, note("three"))).toBe("link_full");
    pair.deliver().tell(home, note("three"));
  });

  it("that could take nothing is no option", () => {
    const options = { ...started().state(home).scope.options, max_unanswered: 0 };
    expect(started().offer(home, { type: "scope.configured", options })).toBe("invalid_option");
  });
});

describe("a wake that the host has had", () => {
  it("is known by the finished index, and is not delivered again", () => {
    const pair = started(
      working({ event_types: [eventType("note", { wake: { input: "payload", dedupe_key: { const: "once" } } })] }),
    );
    pair.tell(home, note("a")).deliver();
    const key = "wake:session:s:once";
    pair.tell(session, { type: "wake.acked", key });
    pair.tell(home, note("b"));
    const frame = pair.frames.shift();
    pair.take({ to: session, event: { ...frame?.event, known: true } as never });
    pair.deliver();
    expect(pair.gave(session, "wake.deliver")).toHaveLength(1);
    expect(pair.state(session).outbox.size).toBe(0);
  });
});
