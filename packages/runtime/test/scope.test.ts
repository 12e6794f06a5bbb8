/** One scope between its store and those who perform for it: what waits for an append, and what is void without it. */
import { type Command, type State, currentProtocol, defaultOptions, initial } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { defineTool, memoryJournal } from "../src/index.ts";
import { type BlobStore, memoryBlobs } from "../src/driver.ts";
import type { OutboxMessage } from "../src/journal/journal.ts";
import { ScopeRunner } from "../src/scope/runner.ts";
import type { Interpreter } from "../src/scope/perform-queue.ts";
import type { Instance } from "../src/session/instance.ts";
import { instanceOf, storeOf } from "./parts.ts";
import { TestPlatform, World } from "./world.ts";

const ok = { type: "ok" } as const;
const early = (key: string, payload = "") =>
  ({ type: "wait.resolved", key, resolution: { status: "ok", payload } }) as const;
const letter: OutboxMessage = { to: "t", kind: "message", link: 1, number: 1, text: "hello" };

/** A scope, and what it has done. */
const scopeOf = (state: State, blobs: BlobStore) => {
  const platform = new TestPlatform();
  const seen = { performed: [] as Command[], sent: [] as string[], lost: [] as string[], stirs: 0 };
  const lease = { hasLapsed: false };
  const instance: Instance = {
    ...instanceOf(platform),
    schedule: () => (seen.stirs += 1),
    isLeased: () => true,
    hasLapsed: () => lease.hasLapsed,
    sent: (to) => seen.sent.push(to),
  };
  const store = storeOf(platform, { ...memoryJournal(), blobs }, { blobChars: 1000 });
  const interpreter: Interpreter = {
    isGrounded: () => false,
    stepped: () => undefined,
    perform: (command) => seen.performed.push(command),
    becameDurable: () => undefined,
    atRest: () => undefined,
    abandoned: (why) => seen.lost.push(why),
    deliverNext: () => false,
    pendingAnswers: "none",
  };
  const runner = new ScopeRunner(state, instance, store, interpreter);
  return { runner, seen, lease, platform };
};

/** One that is open, and durable so far. */
const begin = (blobs: BlobStore = memoryBlobs()) => {
  const scope = scopeOf(initial("session:s"), blobs);
  const options = defaultOptions;
  const opened = { type: "scope.opened", epoch: 1, owner: "a", protocol: currentProtocol, options } as const;
  scope.runner.open([opened]);
  scope.runner.nextAppend();
  scope.runner.appended(ok);
  return scope;
};

/** The state of one in which a body sleeps. */
const asleep = async (): Promise<State> => {
  const world = new World();
  const naps = defineTool({ name: "naps", durable: true, execute: (_, ctx) => ctx.sleep(60_000) });
  const session = await world.start([naps]).runtime.session("s");
  session.request("r", [{ label: "c", tool: "naps", args: {} }]).catch(() => undefined);
  await world.quiet();
  return session.state;
};

const calls = [{ id: "c", tool: "nobody's", args: {} }];
const large = "x".repeat(2000);

describe("a scope that has appended", () => {
  it("performs what waited for that, and tells those whom its letters are for", async () => {
    const { runner, seen } = begin();
    runner.apply({ type: "request.submitted", request: "r", hash: "h", calls });
    runner.say(letter);
    const told = runner.whenDurable();
    const append = runner.nextAppend();
    expect([append?.lines.length, append?.messages, seen.performed, seen.sent]).toEqual([1, [letter], [], []]);
    runner.appended(ok);
    await told;
    expect(seen.performed.map(({ type }) => type)).toEqual(["observe", "observe", "reply"]);
    expect(seen.sent).toEqual(["t"]);
  });

  it("performs nothing where its lease may have run out meanwhile: it is lost", () => {
    const { runner, seen, lease } = begin();
    runner.apply({ type: "request.submitted", request: "r", hash: "h", calls });
    runner.nextAppend();
    lease.hasLapsed = true;
    runner.appended(ok);
    expect([seen.performed, seen.lost]).toEqual([[], ["its lease may have run out"]]);
  });

  it("lets each who waits for an event go on with the append that holds it, and no sooner", async () => {
    const { runner } = begin();
    const reached: number[] = [];
    const wait = (seq: number): void => void runner.whenDurable(seq).then(() => reached.push(seq));
    for (const key of ["one", "two"]) runner.apply(early(key));
    const { seq } = runner.state;
    runner.nextAppend();
    runner.apply(early("three"));
    for (const one of [seq - 2, seq, seq + 1]) wait(one);
    await Promise.resolve();
    expect(reached).toEqual([seq - 2]);
    runner.appended(ok);
    await Promise.resolve();
    expect(reached).toEqual([seq - 2, seq]);
    runner.nextAppend();
    runner.appended(ok);
    await Promise.resolve();
    expect(reached).toEqual([seq - 2, seq, seq + 1]);
  });
});

