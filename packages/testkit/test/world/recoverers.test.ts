/** Two recoverers of one run: a process dies in the middle of a call, and two others resume it at once. */
import { type Journal, Runtime, type ToolDefinition, defineTool, memoryJournal } from "@pawl/runtime";
import type { Reply } from "@pawl/runtime";
import { canonicalJson } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../src/index.ts";
import { Audit } from "../../src/world/audit.ts";
import { SeededRandom } from "../../src/world/random.ts";
import type { Actor } from "../../src/world/clock.ts";
import { timeless } from "../../src/world/judge.ts";
import { mortalJournal } from "../../src/world/faulty-journal.ts";

class Life implements Actor {
  readonly name: string;
  isAlive = true;

  constructor(name: string) {
    this.name = name;
  }
}

/** Counts what was done, by any process. */
class Done {
  readonly counts = new Map<string, number>();

  add(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

const trip = (clock: VirtualClock, life: Life, done: Done): ToolDefinition =>
  defineTool({
    name: "trip",
    durable: true,
    execute: async (_, ctx) => {
      const seat = await ctx.run("seat", async ({ key }) => {
        await clock.sleep(life, 20);
        done.add(`seat ${key}`);
        return key;
      });
      await ctx.sleep(30);
      const charged = await ctx
        .run("charge", async () => (await clock.sleep(life, 20), done.add("charge"), "charged"), {
          input: { seat },
          recovery: "once",
        })
        .catch((thrown: unknown) => (thrown as { readonly code?: string }).code ?? "no code");
      return [seat, charged];
    },
  });

const roots = { newest: { kid: "world", secret: new Uint8Array(32).fill(1) } };
const calls = [{ label: "c1", tool: "trip", args: {} }];

class Race {
  readonly clock: VirtualClock;
  readonly done = new Done();
  readonly audit = new Audit();
  readonly #journal: Journal;
  readonly #diesAt: number;

  constructor(seed: number) {
    const chance = new SeededRandom(seed);
    this.clock = new VirtualClock((count) => chance.below(count));
    this.#journal = memoryJournal({ now: () => this.clock.now });
    this.#diesAt = 1 + chance.below(13);
  }

  #runtime(life: Life, pass: () => "live" | "die"): Runtime {
    const { clock, audit } = this;
    const die = (): void => void (life.isAlive = false);
    const taken: Parameters<typeof mortalJournal>[2]["taken"] = ({ scope, lines }) => audit.take(scope, lines);
    const journal = mortalJournal(this.#journal, life, { clock, pass, die, claims: () => undefined, taken });
    const tools = [trip(clock, life, this.done)];
    return new Runtime({ journal, platform: clock.platformOf(life), tools, instance: life.name, roots });
  }

  /** Starts the call and dies at one of its moments. */
  #victim(): Life {
    const life = new Life("victim");
    let moments = 0;
    const runtime = this.#runtime(life, () => {
      moments += 1;
      if (moments === this.#diesAt) life.isAlive = false;
      return life.isAlive ? "live" : "die";
    });
    void runtime.session("s").then((session) => session.request("r1", calls));
    return life;
  }

  async #recover(life: Life): Promise<readonly Reply[]> {
    const runtime = this.#runtime(life, () => "live");
    for (;;) {
      try {
        return await (await runtime.session("s")).request("r1", calls);
      } catch (thrown) {
        if ((thrown as { readonly code?: string }).code !== "scope_lost") throw thrown;
        await this.clock.sleep(life, 700);
      }
    }
  }

  async run(): Promise<readonly string[]> {
    const victim = this.#victim();
    const recovering: Promise<readonly Reply[]>[] = [];
    let heard: readonly (readonly Reply[])[] | undefined;
    const ended = await this.clock.run({
      isDone: () => heard !== undefined,
      afterEach: () => {
        if (victim.isAlive || recovering.length > 0) return;
        recovering.push(...["left", "right"].map((name) => this.#recover(new Life(name))));
        void Promise.all(recovering).then((replies) => void (heard = replies));
      },
      atRest: () => false,
      most: 20_000,
    });
    expect([ended, this.audit.close()]).toEqual(["done", undefined]);
    return (heard ?? []).map((replies) => canonicalJson(timeless(replies as never)));
  }
}

// https://github.com/dbos-inc/dbos-transact-java/issues/491, https://github.com/dbos-inc/dbos-transact-py/pull/786
describe("two recoverers of one run", () => {
  it("fence each other, do nothing twice that may be done once, and get the same answer", async () => {
    let fights = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const race = new Race(seed);
      const [left, right] = await race.run();
      expect([seed, left]).toEqual([seed, right]);
      expect([seed, race.done.counts.get("charge") ?? 0]).toEqual([
        seed,
        expect.toSatisfy((count: number) => count <= 1),
      ]);
      const keys = [...race.done.counts.keys()].filter((what) => what.startsWith("seat "));
      expect([seed, keys.length]).toEqual([seed, 1]);
      fights += (race.audit.state("session:s")?.scope.epoch ?? 0) > 3 ? 1 : 0;
    }
    expect(fights).toBeGreaterThan(20);
  });
});
