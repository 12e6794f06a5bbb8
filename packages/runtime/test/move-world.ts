/** Two hosts with stores of their own, between which a scope moves; either may die before and after each of its records. */
import type { Event } from "@pawl/sansio-core";
import { pending } from "@pawl/tool-value";
import { expect } from "vitest";
import { type Journal, Runtime, type Session, type ToolDefinition, defineTool, memoryJournal } from "../src/index.ts";
import { type Append, type JournalLine, type Mover, foldLines } from "../src/driver.ts";
import { TestPlatform } from "./world.ts";

export const scope = "session:s";
export const never = new Promise<never>(() => undefined);
export const use = (tool: string, id = "c") => [{ label: id, tool, args: {} }];
export const typesIn = (lines: readonly JournalLine[]): readonly string[] =>
  lines.map(({ line }) => (JSON.parse(line) as { readonly event: Event }).event.type);

export type Moment = "scope.moving" | "scope.received" | "scope.moved" | "scope.kept";
export interface Death {
  readonly of: Moment;
  readonly when: "before" | "after";
}

const holds = ({ lines }: Pick<Append, "lines">, type: Moment): boolean => typesIn(lines).includes(type);

/** A host that can die and come back over its store. */
export class Place {
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
  /** Says whether its copy accepts events. */
  async accepts(): Promise<boolean> {
    const { scope: row } = await this.state();
    return row.epoch > 0 && row.status.type === "open";
  }
}

export class Hosts {
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

  /** Loses what is said to a host that is dead, and what a dead one would say. */
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
        const first = await ctx.run("first", () => (ran.push("first"), 1));
        await ctx.sleep(500);
        const second = await ctx.run("second", () => (ran.push("second"), 2));
        return [first, second];
      },
    }),
  ];
  return { hosts: new Hosts(tools), tokens, ran };
};

export const begin = async (
  session: Session,
  { platform, quiet }: { platform: TestPlatform; quiet: () => Promise<void> },
) => {
  await session.request("done", use("echo"));
  for (const tool of ["outside", "sleeper"]) session.request(tool, use(tool)).catch(() => undefined); // It moves away.
  await quiet();
  platform.advance(3000);
  await quiet();
  session.request("worker", use("worker")).catch(() => undefined);
  await quiet();
};

export const payloadOf = async (session: Session, request: string): Promise<unknown> =>
  (await session.replies(request))[0]?.output.outcome;

export const set = async () => {
  const world = busyWorld();
  const { hosts } = world;
  await begin(await hosts.a.runtime.session("s"), { platform: hosts.platform, quiet: () => hosts.quiet() });
  return world;
};