describe("a scope that is lost", () => {
  const lost = { name: "ScopeLost", message: expect.stringContaining("append was not taken: fenced") };

  it("tells so to all who wait for it: for what was on its way, and for what came after", async () => {
    const { runner } = begin();
    runner.apply(early("one"));
    const waiting = [runner.whenDurable()];
    runner.nextAppend();
    runner.apply(early("two"));
    waiting.push(runner.whenDurable(), runner.whenDurable(runner.state.seq + 9));
    const told = Promise.all(waiting.map((one) => expect(one).rejects.toMatchObject(lost)));
    runner.appended({ type: "fenced", epoch: 2 });
    await told;
    await expect(runner.whenDurable()).rejects.toMatchObject({ name: "ScopeLost" });
    await expect(runner.whenDurable(1)).rejects.toMatchObject({ name: "ScopeLost" });
  });

  it("steps nothing more, appends nothing and performs nothing", () => {
    const { runner, seen } = begin();
    runner.apply({ type: "request.submitted", request: "r", hash: "h", calls });
    const { seq } = runner.state;
    runner.abandon("for the test");
    expect(() => runner.apply(early("late"))).toThrow("was lost");
    expect([runner.nextAppend(), runner.state.seq, seen.performed]).toEqual([undefined, seq, []]);
  });

  it("has those looked after whose letters were on their way: they may lie there all the same", () => {
    const { runner, seen } = begin();
    runner.say(letter);
    runner.nextAppend();
    runner.say({ ...letter, to: "never sent" });
    runner.appended({ type: "failed", message: "the acknowledgement was lost" });
    expect(seen.sent).toEqual(["t"]);
  });

  it("waits for no deadline any more, and neither does one that has left memory", async () => {
    const state = await asleep();
    for (const end of ["abandon", "leave"] as const) {
      const { runner, platform } = scopeOf(state, memoryBlobs());
      runner.rest();
      const before = platform.timers;
      runner[end]("for the test");
      expect([before, platform.timers]).toEqual([1, 0]);
    }
  });
});

/** A store that takes its time, or does not take it. */
const slow = () => {
  const put = Promise.withResolvers<void>();
  const blobs = memoryBlobs();
  return {
    ...put,
    blobs: { ...blobs, put: (...of: Parameters<BlobStore["put"]>) => put.promise.then(() => blobs.put(...of)) },
  };
};

describe("a value that is put aside while its event is stepped", () => {
  it("is durable before anything is appended that names it, and then nobody has to ask", async () => {
    const { blobs, resolve } = slow();
    const { runner, seen } = begin(blobs);
    runner.apply(early("k", large));
    const { stirs } = seen;
    expect(runner.nextAppend()).toBeUndefined();
    resolve();
    await new Promise((then) => setImmediate(then));
    expect(seen.stirs).toBe(stirs + 1);
    expect(runner.nextAppend()?.lines[0]?.line).not.toContain(large);
  });

  it("costs the scope where it is not stored: its event is stepped already", async () => {
    const { blobs, reject } = slow();
    const { runner, seen } = begin(blobs);
    runner.apply(early("k", large));
    const told = expect(runner.whenDurable()).rejects.toMatchObject({ name: "ScopeLost" });
    reject(new Error("no room"));
    await told;
    expect(seen.lost).toEqual([expect.stringContaining("a value could not be put aside: no room")]);
  });
});
