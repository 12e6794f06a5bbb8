import { attachment } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { handleProblem, handlesOf } from "../../src/link/handle.ts";
import { eventPayloadHash } from "../../src/process/hash.ts";
import { completionRequest } from "../../src/process/registration.ts";
import type { ProcessRow } from "../../src/process/model.ts";
import { refusalIn, resultOfEvent, resultOfOutcome, resultOfUnsent } from "../../src/process/read.ts";
import { firstLife } from "../../src/call/life.ts";
import { outstanding } from "../../src/machine.ts";
import { resolutionIn } from "../../src/wait/model.ts";
import { tool } from "../rig.ts";
import { World } from "../link/world.ts";
import { Pair, holder, home, session, working } from "./pair.ts";
import { cancel, signal, start } from "./asking.ts";
import { eventType, registration } from "./world.ts";

const image = attachment({ id: "img", media_type: { kind: "image", type: "png" }, byte_len: 3 });
const started = (): Pair => {
  const pair = new Pair();
  pair.send(start(working()), { key: "start" });
  pair.deliver();
  return pair;
};
const rowOf = (pair: World): ProcessRow => {
  const row = pair.state(home).process;
  if (row === undefined) throw new Error("no process");
  return row;
};
const append = (type: string, payload: never | object | null, key?: string) => {
  const hash = eventPayloadHash(type, payload as never).hash;
  const replay = key === undefined ? {} : { replay: { key } };
  return {
    type: "process.event_appended",
    request: { event_type: type, payload: payload as never, ...replay },
    payload_hash: hash,
  } as const;
};
const end = (value: string) => {
  const request = completionRequest("p1", { type: "success", value });
  return {
    type: "process.event_appended",
    request,
    payload_hash: eventPayloadHash(request.event_type, request.payload).hash,
  } as const;
};

describe("a process that a session starts", () => {
  it("runs its call in a scope of its own, with what was prepared, and is the session's to use", () => {
    const pair = started();
    expect(pair.settled("start")).toBe("ok");
    expect(pair.eventOf("start")).toMatchObject({ outcome: { value: { process_id: "p1", status: "running" } } });
    expect(pair.gave(home, "tool.prepare")).toEqual([]);
    expect(pair.gave(home, "tool.execute")).toMatchObject([{ call: "p1:c", args: { n: 1 }, payload: { ready: true } }]);
    expect(handlesOf(pair.state(session), holder, "live")).toMatchObject([
      { id: "p1", descriptor: { kind: "tool", label: "work" }, status: "running" },
    ]);
  });

  it("ends with its call, tells the session, and both forget each other", () => {
    const pair = started().end();
    expect(pair.status).toBe("completed");
    pair.deliver();
    expect(handlesOf(pair.state(session), holder, "live")).toEqual([]);
    expect(handlesOf(pair.state(session), holder, "all")).toMatchObject([{ status: "completed" }]);
    expect(pair.isForgotten).toBe(true);
    expect(pair.gave(home, "reply")).toEqual([]);
    const { requests, calls, batches } = pair.state(home);
    expect(requests.size + calls.size + batches.size).toBe(0);
  });

  it("keeps attachments in its end", () => {
    const pair = started().end([image] as never);
    expect(rowOf(pair).status).toMatchObject({ await_output: { type: "success", value: [image] } });
  });

  it("asks for its tools first, where they are not there yet", () => {
    const pair = new Pair();
    pair.open(home);
    pair.send(start(working()));
    pair.deliver();
    expect(pair.gave(home, "env.load")).toMatchObject([{ process: "p1", env_ref: "process-env:sha256:0" }]);
    expect(outstanding(pair.state(home))).toMatchObject([{ type: "env.load" }]);
    pair.tell(home, { type: "catalog.published", tools: [tool("work")] });
    expect(pair.gave(home, "tool.execute")).toHaveLength(1);
    expect(outstanding(pair.state(home))).toEqual([]);
  });

  it("is the same process when it is started again, and a conflict when it is another", () => {
    const pair = started();
    const again = pair.send(start(working()));
    const other = pair.send(start(working({ identity: { kind: "other" } })));
    pair.deliver();
    expect(pair.settled(again)).toBe("ok");
    expect(pair.settled(other)).toBe("err");
    expect(pair.eventOf(other)).toMatchObject({ outcome: { status: "refused", code: "process_conflict" } });
    expect(pair.gave(home, "tool.execute")).toHaveLength(1);
  });

  it("waits for a person, where its tool needs one", () => {
    const pair = new Pair();
    pair.open(home, [tool("work", { policy: "requires_approval" })]);
    pair.send(start(working()));
    pair.deliver();
    expect(pair.gave(home, "tool.prepare")).toHaveLength(1);
    expect(pair.gave(home, "tool.execute")).toEqual([]);
  });
});

