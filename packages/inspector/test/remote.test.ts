/** A session of a host, inspected over a WebSocket: observed from its first event on. */
import { openHost } from "@pawl/driver-node";
import { Client, type Observation } from "@pawl/driver-node/client";
import { type Journal, importLog, memoryJournal } from "@pawl/runtime";
import { afterEach, describe, expect, it } from "vitest";
import { Recording } from "../src/model/index.ts";
import { observedSource } from "../src/source/source.ts";
import type { Source } from "../src/source/source.ts";
import { type Confirmation, LogSaver } from "../src/view/save-log.ts";
import { logOf, runtimeOver, scope, workOn } from "./large-log.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** Opens a host, and a client with one right. */
const openBoth = async (right: "observe" | "call" = "observe") => {
  const journal = memoryJournal();
  const runtime = runtimeOver(journal);
  const host = await openHost({ runtime, secrets: [new Uint8Array(32).fill(9)] });
  closings.push(() => host.close());
  const token = host.sign({ by: "ann", scopes: [""], rights: [right], expires_at: 4_000_000_000_000 });
  const client = new Client({ url: host.url, token, backoff: { minMs: 5, maxMs: 50 } });
  closings.push(() => client.close());
  return { journal, runtime, client };
};

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** A stand-in for the element: it reads a source and saves it. */
class Reader {
  readonly recording = new Recording();
  readonly questions: Confirmation[] = [];
  readonly errors: string[] = [];
  readonly files: string[] = [];
  readonly saver: LogSaver;

  constructor({ text, blobs }: Source) {
    const { recording } = this;
    this.saver = new LogSaver(blobs, {
      scope: () => scope,
      missing: async () => ({ lines: recording.size, missing: recording.missing }),
      text: async (lines, packed) => recording.textOf(lines, packed),
      confirm: (confirmation) => void this.questions.push(confirmation),
      tell: (words) => void this.errors.push(words),
      file: (file) => void this.files.push(file),
    });
    void this.#read(text).catch((thrown: unknown) => void this.errors.push(String(thrown)));
  }

  async #read(text: AsyncIterable<string>): Promise<void> {
    for await (const piece of text) this.recording.feed(piece);
  }

  /** Waits until everything in the journal has arrived. */
  async upTo(journal: Journal): Promise<void> {
    await until(async () => this.recording.last === (await journal.read(scope, 1)).length);
  }
}

const readerOf = (observation: Observation): Reader => {
  closings.push(() => observation.return());
  return new Reader(observedSource(scope, observation));
};

describe("a session of a host", () => {
  it("is the same log to the byte, as it grows, over connections that break", async () => {
    const { journal, runtime, client } = await openBoth();
    await runtime.session("large");
    const reader = readerOf(client.session("large").observe({ window: 2 }));
    await reader.upTo(journal);
    const working = workOn(runtime);
    client.reconnect();
    await working;
    client.reconnect();
    await reader.upTo(journal);
    expect(reader.recording.text).toBe((await logOf(journal)).bare);
    expect(reader.errors).toEqual([]);
  });

  it("comes without its large values: saving asks first, and the file lacks them", async () => {
    const { journal, runtime, client } = await openBoth();
    await workOn(runtime);
    const reader = readerOf(client.session("large").observe());
    await reader.upTo(journal);
    reader.saver.save();
    await until(async () => reader.questions.length > 0);
    expect(reader.files).toEqual([]);
    const [question] = reader.questions;
    expect(question?.words).toMatch(
      /^2 large values are missing \(events 3, 9\): .* not imported\. The source of this log/,
    );
    question?.act();
    await until(async () => reader.files.length > 0);
    const { bare, packed } = await logOf(journal);
    expect(reader.files).toEqual([bare]);
    await expect(importLog(memoryJournal(), "i", reader.files)).rejects.toMatchObject({ code: "blob_missing" });
    const whole = await importLog(memoryJournal(), "i", [packed]);
    expect(whole.seq).toBe(reader.recording.last);
  });

  it("includes them if its source can read them", async () => {
    const { journal, runtime, client } = await openBoth();
    await workOn(runtime);
    const observation = client.session("large").observe();
    closings.push(() => observation.return());
    const { blobs } = journal;
    if (blobs === undefined) throw new Error("the journal in memory keeps blobs");
    const reader = new Reader({ ...observedSource(scope, observation), blobs });
    await reader.upTo(journal);
    reader.saver.save();
    await until(async () => reader.files.length > 0);
    expect([reader.questions, reader.files]).toEqual([[], [(await logOf(journal)).packed]]);
  });

  it("reports values that its store has lost, and a failure of the store", async () => {
    const { journal, runtime, client } = await openBoth();
    await workOn(runtime);
    const observation = client.session("large").observe();
    closings.push(() => observation.return());
    let reads = 0;
    const read = async (of: string, name: string): Promise<Uint8Array | undefined> => {
      reads += 1;
      if (reads === 1) throw new Error("the disk is gone");
      return reads % 2 === 0 ? undefined : journal.blobs?.read(of, name);
    };
    const reader = new Reader({ ...observedSource(scope, observation), blobs: { read } });
    await reader.upTo(journal);
    reader.saver.save();
    await until(async () => reader.errors.length > 0);
    expect([reader.errors, reader.files]).toEqual([["The log was not saved: Error: the disk is gone"], []]);
    reader.saver.save();
    await until(async () => reader.questions.length > 0);
    expect(reader.questions[0]?.words).toMatch(
      /^1 large value is missing \(event 3\): .* The store does not have it any more/,
    );
    expect(reader.questions[0]?.yes).toBe("Save without it");
  });

  it("that does not exist, or must not be observed, is reported", async () => {
    const { client } = await openBoth();
    const [missing] = [readerOf(client.session("large").observe())];
    await until(async () => missing.errors.length > 0);
    expect(missing.errors[0]).toContain("session:large");
    const { client: caller } = await openBoth("call");
    const forbidden = readerOf(caller.session("large").observe());
    await until(async () => forbidden.errors.length > 0);
    expect(forbidden.errors[0]).toContain("observe");
  });

  it("with events that do not follow each other is reported", async () => {
    const event = { type: "reply.acked", request: "r" } as const;
    const text = observedSource(
      scope,
      (async function* () {
        yield { cursor: 1, at: 1, event };
      })(),
    ).text;
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of text) pieces.push(piece);
    })();
    await expect(reading).rejects.toThrow(`event 1 of ${scope} does not fit`);
    expect(pieces).toHaveLength(1);
  });
});
