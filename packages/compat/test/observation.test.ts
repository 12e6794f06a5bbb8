import { defineTool, memoryJournal, Runtime } from "@pawl/runtime";
import { type Observed, messageTurn } from "@pawl/runtime/driver";
import { SessionEvent, TurnActivity, hashText } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { activityOf, sessionEventOf } from "../src/index.ts";

const clock = { now: Date.now, monotonic: () => performance.now(), nextTurn: messageTurn, hashText };
const later = (ms: number, then: () => void): (() => void) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

it("the start and the end of a call are one activity and one event of the session each, and nothing else is", async () => {
  const tools = [
    defineTool({ name: "asks", needsApproval: true, execute: () => "yes" }),
    defineTool({ name: "adds", execute: () => 3 }),
  ];
  const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
  const runtime = new Runtime({
    journal: memoryJournal(),
    platform: { ...clock, later },
    tools,
    instance: "one",
    roots,
  });
  const session = await runtime.session("s");
  const seen: Observed[] = [];
  const watching = (async () => {
    for await (const frame of session.observe()) {
      if (frame.type === "observed") seen.push(frame);
      if (seen.at(-1)?.observation.type === "call_parked") return;
    }
  })();
  await session.request("r", [{ label: "c1", tool: "adds", args: {} }]);
  void session.request("q", [{ label: "c2", tool: "asks", args: {} }]).catch(() => undefined);
  await watching;
  await runtime.close();

  const activities = seen.map(activityOf);
  expect(activities.map((one) => one && [one.type, one.correlation_id])).toEqual([
    ["tool_call_started", "tool:c1"],
    ["tool_call_completed", "tool:c1"],
    ["tool_call_started", "tool:c2"],
    undefined,
  ]);
  expect(new Set(activities.map((one) => one?.id)).size).toBe(4);
  const events = seen.map(sessionEventOf);
  expect(events.map((one) => one?.type)).toEqual(["tool_call_start", "tool_call", "tool_call_start", undefined]);
  for (const one of activities.slice(0, 3)) expect(E.isRight(TurnActivity.decode(one))).toBe(true);
  for (const one of events.slice(0, 3)) expect(E.isRight(SessionEvent.decode(one))).toBe(true);
});
