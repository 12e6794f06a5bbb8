import { describe, expect, it } from "vitest";
import { cancelRequest } from "../../src/process/hash.ts";
import { completionRequest } from "../../src/process/registration.ts";
import type { ProcessEventAppendRequest, ProcessRow } from "../../src/process/model.ts";
import { enterWait } from "../../src/process/signal.ts";
import { append, appendAll, eventType, messageOf, processRow, request, right } from "./world.ts";

const x = eventType("x");
const success = completionRequest("p1", { type: "success", value: { n: 1 } });
const failure = completionRequest("p1", { type: "failure", class: "execution", code: "c", message: "m" });

describe("an appended event", () => {
  it("takes the next place, is by its process, and says when it was", () => {
    const [first, second] = appendAll(processRow([x]), [request("x", 1), request("x", 1, "K")]);
    expect(first?.event.sequence).toBe(1);
    expect(first?.event.invocation).not.toHaveProperty("replay");
    expect(second?.isReplay).toBe(false);
    expect(second?.event).toEqual({
      process_id: "p1",
      sequence: 2,
      event_type: "x",
      payload: 1,
      invocation: {
        scope: { session_id: "runtime" },
        subject: { type: "process_event", process_id: "p1", sequence: 2, event_type: "x" },
        caused_by: { type: "process", process_id: "p1" },
        replay: { key: "K" },
      },
      semantics: {},
      occurred_at: { secs_since_epoch: 2, nanos_since_epoch: 500_000_000 },
    });
    expect(second?.row.updatedAt).toBe(2500);
  });
  it("leaves the row before it as it was", () => {
    const before = processRow([x]);
    appendAll(before, [request("x", 1, "K"), success]);
    expect(before.sequence).toBe(0);
    expect(before.replays.size).toBe(0);
    expect(before.status).toEqual({ state: "running" });
  });
});

describe("an append is refused", () => {
  it("for a process that nobody knows", () => {
    expect(messageOf(append(undefined, request("x", 1)))).toBe("unknown process `p1`");
  });
  it("for a type that was not declared", () => {
    expect(messageOf(append(processRow(), request("x", 1, "K")))).toBe(
      "process `p1` emitted undeclared event type `x`",
    );
  });
  it("without a key, where the type ends the process or asks it to end", () => {
    for (const type of ["process.cancel_requested", "process.completed", "process.failed", "process.cancelled"]) {
      const message = `process \`p1\` event \`${type}\` requires a deterministic replay key`;
      expect(messageOf(append(processRow(), request(type, {})))).toBe(message);
      expect(messageOf(append(processRow(), request(type, {}, "")))).toBe(message);
    }
  });
  it("for a payload that does not fit its schema, after its key was looked at", () => {
    expect(messageOf(append(processRow([x]), request("x", 1), { invalid: "$: no" }))).toBe(
      "invalid `x` payload: $: no",
    );
    expect(messageOf(append(processRow(), request("process.failed", 1), { invalid: "$: no" }))).toContain("replay key");
  });
  it("for a payload that has not what its type selects", () => {
    expect(messageOf(append(processRow(), request("process.failed", {}, "K")))).toBe(
      "payload pointer `/await_output` did not match",
    );
  });
  it("for a second end, once its payload has a meaning", () => {
    const ended = appendAll(processRow(), [success])[0]?.row;
    expect(messageOf(append(ended, failure))).toBe("process `p1` is already terminal");
    expect(messageOf(append(ended, request("process.failed", {}, "K")))).toContain("did not match");
  });
});

describe("a replay key that is known", () => {
  it("answers with the event that it named", () => {
    const [, stored, again] = appendAll(processRow([x]), [request("x", 0), request("x", 1, "K"), request("x", 1, "K")]);
    expect(again?.isReplay).toBe(true);
    expect(again?.event).toEqual(stored?.event);
    expect(again?.row).toBe(stored?.row);
  });
  it("is a conflict with another payload, and with another type", () => {
    const row = appendAll(processRow([x, eventType("y")]), [request("x", 1, "K")])[0]?.row;
    const message = "process `p1` event replay key `K` conflicts with an existing event";
    expect(messageOf(append(row, request("x", 2, "K")))).toBe(message);
    expect(messageOf(append(row, request("y", 1, "K")))).toBe(message);
    expect(messageOf(append(row, request("z", 1, "K")))).toBe(message);
  });
  it("answers after the end, where no other check applies", () => {
    const row = appendAll(processRow([x]), [request("x", 1, "K"), success])[1]?.row;
    const again = right(append(row, request("x", 1, "K"), { invalid: "$: no" }));
    expect(again.event.sequence).toBe(1);
    expect(right(append(row, success)).event.sequence).toBe(2);
  });
  it("conflicts where the same end has another output", () => {
    const row = appendAll(processRow(), [success])[0]?.row;
    const other = completionRequest("p1", { type: "success", value: 2 });
    expect(messageOf(append(row, other))).toBe(
      "process `p1` event replay key `process:p1:terminal:process.completed` conflicts with an existing event",
    );
  });
  it("repairs a status that its event should have brought about", () => {
    const { row } = right(append(processRow(), success));
    const torn: ProcessRow = { ...row, status: { state: "running" } };
    const repaired = right(append(torn, success));
    expect(repaired.isReplay).toBe(true);
    expect(repaired.row.status).toEqual(row.status);
    expect(repaired.row.sequence).toBe(1);
  });
  it("of one cancel's reason is not that of another", () => {
    const results = appendAll(
      processRow(),
      ["a", "a", "b"].map((reason) => cancelRequest("p1", reason).request),
    );
    expect(results.map(({ event }) => event.sequence)).toEqual([1, 1, 2]);
  });
});

