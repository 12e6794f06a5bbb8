/** A scope moves between two hosts with stores of their own; either may die before and after each of its records. */
import { stateHash } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { type Mover, foldLines } from "../src/driver.ts";
import { type Death, Hosts, never, payloadOf, scope, set, use } from "./move-world.ts";

describe("a move", () => {
  it("takes along what is finished, parked, suspended and running; the source says where it went", async () => {
    const { hosts, tokens, ran } = await set();
    await hosts.a.runtime.move(scope, "b");
    const source = await hosts.a.state();
    expect(source.scope.status).toMatchObject({ type: "moved", to: "b" });
    expect(await hosts.a.journal.due(Number.MAX_SAFE_INTEGER)).toEqual([]);
    const lines = await hosts.a.journal.read(scope, 1);
    const atMoving = foldLines(scope, lines.slice(0, -1));
    const atTarget = (await hosts.b.journal.read(scope, 1)).slice(0, lines.length - 1);
    expect(atTarget).toEqual(lines.slice(0, -1));
    expect(stateHash(foldLines(scope, atTarget))).toBe(stateHash(atMoving));
    await expect(hosts.a.runtime.session("s")).rejects.toMatchObject({ code: "moved", to: "b" });
    await hosts.check();

    const session = await hosts.b.runtime.session("s");
    expect(await payloadOf(session, "done")).toMatchObject({ payload: "said" });
    expect(await session.resolve(tokens[0] ?? "", { status: "ok", payload: "late" })).toEqual({ status: "accepted" });
    expect(await payloadOf(session, "outside")).toMatchObject({ payload: "late" });
    await hosts.quiet();
    hosts.platform.advance(4_000_000);
    await hosts.quiet(200);
    expect(await payloadOf(session, "worker")).toMatchObject({ payload: [1, 2] });
    expect(await payloadOf(session, "sleeper")).toMatchObject({ payload: "slept" });
    expect(ran).toEqual(["first", "second"]);
    expect((await hosts.b.journal.verify(scope))?.type).toBe("whole");
  });

  it("takes along the large values that its log names", async () => {
    const large = { text: "large ".repeat(20_000) };
    const echo = defineTool({ name: "echo", durable: true, execute: (args) => args as typeof large });
    const hosts = new Hosts([echo]);
    const calls = [{ label: "c", tool: "echo", args: large }];
    const [reply] = await (await hosts.a.runtime.session("s")).request("r", calls, { keep: true });
    await hosts.a.runtime.move(scope, "b");
    const [moved] = await (await hosts.b.runtime.session("s")).request("r", calls);
    expect([reply, moved].map((one) => one?.output.outcome.payload)).toEqual([large, large]);
    expect((await hosts.b.journal.read(scope, 1)).map(({ line }) => line).join("").length).toBeLessThan(20_000);
  });

  it("goes back again, and a token from before both moves is good", async () => {
    const { hosts, tokens } = await set();
    await hosts.a.runtime.move(scope, "b");
    await hosts.b.runtime.move(scope, "a");
    await expect(hosts.b.runtime.session("s")).rejects.toMatchObject({ code: "moved", to: "a" });
    const events = await hosts.a.events();
    expect(events.filter((type) => type === "scope.received")).toHaveLength(2);
    expect(events).not.toContain("scope.moved");
    const session = await hosts.a.runtime.session("s");
    expect(await session.resolve(tokens[0] ?? "", { status: "ok", payload: 1 })).toEqual({ status: "accepted" });
    await hosts.a.runtime.move(scope, "b");
    const again = await hosts.b.runtime.session("s");
    expect(await again.resolve(tokens[0] ?? "", { status: "ok", payload: 2 })).toMatchObject({
      status: "already_resolved",
    });
    expect(await payloadOf(again, "outside")).toMatchObject({ payload: 1 });
    await hosts.check();
  });

  it("is refused where the target has a session of this name, and the source takes it back", async () => {
    const { hosts } = await set();
    await hosts.b.runtime.session("s");
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "scope_exists" });
    expect(await hosts.a.events()).toContain("scope.kept");
    const session = await hosts.a.runtime.session("s");
    await hosts.quiet();
    hosts.platform.advance(1000);
    await hosts.quiet();
    expect(await payloadOf(session, "worker")).toMatchObject({ payload: [1, 2] });
  });

  it("waits for bodies that would lose something, and gives up when they take too long", async () => {
    const finish: { now?: () => void } = {};
    const bound = defineTool({
      name: "bound",
      execute: () => new Promise<string>((resolve) => (finish.now = () => resolve("done"))),
    });
    const hosts = new Hosts([bound]);
    const session = await hosts.a.runtime.session("s");
    session.request("r", use("bound")).catch(() => undefined); // It moves away.
    await hosts.quiet();
    const tooLong = hosts.a.runtime.move(scope, "b", { withinMs: 100 });
    const refused = expect(tooLong).rejects.toMatchObject({ code: "still_running" });
    await hosts.quiet();
    await expect(session.request("r2", use("bound"))).rejects.toMatchObject({ code: "scope_is_moving" });
    hosts.platform.advance(100);
    await refused;
    const moved = hosts.a.runtime.move(scope, "b");
    await hosts.quiet();
    expect(await hosts.a.accepts()).toBe(true);
    finish.now?.();
    await moved;
    expect(await payloadOf(await hosts.b.runtime.session("s"), "r")).toMatchObject({ payload: "done" });
  });

  it("declares bodies lost where it is told to", async () => {
    const bound = defineTool({ name: "bound", execute: () => never });
    const hosts = new Hosts([bound]);
    (await hosts.a.runtime.session("s")).request("r", use("bound")).catch(() => undefined); // It moves away.
    await hosts.quiet();
    await hosts.a.runtime.move(scope, "b", { bodies: "lost" });
    const outcome = await payloadOf(await hosts.b.runtime.session("s"), "r");
    expect(JSON.stringify(outcome)).toContain("tool_outcome_unknown");
  });

  it("is taken back where the target says that it never will have it, and is not received after that", async () => {
    const { hosts } = await set();
    hosts.b.kill();
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "scope_is_moving" });
    await expect(hosts.a.runtime.session("s")).rejects.toMatchObject({ code: "scope_is_moving" });
    hosts.b.start();
    await hosts.a.runtime.moves.keep(scope);
    expect(await hosts.a.accepts()).toBe(true);
    const { nonce } = JSON.parse(
      (await hosts.a.journal.read(scope, 1)).find(({ line }) => line.includes("scope.moving"))?.line ?? "",
    ).event as { readonly nonce: string };
    hosts.b.kill();
    const late = hosts.b.start().moves.arrivals.send({ scope, nonce, part: 0, parts: 1, text: "{}" });
    expect(await late).toEqual({ type: "never" });
    expect(await hosts.b.journal.read(scope, 1)).toEqual([]);
  });

  it("refuses a log that was changed on the way", async () => {
    const { hosts } = await set();
    const honest = hosts.mover("b");
    const lie: Mover = { ...honest, send: (part) => honest.send({ ...part, text: part.text.replace("said", "lied") }) };
    hosts.mover = () => lie;
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({
      code: "log_mismatch",
    });
    expect(await hosts.a.accepts()).toBe(true);
    await hosts.check();
  });

  it.each([
    ["invalid_package", { scope: "session:other" }, {}],
    ["invalid_package", { nonce: "other" }, {}],
    ["scope_is_not_moving", { nonce: "other" }, { nonce: "other" }],
    ["stale_epoch", { epoch: 0 }, {}],
    ["state_mismatch", { state_hash: "ab" }, {}],
  ])("refuses a package that is not of its log, as %s: %j", async (code, changed, part) => {
    const { hosts } = await set();
    const honest = hosts.mover("b");
    const lie: Mover = {
      ...honest,
      send: (sent) => honest.send({ ...sent, ...part, text: JSON.stringify({ ...JSON.parse(sent.text), ...changed }) }),
    };
    hosts.mover = () => lie;
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code });
    expect(await hosts.b.journal.read(scope, 1)).toEqual([]);
    expect((await hosts.a.runtime.session("s")).state.scope.status.type).toBe("open");
  });

  it("holds no more for scopes on their way than it may, names included, and makes room where one stands still", async () => {
    const hosts = new Hosts([]);
    const { arrivals } = hosts.b.runtime.moves;
    const text = "x".repeat(64 * 1024 * 1024 - 1000);
    const first = { part: 0, parts: 2, nonce: "n" };
    for (let i = 0; i < 4; i++)
      expect(await arrivals.send({ ...first, scope: `session:${i}`, text })).toEqual({ type: "more" });
    const next = { ...first, scope: "session:s", nonce: "n".repeat(4000), text: "" };
    expect(await arrivals.send(next)).toMatchObject({ type: "refused", code: "too_large" });
    hosts.platform.advance(50_000);
    expect(await arrivals.send({ ...first, scope: "session:3", part: 1, parts: 3, text: "" })).toEqual({
      type: "more",
    });
    hosts.platform.advance(11_000);
    expect(await arrivals.send(next)).toEqual({ type: "more" });
    expect(await arrivals.send({ ...first, scope: "session:0", part: 1, text })).toEqual({ type: "again" });
    const going = { ...first, scope: "session:3", part: 2, parts: 4, text: "" };
    expect(await arrivals.send(going)).toEqual({ type: "more" });
  });

  it("makes no scope that is not there", async () => {
    const hosts = new Hosts([]);
    await expect(hosts.a.runtime.move(scope, "b")).rejects.toMatchObject({ code: "scope_unknown" });
  });
});

