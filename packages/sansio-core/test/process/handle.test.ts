import { type Json, type ToolCallOutput, attachment, encode } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { completionRequest } from "../../src/process/registration.ts";
import { handleValue, notGranted, notVisible, parseHandle } from "../../src/message/process.ts";
import type { ProcessAwaitOutput } from "../../src/process/model.ts";
import { awaitOfOutput, awaitOutputOf, outputOfAwait } from "../../src/process/output.ts";
import { dedupeKeyOf, isTruthy, wakeText } from "../../src/process/append.ts";
import { checkSignalName, enterWait, leaveWait, signalRequest } from "../../src/process/signal.ts";
import { append, eventType, messageOf, processRow, right } from "./world.ts";

const image = attachment({ id: "img", media_type: { kind: "image", type: "png" }, byte_len: 3 });
const finish = { type: "finish", value: 1 } as const;

describe("a handle", () => {
  it("names a process, whatever else it carries", () => {
    expect(parseHandle(handleValue("p"))).toEqual(E.right("p"));
    expect(parseHandle({ ...handleValue("p"), note: 1 })).toEqual(E.right("p"));
  });
  it("that is none says what it lacks", () => {
    const noKind = "Invalid process handle: missing `__handle__`";
    const noId = "Invalid process handle: missing `id`";
    const refused: readonly (readonly [Json, string])[] = [
      [{}, noKind],
      [null, noKind],
      ["p", noKind],
      [["__handle__"], noKind],
      [{ __handle__: 1, id: "p" }, noKind],
      [{ __handle__: "x", id: "p" }, "Invalid process handle kind: x"],
      [{ __handle__: "process" }, noId],
      [{ __handle__: "process", id: 1 }, noId],
      [{ __handle__: "process", id: "" }, noId],
    ];
    for (const [handle, message] of refused) expect(parseHandle(handle)).toEqual(E.left(message));
  });
  it("that may not be used is said so", () => {
    expect(notVisible("p")).toBe("process handle `p` is not live or visible in this session");
    expect(notGranted("p", "s")).toBe("process handle `p` is not granted to session `s`");
  });
});

describe("what a process ends with", () => {
  const ends: readonly ProcessAwaitOutput[] = [
    { type: "success", value: { image }, control: finish },
    { type: "success", value: null },
    { type: "failure", class: "timeout", code: "c", message: "m", raw: [image], control: finish },
    { type: "failure", class: "execution", code: "c", message: "m" },
    { type: "cancelled", message: "m", raw: 1, control: finish },
    { type: "cancelled", message: "m" },
  ];
  it("is a tool output and back again", () => {
    for (const end of ends) expect(awaitOfOutput(outputOfAwait(end))).toEqual(end);
  });
  it("keeps neither source nor retry", () => {
    const output: ToolCallOutput = {
      outcome: {
        status: "failure",
        payload: { class: "external", code: "c", message: "m", source: "runtime", retry: { type: "safe" } },
      },
    };
    expect(outputOfAwait(awaitOfOutput(output))).toEqual({
      outcome: {
        status: "failure",
        payload: { class: "external", code: "c", message: "m", source: "tool", retry: { type: "never" } },
      },
    });
    const cancelled = outputOfAwait({ type: "cancelled", message: "m" });
    expect(cancelled.outcome.payload).toEqual({ message: "m", source: "cancellation" });
  });
  it("survives its log, attachments included", () => {
    for (const end of ends) {
      const { row } = right(append(processRow(), completionRequest("p1", end)));
      expect(row.status).toEqual({ state: row.status.state, await_output: end });
    }
  });
  it("is wrapped by its state, where it is no output itself", () => {
    expect(awaitOutputOf("completed", { type: "other" })).toEqual({ type: "success", value: { type: "other" } });
    expect(awaitOutputOf("completed", null)).toEqual({ type: "success", value: null });
    const failed = { type: "failure", class: "execution", code: "process_failed" };
    expect(awaitOutputOf("failed", "boom")).toEqual({ ...failed, message: "boom", raw: "boom" });
    expect(awaitOutputOf("failed", { b: 1, a: 2 })).toEqual({
      ...failed,
      message: '{"a":2,"b":1}',
      raw: { a: 2, b: 1 },
    });
    expect(awaitOutputOf("failed", null)).toEqual({ ...failed, message: "null" });
    expect(awaitOutputOf("cancelled", "stop")).toEqual({ type: "cancelled", message: "stop", raw: "stop" });
  });
  it("keeps attachments in a wrapped value, and what only looks like one as it is", () => {
    expect(awaitOutputOf("completed", encode([image]))).toEqual({ type: "success", value: [image] });
    const lookalike = { $lash_tool_value: "nope" };
    expect(awaitOutputOf("completed", lookalike)).toEqual({ type: "success", value: lookalike });
  });
  it("is an output of any kind, whatever its event's state", () => {
    const end: ProcessAwaitOutput = { type: "success", value: 1 };
    expect(awaitOutputOf("failed", { type: "success", value: 1 })).toEqual(end);
  });
});

