/** Bytes of attachments go where their scope goes: what its log names of them is there before the scope is. */
import { type Event } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { type AttachmentStore, type Journal, Runtime, defineTool, memoryJournal } from "../src/index.ts";
import { type MovePart, attachmentId, memoryAttachments } from "../src/driver.ts";
import { TestPlatform } from "./world.ts";

const scope = "session:s";
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const idOf = (text: string): string => attachmentId(bytesOf(text));
const meta = { media_type: { kind: "file", type: "text/plain" } } as const;

/** Puts bytes, and names them as it is told to. */
const draw = defineTool<{ readonly text: string; readonly how: "ref" | "text" | "large" | "step" | "json" }>({
  name: "draw",
  durable: true,
  execute: async ({ text, how }, ctx) => {
    const ref = await ctx.attachments.put(bytesOf(text), meta);
    if (how === "large") return { padding: "x".repeat(70_000), id: ref.id };
    if (how === "text") return `it is kept as ${ref.id}.`;
    if (how === "json") return JSON.stringify({ id: ref.id });
    if (how === "step") return ctx.run("name", () => ref.id).then(() => "done");
    return { ...ref, media_type: ref.media_type.type };
  },
});

class Place {
  readonly journal = memoryJournal();
  readonly faults: string[] = [];
  readonly runtime: Runtime;

  constructor(name: string, attachments: AttachmentStore | undefined, hosts: Hosts) {
    const { moves } = this.journal;
    if (moves === undefined) throw new Error("the journal in memory lets scopes move");
    const adopt: typeof moves.adopt = async (adoption) => {
      await hosts.adopting?.();
      return moves.adopt(adoption);
    };
    const journal: Journal = { ...this.journal, moves: { ...moves, adopt } };
    this.runtime = new Runtime({
      journal,
      platform: hosts.platform,
      tools: [draw],
      instance: name,
      roots: { newest: { kid: "k", secret: new Uint8Array(32).fill(name.charCodeAt(0)) } },
      host: { ...(attachments && { attachments }), fault: (what) => void this.faults.push(what) },
      mover: (to) => hosts.mover(to),
    });
  }

  async types(): Promise<readonly string[]> {
    const lines = await this.journal.read(scope, 1);
    return lines.map(({ line }) => (JSON.parse(line) as { readonly event: Event }).event.type);
  }
}

interface Stores {
  readonly from?: AttachmentStore;
  readonly into?: AttachmentStore;
  /** Whether the target has a store at all. */
  readonly hasRoom?: boolean;
}

class Hosts {
  readonly platform = new TestPlatform();
  readonly a: Place;
  readonly b: Place;
  /** Before the target takes the scope in. */
  adopting: (() => Promise<void>) | undefined;
  /** What becomes of what is sent. */
  onTheWay = (text: string): string => text;

  readonly from: AttachmentStore;
  readonly into: AttachmentStore | undefined;

  constructor({ from = memoryAttachments(), into = memoryAttachments(), hasRoom = true }: Stores = {}) {
    this.from = from;
    this.into = hasRoom ? into : undefined;
    this.a = new Place("a", this.from, this);
    this.b = new Place("b", this.into, this);
  }

  mover(to: string) {
    const { arrivals } = (to === "a" ? this.a : this.b).runtime.moves;
    const send = (part: MovePart) => arrivals.send({ ...part, text: this.onTheWay(part.text) });
    return { send, decline: arrivals.decline };
  }

  async draw(place: Place, text: string, how: string): Promise<void> {
    const session = await place.runtime.session("s");
    const [reply] = await session.request(`${how} ${text}`, [{ label: "c", tool: "draw", args: { text, how } }]);
    expect(reply?.output.outcome.status).toBe("success");
  }

