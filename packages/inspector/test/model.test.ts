/** The model of the inspector: lanes, moments, faults and forks of any log. */
import { readFileSync, readdirSync } from "node:fs";
import { type Fork, Recording, firstDifference, forkAt, continueAsRecorded, textOfFork } from "../src/model/index.ts";
import { packNamed } from "@pawl/runtime/driver";
import { eventLine } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { pathOf } from "../../../test/project.ts";
import { largeLog, scope } from "./large-log.ts";
import { batchLog, longLog } from "./log.ts";

const golden = pathOf("packages/sansio-core/test/golden");
const names = readdirSync(golden, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".jsonl") && !file.endsWith(".cmds.jsonl"),
);
const textOf = (name: string): string => readFileSync(`${golden}/${name}`, "utf8");

const recordingOf = (text: string, piece = text.length): Recording => {
  const recording = new Recording();
  for (let at = 0; at < text.length; at += piece) recording.feed(text.slice(at, at + piece));
  recording.end();
  return recording;
};

const right = <A>(result: E.Either<{ readonly message: string }, A>): A => {
  if (E.isLeft(result)) throw new Error(result.left.message);
  return result.right;
};

describe("every golden log", () => {
  it.each(names)("%s can be inspected at every event", (name) => {
    const recording = recordingOf(textOf(name));
    expect(recording.problem).toBeUndefined();
    for (let seq = recording.base + 1; seq <= recording.last; seq++) {
      const { known, line } = recording.momentAt(seq);
      expect(known).toBeDefined();
      expect(line).toContain(`{"seq":${seq},`);
      for (const { words } of known?.commands ?? []) expect(words).toMatch(/^[A-Z].*\.$/);
    }
  });

  it.each(names)("%s is the same, in whatever pieces it is read", (name) => {
    const [whole, pieces] = [recordingOf(textOf(name)), recordingOf(textOf(name), 37)];
    expect(pieces.lanes.spans).toEqual(whole.lanes.spans);
    expect(pieces.entries).toEqual(whole.entries);
    expect(pieces.momentAt(pieces.last)).toEqual(whole.momentAt(whole.last));
  });

  it.each(names)("%s has spans that do not overlap and do not end before they begin", (name) => {
    const { lanes, last } = recordingOf(textOf(name));
    for (const { lane, from, to = last, track } of lanes.spans) {
      expect(to).toBeGreaterThanOrEqual(from);
      expect(track).toBeLessThanOrEqual(lanes.lanes[lane]?.tracks ?? -1);
    }
    const ofTrack = lanes.spans
      .filter(({ kind }) => kind !== "ended")
      .map((span) => [`${span.lane}/${span.track}`, span] as const);
    for (const [place, span] of ofTrack)
      for (const [other, next] of ofTrack)
        if (other === place && next.id > span.id) expect(next.from).toBeGreaterThanOrEqual(span.to ?? Infinity);
  });
});

describe("a log with large values", () => {
  it("can be inspected at every event if it contains them", async () => {
    const { packed } = await largeLog();
    for (const recording of [recordingOf(packed), recordingOf(packed, 1000)]) {
      expect(recording.problem).toBeUndefined();
      for (let seq = 1; seq <= recording.last; seq++) expect(recording.momentAt(seq).line).toContain(`{"seq":${seq},`);
      expect(recording.missing).toEqual([]);
      expect(recording.text).toBe(packed);
    }
  });

  it("lists the missing ones with the events that name them first; with them it equals the export", async () => {
    const { journal, bare, packed } = await largeLog();
    const recording = recordingOf(bare, 1000);
    const submitted = recording.entries.filter(({ type }) => type === "request.submitted").map(({ seq }) => seq);
    expect(recording.missing.map(({ seq }) => seq)).toEqual([submitted[0], submitted[2]]);
    const missing = recording.missing.map(({ blob }) => blob);
    const blobs = await packNamed(journal.blobs, scope, missing);
    expect(recording.textOf(recording.size, blobs)).toBe(packed);
    const [first] = blobs;
    const half = recordingOf(recording.textOf(recording.size, first === undefined ? [] : [first]));
    expect(half.missing.map(({ blob }) => blob)).toEqual(missing.slice(1));
  });

  it("can grow while its missing values are read", async () => {
    const { bare } = await largeLog();
    const lines = bare.split(/(?<=\n)/);
    const recording = recordingOf(lines.slice(0, 4).join(""));
    const { size } = recording;
    for (const line of lines.slice(4)) recording.feed(line);
    expect(recording.textOf(size, [])).toBe(lines.slice(0, 4).join(""));
  });
});

describe("calls that a body makes", () => {
  const { lanes } = recordingOf(batchLog());

  it("have lanes under the names of their tools, also before they are prepared", () => {
    expect(lanes.lanes.map(({ title }) => title)).toEqual(["answer", "work", "work"]);
  });

  it("have a batch span that is labelled by its kind, not by a hash", () => {
    expect(lanes.spans.filter(({ kind }) => kind === "batch").map(({ label }) => label)).toEqual(["batch"]);
  });
});

