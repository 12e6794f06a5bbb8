/** Requests of more calls than one step prepares or launches. */
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { checkAll } from "../../src/check.ts";
import type { Tool } from "../../src/catalog/model.ts";
import type { EventOf } from "../../src/kernel/vocabulary.ts";
import { nextDeadline } from "../../src/machine.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot, snapshotSlices } from "../../src/snapshot/write.ts";
import { Rig, tool } from "../rig.ts";
import { settle, success } from "./words.ts";

const share = 512;
const pauseMs = 5;
const id = (n: number): string => `c${n}`;
const ref = (n: number): string => `r:${id(n)}`;

const request = (count: number, name = "parallel"): EventOf<"request.submitted"> => ({
  type: "request.submitted",
  request: "r",
  hash: "h",
  calls: Array.from({ length: count }, (_, n) => ({ id: id(n), tool: name, args: n })),
});

const opened = (tools: readonly Tool[] = [tool("parallel")], protocol = 2): Rig => Rig.open(tools, {}, protocol);

/** Returns how many bodies the last event starts. */
const started = (rig: Rig): number => rig.take().filter(({ type }) => type === "tool.execute").length;

/** Lets time pass until no deadline is left, and returns how many bodies each tick started. */
const ticks = (rig: Rig): number[] => {
  const counts: number[] = [];
  for (let due = nextDeadline(rig.state); due !== undefined; due = nextDeadline(rig.state)) {
    expect(due.at - rig.at).toBeLessThanOrEqual(pauseMs);
    counts.push(started(rig.tick(due.at - rig.at)));
    expect(checkAll(rig.state)).toBeUndefined();
    expect(snapshot(restored(rig))).toEqual(snapshot(rig.state));
  }
  return counts;
};

/** Writes a snapshot in slices. Returns it, and how many slices there were. */
const slicesOf = (rig: Rig) => {
  const slices = snapshotSlices(rig.state);
  for (let count = 1; ; count += 1) {
    const { done, value } = slices.next();
    if (done === true) return { json: value, count };
  }
};

const restored = (rig: Rig) => {
  const state = restore(snapshot(rig.state));
  if (E.isLeft(state)) throw new Error("the snapshot does not restore");
  return state.right;
};

describe("a request of many calls", () => {
  it("is prepared and launched in shares, one a step, with a pause between them", () => {
    const rig = opened();
    expect(started(rig.tell(request(2 * share + 10)))).toBe(0);
    expect(ticks(rig)).toEqual([0, share, share, 10]);
  });

  it("has the snapshot in slices that it has in one piece, at work and with its replies", () => {
    const rig = opened();
    rig.tell(request(2 * share + 10)).skip();
    rig.tick(pauseMs).skip();
    rig.tell({
      type: "request.submitted",
      request: "small",
      hash: "h",
      calls: [{ id: "c", tool: "parallel", args: 1 }],
    });
    rig.skip();
    expect(slicesOf(rig)).toEqual({ json: snapshot(rig.state), count: 6 });
    rig.tell({ type: "request.cancelled", request: "r" }).skip();
    rig.tell({ type: "call.cancelled", call: "small:c" }).skip();
    for (let due = nextDeadline(rig.state); due !== undefined; due = nextDeadline(rig.state))
      rig.tick(Math.max(0, due.at - rig.at)).skip();
    expect(rig.state.requests.at("r")?.phase).toBe("replying");
    const { json, count } = slicesOf(rig);
    expect(json).toEqual(snapshot(rig.state));
    expect(count).toBeGreaterThan(3);
  });

  it("is begun as a whole where it fits one share", () => {
    expect(started(opened().tell(request(share)))).toBe(share);
  });

  it("is begun as a whole under protocol 1", () => {
    expect(started(opened(undefined, 1).tell(request(2 * share)))).toBe(2 * share);
  });

  it("is not hurried by calls of it that end", () => {
    const rig = opened();
    rig.tell(request(2 * share)).skip();
    expect(started(rig.tick(pauseMs))).toBe(share);
    for (let n = 0; n < 10; n += 1) expect(started(settle(rig, ref(n), success(n)))).toBe(0);
    expect(ticks(rig)).toEqual([share]);
  });

  it("goes on where the call that it would go on from is cancelled", () => {
    const rig = opened();
    rig.tell(request(2 * share)).skip();
    rig.tell({ type: "call.cancelled", call: ref(share) });
    expect(started(rig)).toBe(share);
    rig.tell({ type: "call.cancelled", call: ref(share + 1) });
    expect(started(rig)).toBe(share - 2);
    expect(nextDeadline(rig.state)).toBeUndefined();
  });

  it("ends with all its replies when it is cancelled between two shares", () => {
    const rig = opened();
    rig.tell(request(2 * share)).skip();
    rig.tell({ type: "request.cancelled", request: "r" });
    const replies = rig.take().flatMap((command) => (command.type === "reply" ? command.replies : []));
    expect(replies).toHaveLength(2 * share);
    expect(checkAll(rig.state)).toBeUndefined();
  });

  it("of a serial tool starts one call at a time, once all are prepared", () => {
    const rig = opened([tool("serial", { scheduling: "serial" })]);
    rig.tell(request(share + 1, "serial")).skip();
    expect(ticks(rig)).toEqual([1]);
    expect(started(settle(rig, ref(0), success(0)))).toBe(1);
  });
});
