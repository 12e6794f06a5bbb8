import { describe, expect, it } from "vitest";
import { type Recorded, eventLine, headerLine } from "../../src/log/format.ts";
import { type Reading, beginReading, endReading, feed } from "../../src/log/read.ts";
import { lines, text, withLine, withRecord } from "./log.ts";

const readAll = (chunks: readonly string[]): { readonly reading: Reading; readonly events: readonly Recorded[] } => {
  let reading = beginReading;
  const events: Recorded[] = [];
  for (const chunk of chunks) {
    const fed = feed(reading, chunk);
    reading = fed.reading;
    events.push(...fed.events);
  }
  return { reading, events };
};
const endOf = (chunks: readonly string[]): object | undefined => endReading(readAll(chunks).reading);

describe("a log that is read", () => {
  it("gives back the lines that were written", () => {
    const { reading, events } = readAll(lines);
    expect(endReading(reading)).toBeUndefined();
    expect(reading.header).toEqual({
      format: 1,
      protocol: 1,
      scope: "session:golden",
      epoch: 1,
      writer: "golden",
      base: 0,
    });
    expect([reading.header === undefined ? "" : headerLine(reading.header), ...events.map(eventLine)]).toEqual(lines);
  });

  it("is the same wherever its text is cut into pieces", () => {
    const whole = readAll([text]);
    for (let at = 0; at <= text.length; at++) expect(readAll([text.slice(0, at), text.slice(at)])).toEqual(whole);
    expect(readAll([...text])).toEqual(whole);
    expect(readAll(text.split(/(?<=\n)/))).toEqual(whole);
  });

  it("is the same however many of its lines come at once, and wherever the first fault is", () => {
    const ticks = Array.from({ length: 150 }, (_, i) => {
      const event = { type: "clock.ticked" } as const;
      return eventLine({ seq: i + 8, epoch: 1, at: 1_763_459_855_000 + i, event, cmds: "0123456789abcdef" });
    });
    const long = [...lines, ...ticks];
    const spoil = [
      (line: string) => line,
      (line: string) => line.replace("{", "["),
      (line: string) => line.replace('"at":', '"at":-'),
      (line: string) => line.replace('"seq":', '"seq":1'),
      (line: string) => line.slice(0, 40),
    ];
    for (let at = 0; at < long.length; at++) {
      const change = spoil[at % spoil.length] as (line: string) => string;
      const spoilt = long.map((line, i) => (i === at ? change(line) : line));
      const one = readAll(spoilt);
      expect(readAll([spoilt.join("")])).toEqual(one);
      expect(readAll([spoilt.slice(0, 100).join(""), spoilt.slice(100).join("")])).toEqual(one);
    }
  });

  it("never changes a reading that it goes on from", () => {
    const { reading } = feed(beginReading, lines[0] as string);
    const once = feed(reading, lines[1] as string);
    expect(feed(reading, lines[1] as string)).toEqual(once);
    expect(reading.lines).toBe(1);
  });
});

describe("a torn last line", () => {
  it("is told from a fault, wherever it is torn", () => {
    const before = text.length - (lines.at(-1) as string).length;
    for (let at = before + 1; at < text.length; at++) {
      const { reading, events } = readAll([text.slice(0, at)]);
      expect(events).toHaveLength(lines.length - 2);
      expect(endReading(reading)).toEqual({ type: "torn", line: lines.length, text: text.slice(before, at) });
    }
  });

  it("may be the header", () => {
    expect(endOf(['{"format":1,"pro'])).toEqual({ type: "torn", line: 1, text: '{"format":1,"pro' });
  });

  it("may have got a line feed from whoever looked at it", () => {
    const cut = (lines.at(-1) as string).slice(0, 80);
    const all = [...lines.slice(0, -1), `${cut}\n`];
    expect(endOf(all)).toEqual({ type: "torn", line: lines.length, text: cut });
    expect(endOf([...all, ""])).toMatchObject({ type: "torn" });
    expect(endOf([...all, "\n"])).toMatchObject({ code: "line_corrupt", line: lines.length });
    expect(endOf([...all, lines.at(-1) as string])).toMatchObject({ code: "line_corrupt", line: lines.length });
    expect(endOf([...lines, "\n"])).toEqual({ type: "torn", line: lines.length + 1, text: "" });
  });

  it("is none where the line is whole and wrong", () => {
    expect(endOf([...lines.slice(0, -1), '{"seq":1}}\n'])).toMatchObject({ code: "line_corrupt" });
    const empty = "the line is empty: each line brings its line feed along, so that they are joined with nothing";
    expect(endOf([lines.join("\n")])).toMatchObject({ code: "line_corrupt", line: 2, message: empty });
    expect(endOf([...lines, "[] []\n"])).toMatchObject({ code: "line_corrupt", line: lines.length + 1 });
  });
});

