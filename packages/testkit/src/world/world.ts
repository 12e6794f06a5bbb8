/**
 * A world in which a scenario runs: one clock, one store, one outside, and one process after the other that runs the
 * tools and can die at every moment. The same director and the same pick give the same world, to the bit.
 */
import { type Json, describe, encode, fromJs } from "@pawl/tool-value";
import { type Journal, type JournalLine, Runtime, memoryJournal } from "@pawl/runtime";
import * as E from "fp-ts/lib/Either.js";
import { Audit } from "./audit.ts";
import { type Actor, type Pick, VirtualClock, inOrder } from "./clock.ts";
import { Host } from "./host.ts";
import { type Happened, Ledger } from "./ledger.ts";
import { type Director, type Fate, type Moment, undisturbed } from "./moment.ts";
import type { Claim, Outside, Scenario } from "./scenario.ts";
import { mortalJournal, never } from "./store.ts";
import { Watch } from "./watch.ts";

export interface WorldOptions {
  readonly director?: Director;
  readonly pick?: Pick;
  /** So many things may happen. */
  readonly things?: number;
}

export type Ended = "done" | "stuck" | "exhausted" | "left_the_world" | "broken" | "host_failed";

/** How a run of a scenario went. */
export interface Outcome {
  readonly ended: Ended;
  /** Why it did not come to its end. */
  readonly why: string | undefined;
  /** What the host came to. */
  readonly result: Json | undefined;
  readonly moments: readonly Moment[];
  readonly deaths: number;
  readonly effects: ReadonlyMap<string, number>;
  readonly happened: readonly Happened[];
  readonly claims: ReadonlyMap<string, Claim>;
  readonly elapsedMs: number;
  readonly logs: ReadonlyMap<string, readonly JournalLine[]>;
}

/** How long after its death a process is started anew. */
const restartMs = 100;

class Process implements Actor {
  readonly name: string;
  readonly died: Promise<void>;
  readonly watch: Watch;
  readonly runtime: Runtime;
  /** What the outside still owes it. */
  owed = 0;
  #isAlive = true;
  #die: () => void = () => undefined;

  constructor(name: string, make: (process: Process) => { readonly watch: Watch; readonly runtime: Runtime }) {
    this.name = name;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    const { watch, runtime } = make(this);
    this.watch = watch;
    this.runtime = runtime;
  }
  get isAlive(): boolean {
    return this.#isAlive;
  }
  kill(): void {
    this.#isAlive = false;
    this.#die();
  }
}

const outsider: Actor = { name: "outside", isAlive: true };
const roots = { newest: { kid: "world", secret: new Uint8Array(32).fill(1) } };

export class World {
  readonly #scenario: Scenario;
  readonly #director: Director;
  readonly #things: number;
  readonly #clock: VirtualClock;
  readonly #journal: Journal = memoryJournal();
  readonly #audit = new Audit();
  readonly #ledger = new Ledger();
  readonly #moments: Moment[] = [];
  readonly #claims = new Map<string, Claim>();
  #process: Process;
  #processes = 0;
  #end: { readonly ended: Ended; readonly why?: string; readonly result?: Json } | undefined;

  constructor(scenario: Scenario, { director = undisturbed, pick = inOrder, things = 100_000 }: WorldOptions = {}) {
    this.#scenario = scenario;
    this.#director = director;
    this.#things = things;
    this.#clock = new VirtualClock(pick);
    this.#process = this.#start();
  }