describe("the end of a process", () => {
  it("is the output that its event selects", () => {
    const { row, event } = right(append(processRow(), success));
    const end = { state: "completed", await_output: { type: "success", value: { n: 1 } } };
    expect(row.status).toEqual(end);
    expect(event.semantics).toEqual({ terminal: end });
  });
  it("ends its wait", () => {
    const waiting = right(enterWait(processRow([eventType("signal.go")]), "go", 1, 2000));
    expect(right(append(waiting, success)).row).not.toHaveProperty("wait");
  });
  it("does not end its log", () => {
    const results = appendAll(processRow([x]), [success, request("x", 1), request("x", 1)]);
    expect(results.map(({ event }) => event.sequence)).toEqual([1, 2, 3]);
    expect(results[2]?.row.status.state).toBe("completed");
  });
  it("may be an event of the process's own", () => {
    const done = eventType("done", { terminal: { state: "completed" } });
    const bad = eventType("bad", { terminal: { state: "failed", await_output: { pointer: "/why" } } });
    const row = processRow([done, bad]);
    expect(right(append(row, request("done", { n: 1 }, "K"))).row.status).toEqual({
      state: "completed",
      await_output: { type: "success", value: { n: 1 } },
    });
    expect(right(append(row, request("bad", { why: { at: 3 } }, "K"))).row.status).toEqual({
      state: "failed",
      await_output: {
        type: "failure",
        class: "execution",
        code: "process_failed",
        message: '{"at":3}',
        raw: { at: 3 },
      },
    });
  });
});

describe("a wake", () => {
  const wakes = eventType("w", {
    wake: { when: { pointer: "/when" }, input: { pointer: "/text" }, dedupe_key: "event_identity" },
  });
  const target = { session_id: "s1" };

  it("goes to the process's target, or to the request's before it", () => {
    const row = processRow([wakes], { wake_target: target });
    const asked = request("w", { when: 0, text: { a: 1 } }, "K");
    const { wake } = right(append(row, asked));
    const delivery = { process_id: "p1", sequence: 1, event_type: "w", input: '{"a":1}', dedupe_key: "p1:1" };
    expect(wake).toEqual({ target, ...delivery });
    const other = { session_id: "s2" };
    expect(right(append(row, { ...asked, wake_target_scope: other })).wake?.target).toEqual(other);
    expect(right(append(processRow([wakes]), asked))).not.toHaveProperty("wake");
  });
  it("is made again where its event is, with the same key", () => {
    const row = processRow([wakes], { wake_target: target });
    const asked = request("w", { when: true, text: "t" }, "K");
    const [, first, again] = appendAll(row, [request("w", { when: 1, text: "" }), asked, asked]);
    expect(again?.wake).toEqual(first?.wake);
    expect(again?.wake?.dedupe_key).toBe("p1:2");
  });
  it("is not made where its condition does not hold", () => {
    const row = processRow([wakes], { wake_target: target });
    const { event, wake } = right(append(row, request("w", { when: [], text: "t" })));
    expect(wake).toBeUndefined();
    expect(event.semantics).toEqual({});
  });
});

const signal = (id: string): ProcessEventAppendRequest => request("signal.go", null, id);

describe("a signal", () => {
  const go = eventType("signal.go");

  it("resolves the wait of its number", () => {
    const results = appendAll(processRow([go]), [signal("a"), signal("b"), signal("a")]);
    expect(results.map(({ signal: delivery }) => delivery)).toEqual([
      { name: "go", ordinal: 1 },
      { name: "go", ordinal: 2 },
      { name: "go", ordinal: 1 },
    ]);
  });
  it("resolves the wait that goes on, and only the first does", () => {
    const waiting = right(enterWait(processRow([go]), "go", 3, 2000));
    const [first, second] = appendAll(waiting, [signal("a"), signal("b")]);
    expect(first?.signal).toEqual({ name: "go", ordinal: 3 });
    expect(first?.row).not.toHaveProperty("wait");
    expect(second?.signal).toEqual({ name: "go", ordinal: 2 });
  });
  it("of another name leaves the wait", () => {
    const waiting = right(enterWait(processRow([go, eventType("signal.stop")]), "go", 1, 2000));
    const { row, signal: delivery } = right(append(waiting, request("signal.stop", null)));
    expect(delivery).toEqual({ name: "stop", ordinal: 1 });
    expect(row.wait).toEqual(waiting.wait);
  });
});