describe("awaiting a process", () => {
  const wait = "wait-1";
  const awaited = (pair: Pair): string => {
    pair.send({ type: "process.await", wait });
    return pair.ask({ kind: "wait", wait });
  };

  it("before its end is told at its end", () => {
    const pair = started();
    const key = awaited(pair);
    pair.deliver();
    expect(pair.settled(key)).toBeUndefined();
    pair.end("x").deliver();
    expect(pair.settled(key)).toBe("ok");
    const output = { type: "success", value: "x" };
    expect(resolutionIn(pair.eventOf(key) as never, wait)).toEqual({ status: "ok", payload: output });
    expect(resolutionIn(pair.eventOf(key) as never, "other")).toBeUndefined();
    expect(pair.eventOf(key)).toMatchObject({
      type: "message.received",
      message: { waits: [wait], output: { type: "success", value: "x" } },
    });
  });

  it("after its end is told at once, on links that open and close again", () => {
    const pair = started().end("x");
    pair.deliver();
    const key = awaited(pair);
    pair.deliver();
    expect(pair.settled(key)).toBe("ok");
    expect(pair.isForgotten).toBe(true);
  });

  it("is told when the end comes before the body waits, and leaves nothing unclaimed", () => {
    const pair = started();
    pair.send({ type: "process.await", wait });
    pair.deliver().end().deliver();
    expect(pair.state(session).unclaimed).toBe(0);
    expect(pair.settled(pair.ask({ kind: "wait", wait }))).toBe("ok");
  });

  it("of nobody's is refused", () => {
    const pair = new Pair();
    const key = pair.send({ type: "process.await", wait });
    pair.deliver();
    expect(pair.eventOf(key)).toMatchObject({ outcome: { code: "process_unknown", message: "unknown process `p1`" } });
  });
});

describe("cancel against finish", () => {
  it("is cooperative: the call is told, and ends as cancelled when its grace is over", () => {
    const pair = started();
    const key = pair.send(cancel("enough"));
    pair.deliver();
    expect(pair.eventOf(key)).toMatchObject({ outcome: { value: { process_id: "p1", status: "running" } } });
    expect(pair.gave(home, "tool.cancel")).toHaveLength(1);
    pair.at += 50;
    pair.tell(home, { type: "clock.ticked" });
    expect(pair.status).toBe("cancelled");
    expect(rowOf(pair).sequence).toBe(2);
  });

  it("is lost to a call that still finishes in its grace", () => {
    const pair = started();
    pair.send(cancel("enough"));
    pair.deliver().end();
    expect(pair.status).toBe("completed");
  });

  it("after the finish is an event and no more", () => {
    const pair = started().end();
    pair.deliver();
    const key = pair.send(cancel("late"));
    pair.deliver();
    expect(pair.eventOf(key)).toMatchObject({ outcome: { value: { status: "completed" } } });
    expect(pair.status).toBe("completed");
  });

  it("for the same reason is one event, for another reason another, and the call is told once", () => {
    const pair = started();
    for (const reason of ["a", "a", "b"]) pair.send(cancel(reason));
    pair.deliver();
    expect(rowOf(pair).sequence).toBe(2);
    expect(pair.gave(home, "tool.cancel")).toHaveLength(1);
  });

  it("ends at once what waits for its tools", () => {
    const pair = new Pair();
    pair.open(home);
    pair.send(start(working()));
    pair.send(cancel("no"));
    pair.deliver();
    expect(pair.status).toBe("cancelled");
    expect(outstanding(pair.state(home))).toEqual([]);
  });

  it("loses to an end that the host appends: the call is stopped, and its end comes to nothing", () => {
    const pair = started().tell(home, end("host's"));
    expect(pair.status).toBe("completed");
    expect(pair.gave(home, "tool.cancel")).toHaveLength(1);
    pair.end("own");
    expect(rowOf(pair).status).toMatchObject({ await_output: { value: "host's" } });
    expect(pair.offer(home, end("other"))).toBe("process_conflict");
    expect(pair.offer(home, end("host's"))).toBe("process_event_exists");
  });

  it("leaves an end of the core's own that is known again, and conflicts with another", () => {
    const pair = started().end("x");
    expect(pair.offer(home, end("x"))).toBe("process_event_exists");
    expect(pair.offer(home, end("y"))).toBe("process_conflict");
  });
});