  async quiet(): Promise<void> {
    for (let i = 0; i < 60; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** A session at the first that has put this. */
  async drawn(text: string): Promise<this> {
    await this.draw(this.a, text, "ref");
    return this;
  }
}

const changed =
  (change: (packed: { [field: string]: unknown }) => void) =>
  (text: string): string => {
    const packed = JSON.parse(text) as { [field: string]: unknown };
    change(packed);
    return JSON.stringify(packed);
  };

const textIn = async (store: AttachmentStore | undefined, text: string): Promise<string | undefined> => {
  const bytes = await store?.bytes(idOf(text));
  return bytes && new TextDecoder().decode(bytes);
};

describe("attachments of a scope that moves", () => {
  it("are at the target before the scope is, however its log names them, and come back with it", async () => {
    const hosts = new Hosts();
    const names = ["ref", "text", "large", "step", "json"] as const;
    for (const how of names) await hosts.draw(hosts.a, `a ${how}`, how);
    await hosts.from.put(idOf("another's"), bytesOf("another's"));
    const found: (string | undefined)[] = [];
    hosts.adopting = async () => {
      for (const how of names) found.push(await textIn(hosts.into, `a ${how}`));
    };
    await hosts.a.runtime.move(scope, "b");
    expect(found).toEqual(names.map((how) => `a ${how}`));
    expect(await textIn(hosts.into, "another's")).toBeUndefined();
    hosts.adopting = undefined;
    await hosts.draw(hosts.b, "b ref", "ref");
    await hosts.b.runtime.move(scope, "a");
    expect(await textIn(hosts.from, "b ref")).toBe("b ref");
    expect([hosts.a.faults, hosts.b.faults]).toEqual([[], []]);
  });

  it("stay where one store serves both hosts", async () => {
    const store = memoryAttachments();
    const reads: string[] = [];
    const bytes = (id: string) => (reads.push(id), store.bytes(id));
    const hosts = await new Hosts({ from: { ...store, bytes, isShared: true } }).drawn("one");
    await hosts.a.runtime.move(scope, "b");
    expect([reads, await textIn(hosts.into, "one")]).toEqual([[], undefined]);
  });

  it("that are gone, or not what their name says, stay behind, and do not hold the scope back", async () => {
    const store = memoryAttachments();
    const hosts = new Hosts({ from: { ...store, put: async () => undefined } });
    await hosts.draw(hosts.a, "gone", "ref");
    await hosts.draw(hosts.a, "spoilt", "ref");
    await store.put(idOf("spoilt"), bytesOf("spoilt by a disk"));
    await hosts.a.runtime.move(scope, "b");
    expect(await hosts.b.types()).toContain("scope.received");
    expect([await textIn(hosts.into, "gone"), await textIn(hosts.into, "spoilt")]).toEqual([undefined, undefined]);
    expect(new Set(hosts.a.faults)).toEqual(
      new Set([`attachment ${idOf("spoilt")} does not match its name, and stays behind`]),
    );
  });

  it("that are more than may travel are refused before the scope is on its way", async () => {
    const hosts = new Hosts();
    const large = new Uint8Array(40 * 1024 * 1024);
    for (const first of [1, 2]) {
      large[0] = first;
      await hosts.from.put(attachmentId(large), large);
      await hosts.draw(hosts.a, attachmentId(large), "text");
    }
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("isShared") as string,
    });
    expect(await hosts.a.types()).not.toContain("scope.moving");
    await hosts.draw(hosts.a, "it goes on", "ref");
  });

  it("that their store fails to give are no reason to leave: nothing is recorded", async () => {
    const store = memoryAttachments();
    const hosts = await new Hosts({ from: { ...store, bytes: async () => Promise.reject(new Error("EIO")) } }).drawn(
      "one",
    );
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "attachment_not_read" });
    expect(await hosts.a.types()).not.toContain("scope.moving");
    expect(hosts.a.faults).toEqual([`attachment ${idOf("one")} was not read`]);
  });

  it("that their store fails to give once the scope is on its way bring it back", async () => {
    const store = memoryAttachments();
    let reads = 0;
    const bytes = async (id: string) => {
      if ((reads += 1) === 2) throw new Error("EIO");
      return store.bytes(id);
    };
    const hosts = await new Hosts({ from: { ...store, bytes } }).drawn("one");
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "attachment_not_read" });
    expect((await hosts.a.types()).slice(-3)).toEqual(["scope.moving", "scope.kept", "scope.opened"]);
    expect(await hosts.b.types()).toEqual([]);
    await hosts.a.runtime.move(scope, "b");
    expect(await textIn(hosts.into, "one")).toBe("one");
  });

  it("that come otherwise than they were sent are refused", async () => {
    const hosts = await new Hosts().drawn("one");
    hosts.onTheWay = changed(({ attachments }) => {
      for (const one of attachments as { bytes: string }[]) one.bytes = btoa("another");
    });
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "attachment_corrupt" });
    hosts.onTheWay = changed(({ attachments }) => {
      for (const one of attachments as { bytes: string }[]) one.bytes = "*";
    });
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "attachment_corrupt" });
    expect([await textIn(hosts.into, "one"), await hosts.b.types()]).toEqual([undefined, []]);
    expect((await hosts.a.types()).filter((type) => type === "scope.kept")).toHaveLength(2);
  });

  it("that find no room at the target bring the scope back; it may go when there is some", async () => {
    const store = memoryAttachments();
    let isFull = true;
    const put: AttachmentStore["put"] = (id, bytes) =>
      isFull ? Promise.reject(new Error("ENOSPC")) : store.put(id, bytes);
    const hosts = await new Hosts({ into: { ...store, put } }).drawn("one");
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "attachment_not_kept" });
    expect(hosts.b.faults).toEqual([`attachment ${idOf("one")} of ${scope} was not kept`]);
    await hosts.draw(hosts.a, "two", "ref");
    isFull = false;
    await hosts.a.runtime.move(scope, "b");
    expect([await textIn(store, "one"), await textIn(store, "two")]).toEqual(["one", "two"]);
  });

  it("that take longer than the source waits are there when it asks again", async () => {
    const store = memoryAttachments();
    const slow = Promise.withResolvers<void>();
    const put: AttachmentStore["put"] = (id, bytes) => slow.promise.then(() => store.put(id, bytes));
    const hosts = await new Hosts({ into: { ...store, put } }).drawn("one");
    const moved = hosts.a.runtime.move(scope, "b");
    const unanswered = expect(moved).rejects.toMatchObject({ code: "scope_is_moving" });
    await hosts.quiet();
    hosts.platform.advance(30_000);
    await unanswered;
    const again = hosts.a.runtime.move(scope, "b");
    await hosts.quiet();
    slow.resolve();
    await again;
    const types = await hosts.b.types();
    expect(types.filter((type) => type === "scope.received")).toHaveLength(1);
    expect(await textIn(store, "one")).toBe("one");
    await hosts.draw(hosts.b, "it goes on there", "ref");
  });

  it("find no place where the target has no store for them, which it is told", async () => {
    const hosts = await new Hosts({ hasRoom: false }).drawn("one");
    await hosts.a.runtime.move(scope, "b");
    expect(hosts.b.faults).toEqual([`attachments of ${scope} were not kept: there is no store for them here`]);
    expect(await hosts.b.types()).toContain("scope.received");
  });

  it("do not come from hosts of before, and hosts of before do not miss them", async () => {
    const hosts = await new Hosts().drawn("one");
    hosts.onTheWay = changed((packed) => {
      expect(packed["attachments"]).toHaveLength(1);
      delete packed["attachments"];
      packed["of_a_newer_host"] = [{ anything: 1 }];
    });
    await hosts.a.runtime.move(scope, "b");
    expect([await textIn(hosts.into, "one"), await hosts.b.types()]).toEqual([
      undefined,
      expect.arrayContaining(["scope.received"]),
    ]);
  });
});