const deaths: readonly (Death & { readonly who: "a" | "b" })[] = (["before", "after"] as const).flatMap((when) => [
  { who: "a", of: "scope.moving", when },
  { who: "b", of: "scope.received", when },
  { who: "a", of: "scope.moved", when },
]);
const orders = [
  ["a", "b"],
  ["b", "a"],
] as const;

describe("a death in a move", () => {
  for (const { who, of, when } of deaths)
    for (const order of orders)
      for (const ending of ["go on", "take back"] as const)
        it(`of ${who} ${when} ${of}, coming back in the order ${order.join(", ")}, to ${ending}, leaves one copy`, async () => {
          const { hosts, tokens } = await set();
          hosts.at(who).death = { of, when };
          hosts.a.runtime.move(scope, "b").catch(() => undefined); // Whoever asks is dead, or told to ask again.
          await hosts.quiet(200);
          expect(hosts.at(who).isDead).toBe(true);
          await hosts.check();
          for (const name of ["a", "b"]) hosts.at(name).kill();
          for (const name of order) {
            const runtime = hosts.at(name).start();
            runtime.recover().catch(() => undefined); // The other one may not be there yet.
            await hosts.quiet();
            await hosts.check();
          }
          if (ending === "take back") await hosts.a.runtime.moves.keep(scope).catch(() => undefined); // It may be there.
          await hosts.a.runtime.session("s").catch(() => undefined); // It may be there.
          await hosts.quiet();
          const open = [await hosts.a.accepts(), await hosts.b.accepts()];
          expect(open.filter(Boolean)).toHaveLength(1);
          const session = await hosts[open[0] === true ? "a" : "b"].runtime.session("s");
          expect(await session.resolve(tokens[0] ?? "", { status: "ok", payload: "x" })).toEqual({
            status: "accepted",
          });
          await hosts.quiet();
          hosts.platform.advance(10_000);
          await hosts.quiet(200);
          expect(await payloadOf(session, "worker")).toMatchObject({ payload: [1, 2] });
          await hosts.check();
        });
});