const body = (pair: Pair, ordinal: number): void => {
  const effect = { kind: "wait", wait: `process:p1:signal.go:${ordinal}`, signal: { name: "go", ordinal } } as const;
  const of = { call: "p1:c", attempt: 1, run: pair.run("p1:c", home) };
  pair.tell(home, { type: "effect.requested", ...of, key: `await:${ordinal}`, hash: "h", effect });
};
const answers = (pair: Pair): readonly string[] => pair.gave(home, "step.answer").map(({ key }) => key);

describe("a signal", () => {
  const wait = "process:p1:signal.go:1";

  it("comes to a body that waits for it, and the wait is shown while it lasts", () => {
    const pair = started();
    body(pair, 1);
    expect(rowOf(pair).wait?.kind).toMatchObject({ name: "go", ordinal: 1, key: wait });
    const key = pair.send(signal("go", { n: 1 }), { named: true });
    pair.deliver();
    expect(pair.eventOf(key)).toMatchObject({ outcome: { value: { process_id: "p1", sequence: 1 } } });
    expect(answers(pair)).toEqual(["await:1"]);
    expect(rowOf(pair).wait).toBeUndefined();
    const event = pair.logs.get(home)?.at(-1);
    expect(resolutionIn(event as never, wait)).toEqual({ status: "ok", payload: { n: 1 } });
    expect(resolutionIn(event as never, "process:p1:signal.stop:1")).toBeUndefined();
  });

  it("comes from the host as an event like others", () => {
    const pair = started();
    body(pair, 1);
    pair.tell(home, append("signal.go", { n: 2 }));
    expect(answers(pair)).toEqual(["await:1"]);
    expect(resolutionIn(pair.logs.get(home)?.at(-1) as never, wait)).toEqual({ status: "ok", payload: { n: 2 } });
    expect(pair.offer(home, append("signal.stop", {}))).toBe("process_refused");
  });

  it("waits for a body that comes later, and is taken once", () => {
    const pair = started();
    pair.send(signal("go", 1));
    pair.send(signal("go", 2, "s2"));
    pair.deliver();
    expect(pair.state(home).unclaimed).toBe(2);
    body(pair, 1);
    body(pair, 2);
    expect(answers(pair)).toEqual(["await:1", "await:2"]);
    expect(pair.state(home).unclaimed).toBe(0);
  });

  it("under one id is one signal", () => {
    const pair = started();
    const keys = [pair.send(signal("go", 1)), pair.send(signal("go", 1))];
    pair.deliver();
    for (const key of keys) expect(pair.eventOf(key)).toMatchObject({ outcome: { value: { sequence: 1 } } });
  });

  it("is refused without a live handle, goes nowhere, and says so in the same words whenever it is asked", () => {
    const pair = new Pair();
    const message = signal("go", 1);
    const key = pair.send(message, { named: true });
    expect(pair.settled(key)).toBe("err");
    expect(pair.gave(session, "send")).toEqual([]);
    expect(resultOfUnsent({ kind: "message", to: home, message })).toMatchObject({
      error: { message: "process handle `p1` is not live or visible in this session" },
    });
  });

  it("is refused when its type is not declared, its name is none, or too many wait already", () => {
    const pair = started();
    const codes = (keys: readonly string[]): unknown[] =>
      keys.map((key) => (pair.eventOf(key) as { readonly outcome: { readonly code: string } }).outcome.code);
    const stray = [pair.send(signal("stop", 1)), pair.send(signal("a b", 1))];
    pair.deliver();
    expect(codes(stray)).toEqual(["process_refused", "process_refused"]);
    pair.tell(home, { type: "scope.configured", options: { ...pair.state(home).scope.options, max_unclaimed: 0 } });
    const last = pair.send(signal("go", 1));
    pair.deliver();
    expect(codes([last])).toEqual(["too_many_unclaimed"]);
    expect(rowOf(pair).sequence).toBe(0);
  });

  it("that a body no longer waits for is shown no longer", () => {
    const pair = started();
    body(pair, 1);
    pair.tell(home, { type: "wait.cancelled", call: "p1:c", key: "await:1" });
    expect(rowOf(pair).wait).toBeUndefined();
  });
});

