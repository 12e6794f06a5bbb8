import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { digestOf, initial } from "../../src/machine.ts";
import { describeFault } from "../../src/log/compare.ts";
import type { Fault } from "../../src/log/fault.ts";
import { replay } from "../../src/log/replay.ts";
import { headerLine, write } from "../../src/log/format.ts";
import { acked } from "../golden/event.ts";
import { commands, end, lines, text, withLine, withRecord } from "./log.ts";

const faultOf = (changed: readonly string[], options: Parameters<typeof replay>[1] = {}): Fault | undefined =>
  replay(changed, options).fault;

describe("a replay", () => {
  it("comes to the state that the log was written in", () => {
    const seen: number[] = [];
    const { state, fault, events, header } = replay(lines, { onStep: ({ seq }) => seen.push(seq) });
    expect(fault).toBeUndefined();
    expect(header?.scope).toBe("session:golden");
    expect(events).toBe(lines.length - 1);
    expect(seen).toEqual(lines.slice(1).map((_, i) => i + 1));
    const next = { seq: end.seq + 1, at: end.at, event: acked("r") };
    expect(state === undefined ? undefined : E.toUnion(write(state, next))).toMatchObject({
      line: expect.stringContaining("reply.acked"),
    });
  });

  it("takes text in any pieces, and goes as far as a torn line", () => {
    const { state, torn, fault } = replay([text.slice(0, 700), text.slice(700, -5)]);
    expect(fault).toBeUndefined();
    expect(torn).toMatchObject({ line: lines.length });
    expect(state?.seq).toBe(lines.length - 2);
  });

  it("has no state where there is no header", () => {
    expect(replay([])).toMatchObject({ header: undefined, state: undefined, events: 0, fault: { code: "log_empty" } });
  });

  it("goes on from a state where the log does, and nowhere else", () => {
    const from = replay(lines.slice(0, 5)).state;
    const later = [
      headerLine({ format: 1, protocol: 1, scope: "session:golden", epoch: 1, writer: "golden", base: 4 }),
      ...lines.slice(5),
    ];
    expect(from === undefined ? "none" : replay(later, { from })).toMatchObject({
      events: lines.length - 5,
      fault: undefined,
    });
    expect(faultOf(later)).toMatchObject({ code: "base_mismatch", line: 1 });
    expect(faultOf(lines, { from: end })).toMatchObject({ code: "base_mismatch" });
    expect(faultOf(later, { from: { ...initial("session:other"), seq: 4 } })).toMatchObject({ code: "scope_mismatch" });
  });
});

describe("an event that today's core rejects", () => {
  it("is a fault with its code, its place and why; the state before it stands", () => {
    const changed = withLine(5, (line) => line.replaceAll("r:c1", "r:c9"));
    const { fault, state, events } = replay(changed);
    expect(fault).toMatchObject({ code: "event_rejected", line: 5, seq: 4, event: { type: "effect.requested" } });
    expect(fault).toMatchObject({ rejection: { type: "rejection", code: "call_unknown" } });
    expect([state?.seq, events]).toEqual([3, 3]);
  });

  it("is one that has no place in time", () => {
    const changed = withRecord(5, (record) => ({ ...record, at: 1 }));
    expect(faultOf(changed)).toMatchObject({ code: "event_rejected", rejection: { code: "time_went_back" } });
  });

  it("is no fault of the log's where its protocol is newer than the core", () => {
    const upgrade = `{"seq":3,"epoch":1,"at":1763459854000,"event":{"type":"scope.upgraded","to":3},"cmds":"0000000000000000"}\n`;
    expect(faultOf([...lines.slice(0, 3), upgrade])).toMatchObject({ code: "newer_protocol", line: 4, seq: 3 });
    const opened = withLine(2, (line) => line.replace('"protocol":1', '"protocol":3'));
    expect(faultOf(opened)).toMatchObject({ code: "newer_protocol", line: 2, seq: 1 });
  });
});

describe("a line of another epoch than its scope", () => {
  it("is a fault", () => {
    const changed = lines.map((line, i) => (i < 4 ? line : line.replace('"epoch":1', '"epoch":2')));
    const message = "the line is of epoch 2, but its scope is in epoch 1";
    expect(faultOf(changed)).toMatchObject({ code: "epoch_mismatch", line: 5, seq: 4, message });
  });
});

