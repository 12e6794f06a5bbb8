/** A process that can be killed: a runtime over a journal that outlives it. */
import { currentProtocol } from "@pawl/sansio-core";
import {
  type HostPort,
  type Journal,
  Runtime,
  type RuntimeOptions,
  type ToolDefinition,
  memoryJournal,
} from "../src/index.ts";
import type { Platform } from "../src/driver.ts";
import { hashText } from "@pawl/tool-value";

export const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };

/** The platform of the tests: real turns, and a clock that jumps to the next deadline when nothing else is to do. */
export class TestPlatform implements Platform {
  #now = 1_700_000_000_000;
  #timers: { readonly at: number; readonly ring: () => void }[] = [];

  now = (): number => this.#now;
  monotonic = (): number => this.#now;
  nextTurn = (then: () => void): void => void setImmediate(then);
  afterTurn: Platform["afterTurn"] = (then) => queueMicrotask(() => process.nextTick(then));
  /** As soon as what was handed out was heard: sooner than any platform has it. */
  followingTurn = (then: () => void): void => {
    this.following += 1;
    queueMicrotask(() => process.nextTick(then));
  };
  following = 0;
  hashText = hashText;
  later = (ms: number, then: () => void): (() => void) => {
    const timer = { at: this.#now + ms, ring: then };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get timers(): number {
    return this.#timers.length;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now).toSorted((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { ring } of due) ring();
  }
}

const never = new Promise<never>(() => undefined);

/** A journal as one process sees it: after its death nothing is written, and nothing comes back. */
const mortal = (journal: Journal, process: Process): Journal => ({
  ...journal,
  claim: (...of) => (process.isDead ? never : journal.claim(...of)),
  renew: async (instance) => (process.isDead ? never : journal.renew(instance)),
  appendAll: async (appends) => {
    process.beforeAppend();
    if (process.isDead) return never;
    const results = await journal.appendAll(appends);
    process.afterAppend();
    return process.isDead ? never : results;
  },
});

/** Where a process dies: before or after its n-th append. */
export interface Death {
  readonly append: number;
  readonly when: "before" | "after";
}

export class Process {
  readonly runtime: Runtime;
  readonly #death: Death | undefined;
  #appends = 0;
  #isDead = false;

  constructor(
    world: World,
    tools: readonly ToolDefinition[],
    { host = {}, death, options = {}, faulty = {}, ...more }: Start = {},
  ) {
    this.#death = death;
    this.runtime = new Runtime({
      journal: mortal({ ...world.journal, ...faulty }, this),
      platform: world.platform,
      tools,
      instance: `p${(world.processes += 1)}`,
      roots,
      host,
      options,
      ...more,
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }
  kill(): void {
    this.#isDead = true;
  }
  beforeAppend(): void {
    this.#appends += 1;
    if (this.#death?.when === "before" && this.#appends >= this.#death.append) this.kill();
  }
  afterAppend(): void {
    if (this.#death?.when === "after" && this.#appends >= this.#death.append) this.kill();
  }
}

export interface Start extends Partial<
  Pick<
    RuntimeOptions,
    | "lease"
    | "linger"
    | "retention"
    | "snapshotAfter"
    | "blobChars"
    | "background"
    | "sweep"
    | "log"
    | "upgrade"
    | "codeVersion"
    | "turns"
  >
> {
  readonly host?: HostPort;
  readonly death?: Death;
  readonly options?: RuntimeOptions["options"];
  /** What its store does otherwise. */
  readonly faulty?: Partial<Journal>;
}

/** Its processes open new scopes under a protocol, and those of protocol 1 stay there; a process may be told otherwise. */
export class World {
  readonly #upgrade: "auto" | "never";
  readonly platform = new TestPlatform();
  readonly journal = memoryJournal({ now: this.platform.now });
  processes = 0;

  constructor(protocol = currentProtocol) {
    this.#upgrade = protocol === 1 ? "never" : "auto";
  }

  start(tools: readonly ToolDefinition[], how: Start = {}): Process {
    return new Process(this, tools, { upgrade: this.#upgrade, ...how });
  }

  /** Lets everything happen that can happen without time passing. */
  async quiet(turns = 60): Promise<void> {
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}