describe("a log with a crash in it", () => {
  const recording = recordingOf(textOf("owner-lost.jsonl"));
  const treeAt = (seq: number): unknown => recording.momentAt(seq).known?.tree;
  const spans = recording.lanes.spans.map(({ label, from, to, end }) => [label, from, to, end]);

  it("marks the crash, and shows lost steps and their repeats", () => {
    expect(recording.lanes.marks.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "opened"],
      [8, "crash"],
      [12, "lost"],
    ]);
    expect(spans).toContainEqual(["a", 4, 5, "ok"]);
    expect(spans).toContainEqual(["b", 6, 8, "lost"]);
    expect(spans).toContainEqual(["b", 9, 10, "ok"]);
    expect(spans).toContainEqual(["ok", 14, 14, "ok"]);
  });

  it("lists the differences that an event made", () => {
    const changes = recording.momentAt(9).known?.changes ?? [];
    expect(changes.map(({ section, key, type }) => [section, key, type])).toEqual([["calls", "r:c1", "changed"]]);
    expect(changes[0]?.differences).toContainEqual({ path: ["phase"], expected: "resuming", found: "running" });
  });

  it("lists the open waits, since when, and what would end them", () => {
    const [body, step] = recording.momentAt(6).known?.waiting ?? [];
    expect(body).toMatchObject({ call: "r:c1", words: expect.stringContaining("waits for its body, which d1 runs") });
    expect(step).toMatchObject({ since: 6, movedBy: expect.arrayContaining(["step.settled"]) });
  });

  it("explains the commands of an event, and what the driver owes", () => {
    const [command] = recording.momentAt(6).known?.commands ?? [];
    expect(command).toMatchObject({
      type: "step.run",
      words: "Step “b” will run: its request is recorded, its result is not.",
      duty: expect.stringContaining("answered by step.settled"),
    });
  });

  it("does not mark a crash if a new owner comes while nothing runs", () => {
    const { lanes } = recordingOf(longLog(2_500));
    expect(lanes.marks.map(({ type }) => type)).toEqual(["opened", "owner"]);
    expect(lanes.marks[1]?.label).toBe("a new owner, epoch 2");
  });

  it("shows a turn as a person reads it: its words, its calls, and what its budget asks", () => {
    const { entries } = recordingOf(textOf("2/turn.jsonl"));
    const gistsOf = (type: string): readonly string[] =>
      entries.filter((one) => one.type === type).map(({ gist }) => gist);
    expect(gistsOf("turn.submitted")[0]).toMatch(/^\S+: \S/);
    expect(gistsOf("model.answered")[0]).toMatch(/^answer 1: \S/);
  });

  it("describes its events in a few words: with the call, and with shortened ids", () => {
    const gists = recording.entries.map(({ gist }) => gist);
    expect(gists[8]).toBe("r:c1: run 2, owner lost");
    expect(gists[13]).toBe("r:c1: success");
    expect(gists[14]).toBe("request r");
    const [, , , diverged] = recordingOf(textOf("divergence.jsonl")).entries;
    expect(diverged?.gist).toBe("r:c1: request 1: expected step a, found step b");
    const owner = "tab:dbf32f3f-36ff-498c-9495-9a1b2c3d4e5f";
    const [opened] = recordingOf(textOf("owner-lost.jsonl").split('"d1"').join(JSON.stringify(owner))).entries;
    expect(opened?.gist).toBe("epoch 1, owned by tab:dbf32f3f…");
  });

  it("finds events by the text of their lines", () => {
    expect(recording.search('STEP.settled "b"')).toEqual([10]);
    expect(recording.search("nowhere")).toEqual([]);
    expect(recording.search("  ")).toEqual([]);
  });

  it("shows the same state forwards and backwards", () => {
    const forth = [3, 7, 11, 15].map(treeAt);
    expect([15, 11, 7, 3].map(treeAt).toReversed()).toEqual(forth);
  });
});

describe("a log that came from another store", () => {
  it("has abandoned its open work, not lost it", () => {
    const { lanes } = recordingOf(textOf("received.jsonl"));
    const moved = lanes.marks.find(({ type }) => type === "moved")?.seq;
    const ended = lanes.spans.filter(({ to }) => to === moved).map(({ label, end }) => [label, end]);
    expect(ended).toEqual([
      ["running", "abandoned"],
      ["a", "abandoned"],
    ]);
  });
});

describe("a long log", () => {
  it("shows the same at any event as a log that ends there", () => {
    const text = longLog(400);
    const recording = recordingOf(text);
    const lines = text.split("\n");
    for (const seq of [1, 63, 64, 65, 128, 250, recording.last]) {
      const alone = recordingOf(`${lines.slice(0, seq + 1).join("\n")}\n`);
      expect(recording.momentAt(seq)).toEqual(alone.momentAt(seq));
    }
  });
});