describe("a fault", () => {
  it("says that there is nothing to read", () => {
    expect(endOf([])).toMatchObject({ code: "log_empty", line: 1 });
  });

  it("names the line that is no JSON, and the one that is no record, and where", () => {
    expect(endOf(withLine(4, (line) => line.replace('"seq"', "seq")))).toMatchObject({ code: "line_corrupt", line: 4 });
    expect(endOf(withLine(4, () => "42\n"))).toMatchObject({ code: "record_invalid", line: 4, path: [] });
    const wrong: readonly (readonly [object, readonly string[]])[] = [
      [{ seq: "3" }, ["seq"]],
      [{ epoch: -1 }, ["epoch"]],
      [{ at: 1.5 }, ["at"]],
      [{ cmds: "abc" }, ["cmds"]],
      [{ event: null }, ["event"]],
      [{ event: { type: "call.imagined" } }, ["event", "type"]],
      [{ event: { type: "reply.acked", request: 7 } }, ["event", "request"]],
    ];
    for (const [change, path] of wrong) {
      const found = endOf(withRecord(4, (record) => ({ ...record, ...change })));
      expect(found).toMatchObject({ code: "record_invalid", line: 4, path });
    }
    expect(endOf(withRecord(4, (record) => ({ ...record, cmds: undefined })))).toMatchObject({
      message: "missing field `cmds`",
    });
  });

  it("names a header that is none", () => {
    expect(endOf(lines.slice(1))).toMatchObject({ code: "header_invalid", line: 1 });
    expect(endOf(withLine(1, () => "[]\n"))).toMatchObject({ code: "header_invalid" });
    expect(endOf(withRecord(1, (header) => ({ ...header, scope: 7 })))).toMatchObject({
      code: "header_invalid",
      path: ["scope"],
    });
    expect(endOf(withRecord(1, (header) => ({ ...header, format: 0 })))).toMatchObject({ code: "header_invalid" });
  });

  it("refuses what is newer before it looks at anything else", () => {
    expect(endOf(['{"format":2,"elsewhere":true}\n'])).toMatchObject({ code: "newer_format", line: 1 });
    expect(endOf(withRecord(1, (header) => ({ ...header, protocol: 3 })))).toMatchObject({
      code: "newer_protocol",
      line: 1,
    });
  });

  it("finds a gap in the sequence, a repetition, and a log that begins elsewhere", () => {
    expect(endOf(lines.filter((_, i) => i !== 3))).toMatchObject({ code: "sequence_gap", line: 4, seq: 4 });
    expect(endOf(withRecord(4, (record) => ({ ...record, seq: 2 })))).toMatchObject({
      code: "sequence_gap",
      line: 4,
      seq: 2,
    });
    expect(endOf(withRecord(1, (header) => ({ ...header, base: 1 })))).toMatchObject({ code: "sequence_gap", line: 2 });
  });

  it("finds an epoch that goes back", () => {
    expect(endOf(withRecord(1, (header) => ({ ...header, epoch: 2 })))).toMatchObject({
      code: "epoch_went_back",
      line: 2,
    });
    const later = withRecord(4, (record) => ({ ...record, epoch: 7 }));
    expect(endOf(later)).toMatchObject({
      code: "epoch_went_back",
      line: 5,
      seq: 4,
      message: "expected an epoch from 7, found 1",
    });
  });

  it("is the first of all, and ends the reading", () => {
    const { reading, events } = readAll([...lines.slice(0, 3), "x\n", ...lines.slice(3)]);
    expect(events).toHaveLength(2);
    expect(reading.lines).toBe(4);
    expect(feed(reading, lines[3] as string)).toEqual({ reading, events: [] });
  });
});