describe("a divergence", () => {
  const other = "0123456789abcdef";
  const changed = withRecord(6, (record) => ({ ...record, cmds: other }));

  it("is found at the first event, and says what today's core does, in full", () => {
    const deadline = { at: end.at + 1000, birth: 5 };
    const found = digestOf(1, [], deadline);
    const twice = changed.map((line, i) => (i === 6 ? line.replace(/"cmds":"\w+"/, `"cmds":"${other}"`) : line));
    expect(faultOf(twice)).toEqual({
      type: "fault",
      code: "diverged",
      line: 6,
      seq: 5,
      event: expect.objectContaining({ type: "effect.requested", key: "nap" }),
      message: `effect.requested recorded the digest ${other}; today's core gives ${found}`,
      expected: other,
      found,
      today: { commands: [], deadline },
      differences: [],
    });
    const settled = withRecord(7, (record) => ({ ...record, cmds: other }));
    const answer = { type: "step.answer", call: "r:c1", attempt: 1, run: 1, key: "a", seq: 6, index: 0, value: 6 };
    expect(faultOf(settled)).toMatchObject({ seq: 6, today: { commands: [answer] } });
  });

  it("says field by field how it differs from the commands that were written out", () => {
    const written = commands.map((line, i) => (i === 4 ? line.replace(/"at":\d+/, '"at":5') : line));
    const differences = [{ path: ["deadline", "at"], expected: 5, found: end.at + 1000 }];
    expect(faultOf(changed, { commands: written })).toMatchObject({ code: "diverged", seq: 5, differences });
    expect(faultOf(changed, { commands })).toMatchObject({ code: "diverged", differences: [] });
  });

  it("says how it differs from a second log", () => {
    expect(faultOf(changed, { log: lines })).toMatchObject({
      code: "diverged",
      differences: [{ path: ["cmds"], expected: expect.any(String), found: other }],
    });
  });

  it("that no digest shows is found by the commands that were written out", () => {
    const written = commands.map((line, i) => (i === 2 ? line.replace('"payload":null', '"payload":{"n":1}') : line));
    const fault = faultOf(lines, { commands: [written.join("")] });
    const differences = [{ path: ["commands", 1, "payload"], expected: { n: 1 }, found: null }];
    expect(fault).toMatchObject({ code: "commands_differ", line: 4, seq: 3, differences });
    expect(fault === undefined ? "" : describeFault(fault).split("\n").slice(0, 2)).toEqual([
      "commands_differ in line 4, event 3: request.submitted differs from the commands that were written out",
      '  $.commands[1].payload: expected {"n":1}, found null',
    ]);
    expect(faultOf(lines, { commands: commands.slice(0, 2) })).toMatchObject({
      code: "commands_differ",
      seq: 3,
      differences: [{ path: [], expected: undefined }],
    });
  });

  it("of two logs is found where their events part", () => {
    const second = withLine(7, (line) => line.replace("[1.5,[]]", "[1.5,[2]]"));
    const differences = [{ path: ["event", "result", "value", "list", 1, 0], expected: 2, found: undefined }];
    expect(faultOf(lines, { log: second })).toMatchObject({ code: "logs_differ", line: 7, seq: 6, differences });
    expect(faultOf(lines, { log: lines, commands })).toBeUndefined();
    expect(faultOf(lines, { log: lines.slice(0, 4) })).toMatchObject({ code: "logs_differ", seq: 4 });
    expect(faultOf(lines, { log: [...lines.slice(0, 3), "{}\n"] })).toMatchObject({ code: "logs_differ", seq: 3 });
  });

  it("is told in lines", () => {
    const fault = faultOf(changed, { log: lines });
    const told = fault === undefined ? [] : describeFault(fault).split("\n");
    expect(told).toHaveLength(3);
    expect(told[0]).toMatch(/^diverged in line 6, event 5: effect\.requested recorded the digest 0123456789abcdef; /);
    expect(told[1]).toMatch(/^ {2}\$\.cmds: expected "\w{16}", found "0123456789abcdef"$/);
    expect(told[2]).toBe(`  today: {"seq":5,"commands":[],"deadline":{"at":${end.at + 1000},"birth":5}}`);
    expect(describeFault(faultOf(withLine(3, () => '{"seq":true}\n')) as Fault)).toBe(
      "record_invalid in line 3: expected a sequence, found boolean at $.seq",
    );
  });
});
