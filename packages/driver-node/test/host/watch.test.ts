/** Observations over the wire: from a cursor, over reconnections, and with a gap. */
import type { Cursor, Frame } from "@pawl/runtime";
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { ProcessRegistration } from "@pawl/sansio-core/driver";
import { describe, expect, it, vi } from "vitest";
import { nodePlatform } from "../../src/index.ts";
import { clientOf, greeted, hostOf, roots } from "./rig.ts";
import { echo, payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const scope = "session:s";
const perCall = 2; // Its start and its end.

const taken = async (frames: AsyncIterable<Frame>, count: number): Promise<readonly Frame[]> => {
  const all: Frame[] = [];
  for await (const frame of frames) {
    all.push(frame);
    if (all.length === count) break;
  }
  return all;
};
const cursorsOf = (frames: readonly Frame[]): readonly Cursor[] =>
  frames.flatMap((frame) => (frame.type === "observed" ? [frame.cursor] : []));

describe("a watch", () => {
  it("tells of calls from a cursor on as live, and of progress while it lasts", async () => {
    const steady = defineTool({
      name: "steady",
      execute: (_, ctx) => {
        ctx.progress({ message: "half way", kind: "status" });
        return 1;
      },
    });
    const host = await hostOf([steady]);
    const session = clientOf(host).session("s");
    await host.runtime.session("s");
    const watching = session.watch();
    await until(() => watching.cursor !== undefined);
    const start = watching.cursor;
    await session.request("r", use("steady"));
    const live = await taken(watching, perCall + 1);
    expect(live.filter(({ type }) => type === "ephemeral")).toMatchObject([
      { observation: { type: "progress", call: "r:c", label: "c", tool: "steady", text: "half way" } },
    ]);
    const past = await taken(session.watch(start === undefined ? {} : { from: start }), perCall);
    expect(past).toEqual(live.filter(({ type }) => type === "observed"));
    const rest = await taken(session.watch({ from: cursorsOf(past)[0] as Cursor }), perCall - 1);
    expect(rest).toEqual(past.slice(1));
  });

  it("tells each thing once and in order, over reconnections", async () => {
    const host = await hostOf([echo]);
    const client = clientOf(host);
    const session = client.session("s");
    await host.runtime.session("s");
    const watching = session.watch({ window: 3 });
    await until(() => watching.cursor !== undefined);
    const calls = (async () => {
      for (let i = 0; i < 8; i++) {
        await session.request(`r${i}`, use("echo"));
        client.reconnect();
      }
    })();
    const cursors = cursorsOf(await taken(watching, perCall * 8));
    await calls;
    expect(cursors).toHaveLength(perCall * 8);
    const places = cursors.map(({ seq, index }) => seq * 1000 + index);
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
  });

  it("has no more on its way than its window, and reports gaps", async () => {
    const host = await hostOf([echo]);
    const raw = await greeted(host);
    const session = await host.runtime.session("s");
    raw.send({ type: "watch", id: 2, scope, window: 2 });
    await raw.until(({ type }) => type === "watching");
    for (let i = 0; i < 800; i++) await session.request(`r${i}`, use("echo"));
    const watched = () => raw.heard.filter(({ type }) => type === "watched");
    expect(watched()).toHaveLength(2);
    const gaps = () => watched().filter(({ frame }) => (frame as Frame).type === "gap");
    for (let n = 2; gaps().length === 0; n += 1) {
      raw.send({ type: "seen", id: 2, cursor: n });
      await raw.until((said) => said.type === "watched" && said["n"] === n + 1);
    }
    const [{ frame } = { frame: undefined }] = gaps();
    const { from, to } = frame as Extract<Frame, { readonly type: "gap" }>;
    expect(from.seq).toBeLessThan(to.seq);
    raw.send({ type: "unobserve", id: 2 });
    expect(await raw.until(({ type, id }) => type === "done" && id === 2)).toBeDefined();
    await until(() => session.isIdle);
  }, 20_000);

  it("of a client that leaves before its scope is open keeps nothing of it", async () => {
    const journal = memoryJournal();
    const before = new Runtime({ journal, platform: nodePlatform, instance: "i0", roots, tools: [] });
    await before.session("s");
    await before.close();
    const opening = Promise.withResolvers<void>();
    const claim: typeof journal.claim = async (...of) => {
      await opening.promise;
      return journal.claim(...of);
    };
    const options = { journal: { ...journal, claim }, platform: nodePlatform, instance: "i1", roots };
    const runtime = new Runtime({ ...options, tools: [], linger: { ms: 0 } });
    const host = await hostOf([], { runtime });
    const raw = await greeted(host);
    raw.send({ type: "watch", id: 1, scope, window: 10 });
    await until(() => runtime.inMemory === 1);
    raw.socket.terminate();
    await until(() => host.connections === 0);
    opening.resolve();
    await runtime.session("s");
    await vi.waitFor(() => expect(runtime.inMemory).toBe(0));
  });

  it("reaches existing processes within its token only", async () => {
    const host = await hostOf([]);
    const client = clientOf(host);
    await expect(client.watchProcess("p").next()).rejects.toMatchObject({ code: "scope_unknown" });
    const registration: ProcessRegistration = {
      id: "p",
      input: { type: "external", metadata: {} },
      identity: { kind: "external" },
      event_types: [{ name: "signal.go", payload_schema: { schema: {} }, semantics: {} }],
      provenance: { originator: { type: "host" } },
    };
    await host.runtime.processes.start(registration);
    const watching = client.watchProcess("p");
    await until(() => watching.cursor !== undefined);
    await client.signal("p", { name: "go", payload: 1, signalId: "s1" });
    expect((await taken(watching, 1))[0]).toMatchObject({
      observation: { type: "process", what: "event", process: "p", event_type: "signal.go" },
    });
    const narrow = clientOf(host, { scopes: ["session:"] });
    await expect(narrow.watchProcess("p").next()).rejects.toMatchObject({ code: "permission_denied" });
    const foreign = client.watchProcess("p", { scope, seq: 1, index: 0 });
    await expect(foreign.next()).rejects.toMatchObject({ code: "foreign_cursor" });
  });
});

describe("the progress of an executor", () => {
  const remote = defineTool({ name: "remote", clientSide: true, execute: () => undefined });

  it("is passed on for its own runs only", async () => {
    const host = await hostOf([remote]);
    const ends: ((value: string) => void)[] = [];
    clientOf(host).execute({
      tools: {
        "tool:remote": (_, { progress }) => {
          progress({ message: "looking", done: 1, total: 4 });
          return new Promise((resolve) => void ends.push(resolve));
        },
      },
    });
    const session = clientOf(host).session("s");
    await host.runtime.session("s");
    const watching = session.watch();
    await until(() => watching.cursor !== undefined);
    const replies = session.request("r", use("remote"));
    const [first] = (await taken(watching, 2)).filter(({ type }) => type === "ephemeral");
    expect(first).toMatchObject({
      observation: { type: "progress", call: "r:c", tool: "remote", text: "looking", done: 1 },
    });
    const later = session.watch();
    await until(() => later.cursor !== undefined);
    const liar = await greeted(host, { by: "eve" });
    await liar.ask({ type: "execute", id: 1, executor: "e", tools: ["tool:other"] });
    const run = { executor: "e", scope, call: "r:c", attempt: 1, run: 1, text: "lies", kind: "status" };
    liar.send({ type: "progress", ...run });
    liar.send({ type: "progress", ...run, executor: "unknown" });
    liar.send({ type: "progress", ...run, scope: "elsewhere" });
    liar.send({ type: "ping", n: 1 });
    await liar.until(({ type }) => type === "pong");
    ends[0]?.("done");
    expect(payloads(await replies)).toEqual(["done"]);
    const frames = await taken(later, 1);
    expect(frames).toMatchObject([{ type: "observed", observation: { type: "call_completed", call: "r:c" } }]);
  });
});
