/** Values sealed at the journal's edge: what is stored shows how a scope went, and not what was said in it. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Event, eventLine, initial, recordedOf, snapshot, step } from "@pawl/sansio-core";
import { type Json, noLimits, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { Runtime, defineTool, memoryJournal } from "../src/index.ts";
import { SealedError, type ValueCodec, namesIn, sealedJournal, sweepBlobs } from "../src/driver.ts";
import { openLine, openSnapshot, sealLine, sealSnapshot } from "../src/journal/seal.ts";
import { TestPlatform, roots } from "./world.ts";

const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xff);
const placeText = ({ scope, at }: { readonly scope: string; readonly at: string }): string => `${scope} ${at} `;

/** Bytes turned over, behind the place that they are sealed for. */
const flipping: ValueCodec = {
  seal: async (place, bytes) => {
    const head = new TextEncoder().encode(placeText(place));
    return Uint8Array.from([1, head.length & 0xff, head.length >> 8, ...head, ...flip(bytes)]);
  },
  open: async (place, sealed) => {
    const end = 3 + (sealed[1] as number) + 256 * (sealed[2] as number);
    const head = new TextDecoder().decode(sealed.subarray(3, end));
    if (head !== placeText(place)) throw new SealedError("seal_broken", `sealed for ${head}`);
    return flip(sealed.subarray(end));
  },
};

const golden = join(import.meta.dirname, "../../sansio-core/test/golden");
const logs = readdirSync(golden).filter((name) => name.endsWith(".jsonl") && !name.endsWith(".cmds.jsonl"));

/** The texts that stand where a value may stand, none of which is sealed. */
const plainTexts = (event: unknown): readonly string[] =>
  typeof event === "string"
    ? [event]
    : typeof event === "object" && event !== null
      ? Object.entries(event).flatMap(([key, part]) =>
          ["payload", "args", "value", "input", "message", "output", "bindings"].includes(key) ? plainTexts(part) : [],
        )
      : [];

describe("sealing", () => {
  it.each(logs)("opens to the very lines and snapshots that were sealed: %s", async (name) => {
    const [header = "", ...lines] = readFileSync(join(golden, name), "utf8").split(/(?<=\n)/);
    let state = initial((JSON.parse(header) as { readonly scope: string }).scope);
    for (const written of lines) {
      const read = E.chain(recordedOf)(parse(written, noLimits));
      if (E.isLeft(read)) throw new Error(read.left.message);
      const line = eventLine(read.right);
      const sealed = await sealLine(flipping, "session:s", line);
      expect(await openLine(flipping, "session:s", sealed)).toBe(line);
      const still = E.chain(recordedOf)(parse(sealed, noLimits));
      if (E.isLeft(still)) throw new Error(still.left.message);
      expect({ ...still.right, event: still.right.event.type }).toEqual({
        ...read.right,
        event: read.right.event.type,
      });
      const stepped = step(state, read.right);
      if (E.isLeft(stepped)) throw new Error(stepped.left.message);
      state = stepped.right.state;
    }
    const text = stringify(snapshot(state) as Json);
    expect(await openSnapshot(flipping, "session:s", await sealSnapshot(flipping, "session:s", text))).toBe(text);
  });

  it("leaves keys, types and references, and nothing that was said", async () => {
    const event = {
      type: "step.settled",
      call: "r:c",
      attempt: 1,
      run: 1,
      key: "durable-step:charge",
      result: { status: "err", error: { code: "card_refused", message: "the card of Ann" } },
    } as const;
    const line = `{"seq":4,"epoch":1,"at":9,"event":${JSON.stringify(event)},"cmds":"0123456789abcdef"}\n`;
    const sealed = await sealLine(flipping, "session:s", line);
    expect(sealed).toContain('"key":"durable-step:charge"');
    expect(sealed).toContain('"code":"card_refused"');
    expect(sealed).not.toContain("Ann");
    expect(plainTexts(JSON.parse(sealed) as Event)).toEqual([]);
  });

  it("is good for its place alone", async () => {
    const line = `{"seq":4,"epoch":1,"at":9,"event":{"type":"wait.resolved","key":"k","resolution":{"status":"ok","payload":1}},"cmds":"0123456789abcdef"}\n`;
    const sealed = await sealLine(flipping, "session:s", line);
    await expect(openLine(flipping, "session:t", sealed)).rejects.toMatchObject({ code: "seal_broken" });
    await expect(openLine(flipping, "session:s", sealed.replace('"seq":4', '"seq":5'))).rejects.toMatchObject({
      code: "seal_broken",
    });
  });
});

const secret = "the secret of Ann";
const large = secret.repeat(10_000);

const echo = defineTool({
  name: "echo",
  durable: true,
  execute: async (args, ctx) => ((input) => ctx.run("step", () => input, { input }))(args),
});

