/** What leaves a scope waits until the state that it was computed from is durable, whoever asks, and for the first time or again. */
import { describe, expect, it } from "vitest";
import { type Journal, type Session, defineTool } from "../src/index.ts";
import { World } from "./world.ts";
import { parks } from "./words.ts";

const ok = (payload: number) => ({ status: "ok", payload }) as const;

/** A session over a store that writes, or is slow to. */
const begin = async () => {
  const world = new World();
  const ends: (() => void)[] = [];
  const held = defineTool({ name: "held", execute: () => new Promise<number>((end) => ends.push(() => end(1))) });
  const store = { isSlow: false, goOn: [] as (() => void)[] };
  const appendAll: Journal["appendAll"] = async (appends) => {
    if (store.isSlow) await new Promise<void>((resolve) => store.goOn.push(resolve));
    return world.journal.appendAll(appends);
  };
  const session = await world.start([held, parks], { faulty: { appendAll } }).runtime.session("s");
  const call = (tool: string, keep = false) => session.request("r", [{ label: "c", tool, args: {} }], { keep });
  /** All that was asked is answered as soon as the store has written, and nothing of it before. */
  const answers = async <A>(asked: readonly Promise<A>[]): Promise<readonly A[]> => {
    const early: unknown[] = [];
    for (const one of asked) void one.then((answer) => early.push(answer));
    await world.quiet();
    expect([early, store.goOn.length]).toEqual([[], 1]);
    store.isSlow = false;
    for (const go of store.goOn) go();
    return Promise.all(asked);
  };
  const slow = (): void => void (store.isSlow = true);
  return { world, session, call, slow, answers, end: () => ends.forEach((end) => end()) };
};

const keyOf = ({ state }: Session): string => state.waits.rows()[0]?.key ?? "";

describe("while the store is still writing, nobody is told", () => {
  it("the replies of a request that has just ended", async () => {
    const { world, session, call, slow, answers, end } = await begin();
    const first = call("held");
    await world.quiet();
    slow();
    end();
    await world.quiet();
    const all = await answers([first, session.replies("r"), call("held")]);
    for (const [reply] of all) expect(reply?.output.outcome.payload).toBe(1);
  });

  it("the replies of one that was just acknowledged, and that it was", async () => {
    const { world, session, call, slow, answers, end } = await begin();
    const first = call("held", true);
    await world.quiet();
    end();
    await first;
    slow();
    const acknowledged = [session.acknowledge("r")];
    await world.quiet();
    acknowledged.push(session.acknowledge("r"));
    const again = call("held");
    const [, , replies] = await answers<unknown>([...acknowledged, again]);
    expect(replies).toMatchObject([{ output: { outcome: { payload: 1 } } }]);
  });

  it.each([{ call: "r:c" }, { request: "r" }])("that %j is cancelled", async (target) => {
    const { world, session, call, slow, answers } = await begin();
    call("held").catch(() => undefined);
    await world.quiet();
    slow();
    await answers([session.cancel(target, "ann")]);
    expect((await world.journal.read("session:s", 1)).map(({ line }) => line).join("")).toContain(".cancelled");
  });

  it("what became of a resolution: of the first, of the same again, and of another", async () => {
    const { world, session, call, slow, answers } = await begin();
    call("parks", true).catch(() => undefined);
    await world.quiet();
    const key = keyOf(session);
    slow();
    const asked = [session.resolveById(key, ok(1), "ann", "first")];
    await world.quiet();
    for (const [by, id] of [
      ["ann", "first"],
      ["ann", "second"],
      ["bob", "first"],
      ["bob", undefined],
    ] as const)
      asked.push(session.resolveById(key, ok(2), by, id));
    const late = { status: "already_resolved", terminal: ok(1) };
    expect(await answers(asked)).toEqual([{ status: "accepted" }, { status: "accepted" }, late, late, late]);
  });
});

describe("the replies of a request", () => {
  it("stay as long as one of those who were told wants them kept", async () => {
    const { world, session, call, end } = await begin();
    const told = [call("held"), call("held", true), call("held")];
    await world.quiet();
    end();
    await Promise.all(told);
    await world.quiet();
    expect(session.state.requests.at("r")?.phase).toBe("replying");
    await session.acknowledge("r");
    expect(session.state.requests.at("r")).toBeUndefined();
  });
});
