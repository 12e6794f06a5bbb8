/** Sessions go from a tab, with its journal in IndexedDB, to a Node host with a journal file, and back. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refused } from "@pawl/runtime";
import { stateHash } from "@pawl/sansio-core";
import { afterAll, afterEach, expect, it } from "vitest";
import { pathOf } from "../../../test/project.ts";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { type Death, HandoffWorld, type Place, accepts, stateOf, typesOf } from "./handoff-world.ts";

const golden = pathOf("packages/sansio-core/test/golden");
/** Approvals, child batches, and a session with processes. */
const corpus = ["approvals", "nested-batch", "process-session"];

const scope = "session:s";

/** A session with a finished call, a parked one, and one that waits between two steps; and the keys of what they wait for. */
const busy = async (world: HandoffWorld): Promise<readonly string[]> => {
  await world.inTab("begin");
  const isRecorded = async (): Promise<boolean> => {
    const log = (await world.inTab<readonly string[]>("linesOf", scope)).join("");
    return log.includes(`"type":"pending"`) && log.includes(`"kind":"wait"`);
  };
  await world.until(isRecorded);
  return Object.values(await world.inTab<{ readonly [name: string]: string }>("tokens.valueOf"));
};

/** Where the session is open; at most one copy accepts events. */
const placeOf = async ({ inTab, host }: HandoffWorld): Promise<Place | undefined> => {
  const [here, there] = [await inTab<readonly string[]>("linesOf", scope), await host.lines(scope)];
  const copies = [accepts(scope, here), accepts(scope, there)];
  expect(copies).not.toEqual([true, true]);
  return copies[0] === true ? "tab" : copies[1] === true ? "host" : undefined;
};

/** Ends what was under way, as if nothing had happened. */
const endWell = async (world: HandoffWorld, tokens: readonly string[]): Promise<void> => {
  const place = await placeOf(world);
  if (place === undefined) throw new Error("the session is nowhere");
  for (const token of tokens) expect(await world.resolve(place, token)).toEqual({ status: "accepted" });
  expect(await world.outcome(place, "parked")).toMatchObject({ payload: "x" });
  expect(await world.outcome(place, "worker")).toEqual({ status: "success", payload: [1, 1] });
  expect(await world.outcome(place, "done")).toMatchObject({ payload: "said" });
  expect(world.counts).toEqual({ first: 1, second: 1 });
};

const textAtHost = async ({ host }: HandoffWorld, id: string): Promise<string | undefined> => {
  const bytes = await host.attachments.bytes(id);
  return bytes && new TextDecoder().decode(bytes);
};

