/** A scope moves between two hosts with stores of their own; either may die before and after each of its records. */
import { type Event, stateHash } from "@pawl/sansio-core";
import { pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type Append,
  type Journal,
  type JournalLine,
  type Mover,
  Runtime,
  type Session,
  type ToolDefinition,
  defineTool,
  foldLines,
  memoryJournal,
} from "../src/index.ts";
import { TestPlatform } from "./world.ts";

const scope = "session:s";
const never = new Promise<never>(() => undefined);
const use = (tool: string, id = "c") => [{ id, tool, args: {} }];
const typesIn = (lines: readonly JournalLine[]): readonly string[] =>
  lines.map(({ line }) => (JSON.parse(line) as { readonly event: Event }).event.type);

type Moment = "scope.moving" | "scope.received" | "scope.moved" | "scope.kept";
interface Death {
  readonly of: Moment;
  readonly when: "before" | "after";
}

const holds = ({ lines }: Pick<Append, "lines">, type: Moment): boolean => typesIn(lines).includes(type);

/** A host that can die and come back over its store. */
class Place {
  readonly name: string;
  readonly journal = memoryJournal();
  readonly #world: Hosts;
  death: Death | undefined;
  #life = 0;
  runtime: Runtime;

  constructor(world: Hosts, name: string) {
    this.#world = world;
    this.name = name;
    this.runtime = this.start();
  }

  get isDead(): boolean {
    return this.#life === 0;
  }

  start(): Runtime {
    this.#life = this.#world.count += 1;
    this.runtime = new Runtime({
      journal: this.#mortal(this.#life),
      platform: this.#world.platform,
      tools: this.#world.tools,
      instance: `${this.name}${this.#life}`,
      roots: { newest: { kid: "k", secret: new Uint8Array(32).fill(this.name.charCodeAt(0)) } },
      mover: (to) => this.#world.mover(to),
    });
    return this.runtime;
  }

  kill(): void {
    this.#life = 0;
  }

  #mortal(life: number): Journal {
    const alive = async <A>(work: () => Promise<A>, lines: Pick<Append, "lines">[] = []): Promise<A> => {
      if (this.#life === life && this.#dies("before", lines)) this.kill();
      if (this.#life !== life) return never;
      const answer = await work();
      if (this.#life === life && this.#dies("after", lines)) this.kill();
      return this.#life === life ? answer : never;
    };
    const { journal } = this;
    const { moves } = journal;
    if (moves === undefined) throw new Error("the journal in memory lets scopes move");
    return {
      ...journal,
      claim: (...of) => alive(() => journal.claim(...of)),
      appendAll: (appends) => alive(() => journal.appendAll(appends), [...appends]),
      moves: {
        ...moves,
        adopt: (adoption) => alive(() => moves.adopt(adoption), [adoption]),
        decline: (...of) => alive(() => moves.decline(...of)),
        ended: (...of) => alive(() => moves.ended(...of)),
      },
    };
  }

  #dies(when: Death["when"], appends: readonly Pick<Append, "lines">[]): boolean {
    const { death } = this;
    if (death?.when !== when || !appends.some((append) => holds(append, death.of))) return false;
    this.death = undefined;
    return true;
  }

  async state() {
    return foldLines(scope, await this.journal.read(scope, 1));
  }
  async events(): Promise<readonly string[]> {
    return typesIn(await this.journal.read(scope, 1));
  }
  /** Whether its copy accepts events. */
  async accepts(): Promise<boolean> {
    const { scope: row } = await this.state();
    return row.epoch > 0 && row.status.type === "open";
  }
}

class Hosts {
  readonly platform = new TestPlatform();
  readonly tools: readonly ToolDefinition[];
  count = 0;
  readonly a: Place;
  readonly b: Place;

  constructor(tools: readonly ToolDefinition[]) {
    this.tools = tools;
    this.a = new Place(this, "a");
    this.b = new Place(this, "b");
  }

  at(name: string): Place {
    return name === "a" ? this.a : this.b;
  }

  /** What is said to a host that is dead is lost; what a dead one would say as well. */
  mover(to: string): Mover {
    const place = this.at(to);
    const reach = async <A>(ask: (mover: Mover) => Promise<A>): Promise<A> => {
      if (place.isDead) throw new Error(`${to} is not there`);
      return ask(place.runtime.moves.arrivals);
    };
    return {
      send: (part) => reach((mover) => mover.send(part)),
      decline: (...of) => reach((mover) => mover.decline(...of)),
    };
  }

  async quiet(turns = 60): Promise<void> {
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** At most one copy accepts events, at any time. */
  async check(): Promise<void> {
    expect([await this.a.accepts(), await this.b.accepts()].filter(Boolean).length).toBeLessThanOrEqual(1);
  }
}

/** A session with a finished call, a parked wait, a suspended body and one that runs. */
const busyWorld = () => {
  const tokens: string[] = [];
  const ran: string[] = [];
  const tools = [
    defineTool({ name: "echo", durable: true, execute: () => "said" }),
    defineTool({
      name: "outside",
      execute: (_, ctx) => (tokens.push(ctx.completionKey()), pending({ on_cancel: "ignore" })),
    }),
    defineTool({
      name: "sleeper",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.sleep(3_600_000);
        return "slept";
      },
    }),
    defineTool({
      name: "worker",
      durable: true,
      execute: async (_, ctx) => {
        const first = await ctx.runJson("first", {}, () => (ran.push("first"), 1));
        await ctx.sleep(500);
        const second = await ctx.runJson("second", {}, () => (ran.push("second"), 2));
        return [first, second];
      },
    }),
  ];
  return { hosts: new Hosts(tools), tokens, ran };
};

const begin = async (session: Session, { platform, quiet }: { platform: TestPlatform; quiet: () => Promise<void> }) => {
  await session.call("done", use("echo"));
  for (const tool of ["outside", "sleeper"]) session.call(tool, use(tool)).catch(() => undefined); // It moves away.
  await quiet();
  platform.advance(3000);
  await quiet();
  session.call("worker", use("worker")).catch(() => undefined);
  await quiet();
};

const payloadOf = async (session: Session, request: string): Promise<unknown> =>
  (await session.replies(request))[0]?.output.outcome;

const set = async () => {
  const world = busyWorld();
  const { hosts } = world;
  await begin(await hosts.a.runtime.session("s"), { platform: hosts.platform, quiet: () => hosts.quiet() });
  return world;
};

describe("a move", () => {
  it("takes along what is finished, parked, suspended and running; the source says where it went", async () => {
    const { hosts, tokens, ran } = await set();
    await hosts.a.runtime.move(scope, "b");
    const source = await hosts.a.state();
    expect(source.scope.status).toMatchObject({ type: "moved", to: "b" });
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
    const calls = [{ id: "c", tool: "echo", args: large }];
    const [reply] = await (await hosts.a.runtime.session("s")).call("r", calls, { keep: true });
    await hosts.a.runtime.move(scope, "b");
    const [moved] = await (await hosts.b.runtime.session("s")).call("r", calls);
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
    session.call("r", use("bound")).catch(() => undefined); // It moves away.
    await hosts.quiet();
    const tooLong = hosts.a.runtime.move(scope, "b", { withinMs: 100 });
    const refused = expect(tooLong).rejects.toMatchObject({ code: "still_running" });
    await hosts.quiet();
    await expect(session.call("r2", use("bound"))).rejects.toMatchObject({ code: "scope_is_moving" });
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
    (await hosts.a.runtime.session("s")).call("r", use("bound")).catch(() => undefined); // It moves away.
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
