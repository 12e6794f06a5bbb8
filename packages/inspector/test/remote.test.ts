/** A session of a host, as an inspector elsewhere has it: over a WebSocket, observed from its first event on. */
import { openHost } from "@pawl/driver-node";
import { Client, type Observation } from "@pawl/driver-node/client";
import { type Journal, importLog, memoryJournal } from "@pawl/runtime";
import { afterEach, describe, expect, it } from "vitest";
import { Recording } from "../src/model/index.ts";
import { observedSource } from "../src/source/live.ts";
import type { Source } from "../src/source/source.ts";
import { type Asking, Saving } from "../src/view/save-log.ts";
import { logOf, runtimeOver, scope, workOn } from "./large-log.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** A host, and a client of it that may only look. */
const there = async (right: "observe" | "call" = "observe") => {
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

/** What the element does with a source, without an element. */
class Looking {
  readonly recording = new Recording();
  readonly asked: Asking[] = [];
  readonly told: string[] = [];
  readonly files: string[] = [];
  readonly saving: Saving;

  constructor({ text, blobs }: Source) {
    const { recording } = this;
    this.saving = new Saving(blobs, {
      scope: () => scope,
      absent: async () => ({ lines: recording.size, absent: recording.absent }),
      text: async (lines, packed) => recording.textOf(lines, packed),
      ask: (asking) => void this.asked.push(asking),
      tell: (words) => void this.told.push(words),
      file: (file) => void this.files.push(file),
    });
    void this.#read(text).catch((thrown: unknown) => void this.told.push(String(thrown)));
  }

  async #read(text: AsyncIterable<string>): Promise<void> {
    for await (const piece of text) this.recording.feed(piece);
  }

  /** Until all that is in the journal is here. */
  async upTo(journal: Journal): Promise<void> {
    await until(async () => this.recording.last === (await journal.read(scope, 1)).length);
  }
}

const lookAt = (observation: Observation): Looking => {
  closings.push(() => observation.return());
  return new Looking(observedSource(scope, observation));
};

describe("a session of a host", () => {
  it("is its log there to the byte, as it grows, over connections that break", async () => {
    const { journal, runtime, client } = await there();
    await runtime.session("large");
    const looking = lookAt(client.session("large").observe({ window: 2 }));
    await looking.upTo(journal);
    const working = workOn(runtime);
    client.reconnect();
    await working;
    client.reconnect();
    await looking.upTo(journal);
    expect(looking.recording.text).toBe((await logOf(journal)).bare);
    expect(looking.told).toEqual([]);
  });

  it("comes without its large values: that is said before it is saved, and they are in no file", async () => {
    const { journal, runtime, client } = await there();
    await workOn(runtime);
    const looking = lookAt(client.session("large").observe());
    await looking.upTo(journal);
    looking.saving.save();
    await until(async () => looking.asked.length > 0);
    expect(looking.files).toEqual([]);
    const [asking] = looking.asked;
    expect(asking?.words).toMatch(
      /^2 large values are missing \(events 3, 9\): .* not imported\. Where this log comes from/,
    );
    asking?.act();
    await until(async () => looking.files.length > 0);
    const { bare, packed } = await logOf(journal);
    expect(looking.files).toEqual([bare]);
    await expect(importLog(memoryJournal(), "i", looking.files)).rejects.toMatchObject({ code: "blob_missing" });
    const whole = await importLog(memoryJournal(), "i", [packed]);
    expect(whole.seq).toBe(looking.recording.last);
  });

  it("brings them along where its source can be asked for them", async () => {
    const { journal, runtime, client } = await there();
    await workOn(runtime);
    const observation = client.session("large").observe();
    closings.push(() => observation.return());
    const { blobs } = journal;
    if (blobs === undefined) throw new Error("the journal in memory keeps blobs");
    const looking = new Looking({ ...observedSource(scope, observation), blobs });
    await looking.upTo(journal);
    looking.saving.save();
    await until(async () => looking.files.length > 0);
    expect([looking.asked, looking.files]).toEqual([[], [(await logOf(journal)).packed]]);
  });

  it("says which values its store has lost, and that a store failed", async () => {
    const { journal, runtime, client } = await there();
    await workOn(runtime);
    const observation = client.session("large").observe();
    closings.push(() => observation.return());
    let reads = 0;
    const read = async (of: string, name: string): Promise<Uint8Array | undefined> => {
      reads += 1;
      if (reads === 1) throw new Error("the disk is gone");
      return reads % 2 === 0 ? undefined : journal.blobs?.read(of, name);
    };
    const looking = new Looking({ ...observedSource(scope, observation), blobs: { read } });
    await looking.upTo(journal);
    looking.saving.save();
    await until(async () => looking.told.length > 0);
    expect([looking.told, looking.files]).toEqual([["The log was not saved: Error: the disk is gone"], []]);
    looking.saving.save();
    await until(async () => looking.asked.length > 0);
    expect(looking.asked[0]?.words).toMatch(/^1 large value is missing \(event 3\): .* The store that it should be in/);
    expect(looking.asked[0]?.yes).toBe("Save without it");
  });

  it("that is not there, or is not to be looked at, is told as that", async () => {
    const { client } = await there();
    const [missing] = [lookAt(client.session("large").observe())];
    await until(async () => missing.told.length > 0);
    expect(missing.told[0]).toContain("session:large");
    const { client: stranger } = await there("call");
    const forbidden = lookAt(stranger.session("large").observe());
    await until(async () => forbidden.told.length > 0);
    expect(forbidden.told[0]).toContain("observe");
  });

  it("whose events do not follow on each other is told as that", async () => {
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