  async run(): Promise<Outcome> {
    void this.#live();
    const ran = await this.#clock.run(
      () => this.#end !== undefined,
      () => this.#look(),
      this.#things,
    );
    const broken = this.#audit.close();
    if (broken !== undefined) this.#end = { ended: "broken", why: broken };
    const why =
      ran === "quiet"
        ? "nothing is left to happen, and the host still waits"
        : `more than ${this.#things} things happened`;
    const { ended, result, ...end } = this.#end ?? { ended: ran === "quiet" ? "stuck" : "exhausted", why };
    return {
      ended,
      why: end.why,
      result,
      moments: this.#moments,
      deaths: this.#processes - 1,
      effects: this.#ledger.counts,
      happened: this.#ledger.happened,
      claims: this.#claims,
      elapsedMs: this.#clock.elapsed,
      logs: await this.#logs(),
    };
  }

  async #logs(): Promise<ReadonlyMap<string, readonly JournalLine[]>> {
    const logs = this.#audit.scopes.map(async (scope) => [scope, await this.#journal.read(scope, 1)] as const);
    return new Map(await Promise.all(logs));
  }

  async #live(): Promise<void> {
    const host = new Host(this.#clock, outsider, this.#ledger, () => this.#process);
    try {
      const result = fromJs((await this.#scenario.host(host)) ?? null);
      this.#end = E.isLeft(result)
        ? { ended: "host_failed", why: describe(result.left) }
        : { ended: "done", result: encode(result.right) };
    } catch (thrown) {
      this.#end = {
        ended: "host_failed",
        why: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown),
      };
    }
  }

  /** Nothing can happen now but what the world brings: whoever waits for something else has left it. */
  #look(): void {
    const { fault } = this.#audit;
    if (fault !== undefined) this.#end ??= { ended: "broken", why: fault };
    const { isAlive, watch, owed } = this.#process;
    const adrift = isAlive ? watch.adrift(owed > 0) : undefined;
    if (adrift === undefined) return;
    const after = adrift.asked === undefined ? "before it asked for anything" : `after ${adrift.asked}`;
    this.#end ??= {
      ended: "left_the_world",
      why: `${adrift.what} waits for something that is not of this world, ${after}`,
    };
  }

  #start(): Process {
    this.#processes += 1;
    return new Process(`p${this.#processes}`, (process) => {
      const watch = new Watch({
        before: (effect) => this.#around(process, { type: "effect", when: "before", effect }),
        after: async (effect) => {
          this.#ledger.add({ effect, detail: null, at: this.#clock.now, process: process.name });
          await this.#around(process, { type: "effect", when: "after", effect });
        },
        claim: (effect, claim) => void this.#claims.set(effect, claim),
      });
      const tools = this.#scenario.tools(this.#outside(process)).map((tool) => watch.tool(tool));
      return { watch, runtime: this.#runtime(process, tools) };
    });
  }

  #runtime(process: Process, tools: ConstructorParameters<typeof Runtime>[0]["tools"]): Runtime {
    const journal = mortalJournal(this.#journal, process, {
      clock: this.#clock,
      pass: (moment) => this.#pass(process, moment),
      taken: ({ scope, lines }) => this.#audit.take(scope, lines),
    });
    const platform = this.#clock.platformOf(process);
    return new Runtime({ journal, platform, tools, instance: process.name, roots, ...this.#scenario.runtime });
  }

  #pass(process: Process, moment: Moment): Fate {
    if (!process.isAlive) return "die";
    this.#moments.push(moment);
    const fate = this.#director(moment, this.#moments.length);
    if (fate === "die") this.#kill(process);
    return fate;
  }

  #kill(process: Process): void {
    process.kill();
    this.#clock.later(outsider, restartMs, () => {
      this.#process = this.#start();
    });
  }

  async #around(process: Process, moment: Moment): Promise<void> {
    this.#pass(process, moment);
    if (!process.isAlive) await never;
  }

  #outside(process: Process): Outside {
    const owe = async <A>(work: Promise<A>): Promise<A> => {
      process.owed += 1;
      const value = await work;
      process.owed -= 1;
      return value;
    };
    const effect: Outside["effect"] = async (name, { key, detail = null, ms = 0 } = {}) => {
      if (!process.isAlive) return never;
      await this.#around(process, { type: "effect", when: "before", effect: name });
      if (ms > 0) await owe(this.#clock.sleep(process, ms));
      const told = fromJs(detail);
      if (E.isLeft(told)) throw new TypeError(`detail of effect \`${name}\`: ${describe(told.left)}`);
      const at = this.#clock.now;
      const happened = {
        effect: name,
        ...(key === undefined ? {} : { key }),
        detail: encode(told.right),
        at,
        process: process.name,
      };
      const settled = this.#ledger.add(happened);
      await this.#around(process, { type: "effect", when: "after", effect: name });
      return settled;
    };
    return { effect, sleep: (ms) => owe(this.#clock.sleep(process, ms)), now: () => this.#clock.now };
  }
}

export const runScenario = (scenario: Scenario, options: WorldOptions = {}): Promise<Outcome> =>
  new World(scenario, options).run();