describe("a signal's name", () => {
  it("is made of letters, digits, hyphens and underscores", () => {
    for (const name of ["a", "A-b_9"]) expect(checkSignalName(name)).toEqual(E.right(name));
    for (const name of ["", "a.b", "a b", "é", "a\n"]) {
      expect(messageOf(checkSignalName(name))).toBe(
        `process signal name must be non-empty and contain only ASCII letters, digits, \`_\`, or \`-\`, got \`${name}\``,
      );
    }
  });
  it("is in its event's type and key", () => {
    expect(right(signalRequest({ processId: "p", name: "go", signalId: "process-c", payload: 1 }))).toEqual({
      event_type: "signal.go",
      payload: 1,
      replay: { key: "process:p:signal.go:process-c" },
    });
  });
});

describe("a wait for a signal", () => {
  const row = processRow([eventType("signal.go")]);
  it("is a facet of a running process, under a key of its own", () => {
    const waiting = right(enterWait(row, "go", 2, 3000));
    const kind = { kind: "signal", name: "go", event_type: "signal.go", key: "process:p1:signal.go:2", ordinal: 2 };
    expect(waiting.wait).toEqual({ kind, since_ms: 3000 });
    expect(waiting.status).toEqual({ state: "running" });
    expect(leaveWait(waiting, 4000)).toEqual({ ...row, updatedAt: 4000 });
    expect(leaveWait(row, 4000)).toBe(row);
  });
  it("is refused to a process that has ended, and for what was not declared", () => {
    const ended = right(append(row, completionRequest("p1", { type: "cancelled", message: "m" }))).row;
    expect(messageOf(enterWait(ended, "go", 1, 3000))).toBe("process `p1` is already terminal");
    expect(messageOf(enterWait(row, "stop", 1, 3000))).toContain("`signal.stop`");
    expect(messageOf(enterWait(row, "go", 0, 3000))).toContain("from 1");
  });
});

describe("what wakes", () => {
  it("is true of every number and of all that is not empty", () => {
    for (const json of [0, -0, 1n, true, "0", [null], { a: null }]) expect(isTruthy(json)).toBe(true);
    for (const json of [null, false, "", [], {}]) expect(isTruthy(json)).toBe(false);
  });
  it("is told apart by the event, by a part of it, or by a fixed text", () => {
    expect(dedupeKeyOf("event_identity", { a: "x" }, "p:1")).toEqual(E.right("p:1"));
    expect(dedupeKeyOf({ const: "c" }, { a: "x" }, "p:1")).toEqual(E.right("c"));
    expect(dedupeKeyOf({ selector: { pointer: "/a" } }, { a: "x" }, "p:1")).toEqual(E.right("x"));
    expect(dedupeKeyOf({ selector: "payload" }, { a: "x" }, "p:1")).toEqual(E.right('{"a":"x"}'));
    expect(dedupeKeyOf({ selector: { pointer: "/b" } }, {}, "p:1")).toEqual(
      E.left("payload pointer `/b` did not match"),
    );
  });
  it("is read by a model as a short text", () => {
    expect(wakeText({ process_id: "p", sequence: 3, event_type: "done", input: "it is\nover" })).toBe(
      "Background process wake\nProcess: p\nEvent: done #3\nWake input:\nit is\nover",
    );
  });
});