describe("a log with something wrong in it", () => {
  const lines = textOf("owner-lost.jsonl").trimEnd().split("\n");

  it("is shown up to a corrupt line, which is named", () => {
    const broken = recordingOf([...lines.slice(0, 6), "no json", ...lines.slice(7)].join("\n"));
    expect(broken.last).toBe(5);
    expect(broken.problem).toMatchObject({ seq: 5, words: expect.stringContaining("line_corrupt in line 7") });
    expect(broken.lanes.marks.at(-1)).toMatchObject({ type: "fault" });
  });

  it("has only its lines after an event that diverges", () => {
    const spoiled = lines.map((line, i) => (i === 6 ? line.replace(/"cmds":"....../, '"cmds":"000000') : line));
    const recording = recordingOf(`${spoiled.join("\n")}\n`);
    expect(recording.problem).toMatchObject({ seq: 5, words: expect.stringContaining("diverged in line 7, event 6") });
    expect(recording.momentAt(5).known).toBeDefined();
    expect(recording.momentAt(6).known).toBeUndefined();
    expect(recording.momentAt(9).line).toBe(lines[9]);
  });

  it("reports a torn last line", () => {
    const torn = recordingOf(textOf("owner-lost.jsonl").slice(0, -20));
    expect(torn.last).toBe(14);
    expect(torn.problem?.words).toContain("Line 16 is torn");
  });

  it("is reported as empty", () => {
    expect(recordingOf("").problem?.words).toContain("log_empty");
  });
});

describe("a fork", () => {
  const recording = recordingOf(textOf("owner-lost.jsonl"));
  const eventAt = (seq: number): object =>
    (recording.momentAt(seq).json as unknown as { readonly event: object }).event;
  const forked = (seq: number, change: object = {}): Fork =>
    right(forkAt(recording, seq, { ...eventAt(seq), ...change } as never));

  const codeOf = (seq: number, edited?: object): unknown => {
    const fork = forkAt(recording, seq, edited as never);
    return E.isLeft(fork) ? fork.left.code : "forked";
  };

  it("without an edit equals the log up to there", () => {
    const text = textOf("owner-lost.jsonl").split("\n").slice(0, 8).join("\n");
    expect(textOfFork(right(forkAt(recording, 7)))).toBe(`${text}\n`);
  });

  it("continues as recorded to the same log", () => {
    const { text, left } = continueAsRecorded(right(forkAt(recording, 7)), recording);
    expect(left).toEqual([]);
    expect(text).toBe(textOf("owner-lost.jsonl"));
    expect(firstDifference(recording, recordingOf(text))).toBeUndefined();
  });

  it("of a log of an older version does not differ from it", () => {
    const rewritten = recording.events(1, recording.last).map(eventLine);
    const [header = "", first = ""] = textOf("owner-lost.jsonl").split(/(?<=\n)/);
    expect(rewritten[0]).not.toBe(first); // The older version had fewer options.
    expect(firstDifference(recording, recordingOf([header, ...rewritten].join("")))).toBeUndefined();
  });

  it("with another result differs there first", () => {
    const { text } = continueAsRecorded(forked(5, { result: { status: "ok", value: "other" } }), recording);
    const beside = recordingOf(text);
    expect(beside.problem).toBeUndefined();
    expect(firstDifference(recording, beside)).toEqual({ seq: 5, what: "event" });
    expect(beside.momentAt(5).line).toContain('"other"');
  });

  it("loses nothing at the fork, and shows later losses as any log", () => {
    const beside = new Recording(7); // The eighth event takes over from an owner that is gone.
    beside.feed(textOf("owner-lost.jsonl"));
    beside.end();
    expect(beside.lanes.marks.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "opened"],
      [8, "forked"],
      [12, "lost"],
    ]);
    const ends = beside.lanes.spans.filter(({ to }) => to === 8).map(({ label, end }) => [label, end]);
    expect(ends).toContainEqual(["b", "abandoned"]);
    expect(ends.flat()).not.toContain("lost");
  });

  it("lists the events that no longer fit", () => {
    const settled = { type: "call.settled", call: "r:c1", attempt: 1, run: 1 };
    const output = { outcome: { status: "success", payload: null } };
    const edited = { ...settled, result: { type: "done", output }, duration_ms: 1 };
    const { left, text } = continueAsRecorded(right(forkAt(recording, 6, edited)), recording);
    expect(left).toEqual([7, 9, 10, 11, 12, 13, 14]);
    expect(recordingOf(text).problem).toBeUndefined();
  });

  it("is refused if the event is invalid, does not fit, or does not exist", () => {
    expect(codeOf(5, { type: "step.settled", call: 5 })).toBe("invalid_event");
    expect(codeOf(5, { type: "reply.acked", request: "nobody" })).toBe("request_unknown");
    expect(codeOf(99)).toBe("not_known");
  });
});