describe("a scope over a sealed journal", () => {
  it("goes on as over any, and its store shows nothing that was said in it", async () => {
    const platform = new TestPlatform();
    const inner = memoryJournal({ now: platform.now });
    const start = (instance: string): Runtime =>
      new Runtime({ journal: sealedJournal(inner, flipping), platform, tools: [echo], instance, roots });
    const calls = [
      { label: "c", tool: "echo", args: { secret } },
      { label: "d", tool: "echo", args: { large } },
    ];
    const first = start("one");
    const session = await first.session("s");
    const replies = await session.request("r", calls, { keep: true });
    await first.close();
    const second = start("two");
    const again = await second.session("s");
    expect(await again.request("r", calls)).toEqual(replies);
    expect(replies.map(({ output }) => output.outcome.payload)).toEqual([{ secret }, { large }]);

    const stored = (await inner.read("session:s", 1)).map(({ line }) => line);
    expect(stored.join("")).not.toContain("secret of Ann");
    expect(stored.filter((line) => line.includes('"sealed":')).length).toBeGreaterThan(3);
    const open = (await sealedJournal(inner, flipping).read("session:s", 1)).map(({ line }) => line);
    expect(open.join("")).toContain("secret of Ann");
    const names = new Set(stored.flatMap(namesIn));
    expect(names.size).toBeGreaterThan(0);
    for (const name of names) {
      const bytes = await inner.blobs?.read("session:s", name);
      expect(new TextDecoder().decode(bytes)).not.toContain("secret of Ann");
    }
    platform.advance(4_000_000);
    const removed = new Set((await sweepBlobs(inner)).removed);
    expect([...names].filter((name) => removed.has(name))).toEqual([]);
    expect(await inner.verify("session:s")).toMatchObject({ type: "whole" });
    expect(await inner.head("session:s")).toEqual(await sealedJournal(inner, flipping).head("session:s"));
  });

  it("may have values redacted: what its store never had is had by nobody later, and the scope goes on", async () => {
    const platform = new TestPlatform();
    const inner = memoryJournal({ now: platform.now });
    const redacting: ValueCodec = {
      seal: (_, bytes) => new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll(secret, "***")),
      open: (_, stored) => stored,
    };
    const lookup = defineTool({
      name: "lookup",
      durable: true,
      execute: async (_, ctx) => {
        const found = await ctx.run("find", () => ({ secret }));
        return [found, await ctx.waitFor("go")];
      },
    });
    const start = (instance: string): Runtime => {
      const journal = sealedJournal(inner, redacting);
      return new Runtime({ journal, platform, tools: [echo, lookup], instance, roots, snapshotAfter: 100 });
    };
    const done = [{ label: "c", tool: "echo", args: { secret } }];
    const waiting = [{ label: "c", tool: "lookup", args: {} }];
    const first = await start("one").session("s");
    const [told] = await first.request("r", done, { keep: true });
    expect(told?.output.outcome.payload).toEqual({ secret });
    first.request("w", waiting).catch(() => undefined); // It ends with its runtime.
    while (first.state.waits.size === 0) await new Promise((resolve) => setImmediate(resolve));
    await first.runner.whenDurable();

    const again = await start("two").session("s");
    expect((await again.request("r", done))[0]?.output.outcome.payload).toEqual({ secret: "***" });
    const replies = again.request("w", waiting);
    const [wait] = again.state.waits.rows();
    expect(await again.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "ann")).toEqual({
      status: "accepted",
    });
    expect((await replies)[0]?.output.outcome.payload).toEqual([{ secret: "***" }, 1]);
    expect((await inner.verify("session:s"))?.type).toBe("whole");
  });

  it("takes nothing that can not be sealed, and does not hold up others", async () => {
    const platform = new TestPlatform();
    const inner = memoryJournal({ now: platform.now });
    const codec: ValueCodec = {
      ...flipping,
      seal: async (place, bytes) => {
        if (place.scope === "session:gone") throw new SealedError("key_gone", "the key was deleted");
        return flipping.seal(place, bytes);
      },
    };
    const journal = sealedJournal(inner, codec);
    const runtime = new Runtime({ journal, platform, tools: [echo], instance: "one", roots });
    const [gone, here] = await Promise.all([runtime.session("gone"), runtime.session("here")]);
    const call = [{ label: "c", tool: "echo", args: { secret } }];
    const [lost, done] = await Promise.allSettled([gone.request("r", call), here.request("r", call)]);
    expect(lost).toMatchObject({ status: "rejected", reason: { code: "scope_lost" } });
    expect(done.status).toBe("fulfilled");
    expect((await inner.read("session:gone", 1)).map(({ line }) => line).join("")).not.toContain("request.submitted");
  });
});
