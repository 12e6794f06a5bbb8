/** Tests what comes after a move: its scope goes on wherever it is by then, and can move once more. */
import { describe, expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { Hosts, type Moment, type Place, never, scope, set, use } from "./move-world.ts";

/** Returns what is on record at a place since the scope was received there, or taken back. */
const since = async (place: Place, type: Moment): Promise<readonly string[]> => {
  const events = await place.events();
  return events.slice(events.lastIndexOf(type) + 1);
};

describe("a scope that has moved, or was taken back", () => {
  it("goes on at its target with nobody asking for it", async () => {
    const { hosts, ran } = await set();
    await hosts.a.runtime.move(scope, "b");
    await hosts.quiet();
    hosts.platform.advance(1000);
    await hosts.quiet(200);
    expect(await since(hosts.b, "scope.received")).toContain("call.settled");
    expect(ran).toEqual(["first", "second"]);
  });

  it.each([
    ["b", "scope.received"],
    ["a", "scope.kept"],
  ] as const)("is taken up where it is, %s, when that died with it having %s", async (name, of) => {
    const { hosts } = await set();
    const place = hosts.at(name);
    if (of === "scope.kept") {
      const { decline } = hosts.mover("b");
      hosts.mover = () => ({ send: async () => ({ type: "refused", code: "full", message: "" }), decline });
    }
    place.death = { of, when: "after" };
    hosts.a.runtime.move(scope, "b").catch(() => undefined);
    await hosts.quiet();
    await place.start().recover();
    expect(await since(place, of)).toContain("scope.opened");
  });

  it("has a time that does not go back, where a clock does", async () => {
    const { hosts } = await set();
    const { now } = hosts.platform;
    hosts.platform.now = () => now() - 60_000;
    await hosts.a.runtime.move(scope, "b");
    for (const { journal } of [hosts.a, hosts.b]) {
      const times = (await journal.read(scope, 1)).map(({ line }) => (JSON.parse(line) as { readonly at: number }).at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
    expect(await hosts.b.accepts()).toBe(true);
  });

  it("takes along the secrets of all the hosts that it has been at", async () => {
    const { hosts } = await set();
    await hosts.a.runtime.move(scope, "b");
    const { send, ...back } = hosts.mover("a");
    const secrets: unknown[] = [];
    hosts.mover = () => ({
      ...back,
      send: (part) => {
        secrets.push(...(JSON.parse(part.text) as { readonly secrets: readonly unknown[] }).secrets);
        return send(part);
      },
    });
    await hosts.b.runtime.move(scope, "a");
    expect(new Set(secrets.map((one) => JSON.stringify(one))).size).toBe(2);
  });

  it("is made after one that was given up as well", async () => {
    const { hosts } = await set();
    hosts.b.kill();
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "scope_is_moving" });
    hosts.b.start();
    await hosts.a.runtime.moves.keep(scope);
    expect(await hosts.a.accepts()).toBe(true);
    await hosts.a.runtime.move(scope, "b");
    expect([await hosts.a.accepts(), await hosts.b.accepts()]).toEqual([false, true]);
  });
});

/** One whose body does not end, asked to move when it does. */
const waiting = async () => {
  const hosts = new Hosts([defineTool({ name: "stays", execute: () => never })]);
  const session = await hosts.a.runtime.session("s");
  session.request("r", use("stays")).catch(() => undefined);
  await hosts.quiet();
  const moved = hosts.a.runtime.move(scope, "b", { bodies: "finish", withinMs: 60_000 });
  const ended = moved.catch(({ code }: { readonly code: string }) => code);
  await hosts.quiet();
  return { hosts, session, ended };
};

describe("a scope that waits for its bodies before it moves", () => {
  it("is not asked twice, and stays when they take too long", async () => {
    const { hosts, ended } = await waiting();
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "scope_is_moving" });
    hosts.platform.advance(60_000);
    expect(await ended).toBe("still_running");
    expect(await hosts.a.accepts()).toBe(true);
  });

  it("does not move once it was lost, and whoever asked for that is told", async () => {
    const { hosts, session, ended } = await waiting();
    session.runner.abandon("for the test");
    expect(await ended).toBe("scope_lost");
    expect(await hosts.b.events()).toEqual([]);
  });
});