describe("an event of a body in its own process", () => {
  const emit = (pair: Pair, index: number, type: string, invalid?: string): void => {
    const effect = {
      kind: "event",
      event_type: type,
      payload: { index },
      replay_key: `tool:c:durable-process-event:${index}`,
      payload_hash: eventPayloadHash(type, { index }).hash,
      ...(invalid === undefined ? {} : { invalid }),
    } as const;
    const of = { call: "p1:c", attempt: 1, run: pair.run("p1:c", home) };
    pair.tell(home, { type: "effect.requested", ...of, key: `event:${index}`, hash: "h", effect });
    results.push(() => resultOfEvent(pair.state(home).process, effect));
  };
  let results: (() => unknown)[] = [];

  it("settles at once, and its result is the same whenever it is asked", () => {
    results = [];
    const pair = started();
    emit(pair, 0, "note");
    emit(pair, 1, "nope");
    emit(pair, 2, "note", "it is too long");
    emit(pair, 3, "note");
    const first = results.map((result) => result());
    expect(first).toMatchObject([
      { value: { process_id: "p1", sequence: 1 } },
      { error: { message: "process `p1` emitted undeclared event type `nope`" } },
      { error: { message: "invalid `note` payload: it is too long" } },
      { value: { sequence: 2 } },
    ]);
    expect(pair.gave(home, "step.answer").map(({ key }) => key)).toEqual(["event:0", "event:1", "event:2", "event:3"]);
    pair.end();
    expect(results.map((result) => result())).toEqual(first);
  });

  it("comes from a body elsewhere as a message, and is known again by its key", () => {
    const pair = started();
    const asked = { event_type: "note", payload: 1, replay: { key: "tool:b:durable-process-event:0" } };
    const message = { type: "process.append", request: asked, payload_hash: "h" } as const;
    const keys = [pair.send(message), pair.send(message), pair.send({ ...message, payload_hash: "other" })];
    pair.deliver();
    const said = keys.map((key) => resultOfOutcome((pair.eventOf(key) as { readonly outcome: never }).outcome));
    expect(said).toMatchObject([
      { value: { process_id: "p1", sequence: 1 } },
      { value: { process_id: "p1", sequence: 1 } },
      { status: "err", error: { code: "process_conflict" } },
    ]);
    pair.send({ ...message, request: { ...asked, replay: { key: "k" } } });
    const frame = pair.frames.shift();
    pair.take({ to: home, event: { ...frame?.event, invalid: "it is no note" } as never });
    expect(rowOf(pair).sequence).toBe(1);
  });

  it("is refused outside a process", () => {
    const pair = new Pair();
    const effect = { kind: "event", event_type: "x", payload: 1, replay_key: "k", payload_hash: "h" } as const;
    const of = { call: "r:b", attempt: 1, run: 1 };
    expect(pair.offer(session, { type: "effect.requested", ...of, key: "e", hash: "h", effect })).toBe(
      "process_unknown",
    );
  });
});

describe("a wake", () => {
  const waking = working({
    event_types: [eventType("note", { wake: { input: { pointer: "/say" }, dedupe_key: { const: "once" } } })],
  });
  it("goes to the session, stays until the host has it, and is one while it does", () => {
    const pair = new Pair();
    pair.send(start(waking));
    pair
      .deliver()
      .tell(home, append("note", { say: "hi" }))
      .tell(home, append("note", { say: "again" }))
      .deliver();
    expect(pair.gave(session, "wake.deliver")).toMatchObject([
      { wake: { process_id: "p1", sequence: 1, input: "hi" } },
    ]);
    const [waiting] = outstanding(pair.state(session)).filter(({ type }) => type === "wake.deliver");
    expect(waiting).toMatchObject({ key: "wake:session:s:once" });
    pair.tell(session, { type: "wake.acked", key: "wake:session:s:once" });
    expect(pair.state(session).outbox.size).toBe(0);
  });
});

const registered = (of = registration([eventType("note")])): World =>
  new World().open(home).tell(home, { ...start(of), type: "process.registered" });