inChromium("a session that is handed over", "packages/driver-browser/test/page/handoff.ts", (at) => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-handoff-"));
  const worlds: HandoffWorld[] = [];
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
  });

  let count = 0;
  const begin = async (): Promise<HandoffWorld> => {
    const file = join(folder, `${(count += 1)}.db`);
    const world = new HandoffWorld(await at.browser.newContext(), at.code, file);
    worlds.push(world);
    await world.startTab();
    return world;
  };

  /** The tab may just be looking whether the session is there, for a process of its own: then it is asked again. */
  const moveBack = async (world: HandoffWorld, name: string, tries = 5): Promise<void> => {
    try {
      await world.host.runtime.move(name, "tab", { withinMs: 10_000 });
    } catch (thrown) {
      if (tries === 0 || !(thrown instanceof Refused)) throw thrown;
      await moveBack(world, name, tries - 1);
    }
  };

  /** Over there and back, with the same state at each hand-over. */
  const thereAndBack = async (world: HandoffWorld, name: string): Promise<readonly string[]> => {
    const { host } = world;
    expect(await world.inTab("move", name)).toBe("moved");
    const source = await world.inTab<readonly string[]>("linesOf", name);
    const there = await host.lines(name);
    const moving = source.length - 1;
    expect(there.slice(0, moving)).toEqual(source.slice(0, moving));
    expect(typesOf(there)[moving]).toBe("scope.received");
    await moveBack(world, name);
    const left = await host.lines(name);
    const back = await world.inTab<readonly string[]>("linesOf", name);
    expect(back.slice(0, left.length - 1)).toEqual(left.slice(0, -1));
    expect(stateHash(stateOf(name, back.slice(0, left.length - 1)))).toBe(stateHash(stateOf(name, left.slice(0, -1))));
    return back;
  };

  it.each(corpus)("goes there and back at every event of %s", async (name) => {
    const world = await begin();
    const [header = "", ...lines] = readFileSync(join(golden, `${name}.jsonl`), "utf8")
      .trimEnd()
      .split("\n");
    for (const [i] of lines.entries()) {
      const prefix = `${[header, ...lines.slice(0, i + 1)].join("\n")}\n`;
      await world.clear();
      const id = await world.inTab<string>("put", prefix);
      const put = await world.inTab<readonly string[]>("linesOf", id);
      const back = await thereAndBack(world, id);
      expect(put).toHaveLength(i + 1);
      expect(back.slice(0, i + 1)).toEqual(put);
      expect([i, await world.inTab("check", id)]).toEqual([i, "whole"]);
    }
  });

  it("takes along what is finished, parked and running, and brings it back", async () => {
    const world = await begin();
    const tokens = await busy(world);
    await thereAndBack(world, scope);
    expect(await placeOf(world)).toBe("tab");
    await endWell(world, tokens);
    expect(await world.inTab("check", scope)).toBe("whole");
  });

  it("takes along the bytes of its attachments, and brings back those that it was given there", async () => {
    const world = await begin();
    const there = await world.inTab<string>("draw", "of the tab");
    expect(await world.inTab("move", scope)).toBe("moved");
    expect(await textAtHost(world, there)).toBe("of the tab");
    const session = await world.host.runtime.session("s");
    const [reply] = await session.request("there", [{ label: "c", tool: "draw", args: { text: "of the host" } }]);
    await moveBack(world, scope);
    await world.startTab(); // What is in its memory alone is gone.
    const back = String(reply?.output.outcome.payload);
    expect(await world.inTab("attached", back)).toBe("of the host");
    expect(await world.inTab("attached", there)).toBe("of the tab");
  });

  it("has their bytes at a host that dies as it takes the session in, and when it comes back", async () => {
    const world = await begin();
    const id = await world.inTab<string>("draw", "of the tab");
    await world.start("host", { of: "scope.received", when: "before" });
    void world.move("tab").catch(() => undefined); // The host is dead.
    await world.until(async () => world.isDead("host"));
    expect([await textAtHost(world, id), await world.host.lines(scope)]).toEqual(["of the tab", []]);
    await world.startTab();
    await world.start("host");
    await world.goOn("tab");
    expect(await placeOf(world)).toBe("host");
    expect(await textAtHost(world, id)).toBe("of the tab");
  });

  const deaths: readonly (Death & { readonly who: "source" | "target" })[] = (["before", "after"] as const).flatMap(
    (when) => [
      { who: "source", of: "scope.moving", when },
      { who: "target", of: "scope.received", when },
      { who: "source", of: "scope.moved", when },
    ],
  );
  for (const from of ["tab", "host"] as const)
    for (const [i, { who, of, when }] of deaths.entries()) {
      const first = i % 2 === 0 ? "source" : "target";
      const ending = i % 4 < 2 ? "go on" : "take back";
      it(`from the ${from}, whose ${who} dies ${when} ${of}, the ${first} coming back first, to ${ending}, is in one place`, async () => {
        const world = await begin();
        const tokens = await busy(world);
        const to = from === "tab" ? "host" : "tab";
        if (from === "host") await world.move("tab");
        await world.start(who === "source" ? from : to, { of, when });
        await world.goOn(from);
        void world.move(from).catch(() => undefined); // Whoever asks is dead, or told to ask again.
        await world.until(async () => world.isDead(who === "source" ? from : to));
        for (const place of ["tab", "host"] as const) await world.kill(place);
        const order: readonly Place[] = first === "source" ? [from, to] : [to, from];
        await world.start("tab");
        await placeOf(world);
        await world.kill("tab");
        for (const place of order) {
          await world.start(place);
          await world.recover(place);
        }
        await placeOf(world);
        if (ending === "take back") await world.keep(from);
        await world.goOn(from);
        await endWell(world, tokens);
      });
    }
});