describe("a process that the host registers", () => {
  it("completes at once, where nothing in it runs", () => {
    const world = registered(registration([], { input: { type: "external", metadata: { ref: 7 } } }));
    expect(rowOf(world).status).toMatchObject({
      state: "completed",
      await_output: { value: { metadata: { ref: 7 } } },
    });
  });

  it("is run by an engine that is asked again until it has ended it", () => {
    const input = { type: "engine", kind: "flow", payload: null } as const;
    const world = registered(registration([eventType("note")], { input, env_ref: "process-env:sha256:0" }));
    expect(outstanding(world.state(home))).toEqual([{ type: "engine.run", process: "p1" }]);
    const cancelled = { type: "process.cancel_requested", payload: { reason: null } } as const;
    world.tell(home, append(cancelled.type, cancelled.payload, "k"));
    expect(outstanding(world.state(home)).map(({ type }) => type)).toEqual(["engine.run", "engine.cancel"]);
    world.tell(home, end("x"));
    expect(outstanding(world.state(home))).toEqual([]);
    expect(world.gave(home, "process.observe").map(({ what }) => what)).toEqual([
      "registered",
      "event",
      "event",
      "ended",
    ]);
    world.tell(home, append("note", {}));
    expect(world.offer(home, append("process.failed", { await_output: 1 }, "k2"))).toBe("process_refused");
  });

  it("is refused twice, and in another's scope", () => {
    const world = registered();
    const { type: _, ...said } = start(registration([eventType("note")]));
    expect(world.offer(home, { type: "process.registered", ...said })).toBe("process_exists");
    expect(world.offer(home, { type: "process.registered", ...said, hash: "other" })).toBe("process_conflict");
    world.open("process:p2");
    expect(world.offer("process:p2", { type: "process.registered", ...said })).toBe("process_refused");
  });

  it("gives its handle to the session that it wakes, and tells it of the end", () => {
    const world = new World().open(session).open(home, [tool("work")]);
    world.tell(home, { ...start(working()), type: "process.registered" }).deliver();
    expect(handlesOf(world.state(session), holder, "live")).toHaveLength(1);
    world.tell(home, end("x")).deliver();
    expect(handlesOf(world.state(session), holder, "all")).toMatchObject([{ status: "completed" }]);
  });
});

describe("handles", () => {
  const frame = { session_id: "s", agent_frame_id: "f" };
  const far = { session_id: "far" };

  it("are handed on here and to another session, and revoked", () => {
    const pair = started();
    pair.open("session:far");
    pair.tell(session, { type: "handles.transferred", from: holder, to: frame, processes: ["p1"] });
    expect(handleProblem(pair.state(session), holder, "p1", "process.await")).toContain("not live or visible");
    expect(handleProblem(pair.state(session), frame, "p1", "process.await")).toBeUndefined();
    expect(pair.offer(session, { type: "handles.revoked", holder, processes: ["p1"] })).toBe("handle_refused");
    pair.tell(session, { type: "handles.transferred", from: frame, to: far, processes: ["p1"] }).deliver();
    expect(pair.state(session).handles.size).toBe(0);
    expect(handlesOf(pair.state("session:far"), far, "live")).toMatchObject([{ id: "p1" }]);
    pair.tell("session:far", { type: "handles.revoked", holder: far });
    expect(pair.state("session:far").handles.size).toBe(0);
  });

  it("of ended processes are kept up to a bound, the oldest leaving first", () => {
    const world = new World().open(session, [], { max_ended_handles: 2 });
    for (const process of ["a", "b", "c"]) {
      world.tell(session, { type: "handle.granted", holder, process, descriptor: {}, status: "failed" });
    }
    expect(handlesOf(world.state(session), holder, "all").map(({ id }) => id)).toEqual(["b", "c"]);
  });

  it("know of the end also when it is told before the start is answered", () => {
    const pair = new Pair();
    pair.send(start(working()));
    pair.take(pair.frames.shift() as never);
    const late = pair.frames;
    pair.frames = [];
    pair.end().deliver();
    pair.frames.push(...late);
    pair.deliver();
    expect(handlesOf(pair.state(session), holder, "all")).toMatchObject([{ status: "completed" }]);
  });
});

it.each([
  [1, firstLife, "no"],
  [2, { ...firstLife, upgradedIn: 1 }, "no"],
  [2, firstLife, "plugin session error: no"],
])("an event that a process does not take is refused under protocol %i in these words", (protocol, life, message) => {
  const code = "durable_effect_process_event_append_failed";
  expect(refusalIn(protocol, life)("no")).toEqual({ status: "err", error: { code, message } });
});
