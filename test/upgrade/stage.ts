/**
 * A town at work: the real runtime over a journal in memory, on a clock that passes only as it is told. The people of the town
 * (who submit, approve, answer and cancel) and its ledger outlive each host; a host may die at any task, and the next one goes on.
 */
import { type Journal, Runtime, type RuntimeOptions, memoryJournal } from "@pawl/runtime";
import { type Mover, type ValueCodec, sealedJournal } from "@pawl/runtime/driver";
import { type Actor, VirtualClock } from "@pawl/testkit";
import { hostOf, numberOf } from "./host.ts";
import { Ledger, type LedgerText } from "./ledger.ts";
import { People, type Reached } from "./people.ts";
import type { Outside } from "./tool-parts.ts";
import { toolsOf } from "./tools.ts";
import type { Town } from "./town.ts";

const roots = { newest: { kid: "corpus", secret: new Uint8Array(32).fill(7) } };

/** Time between two looks of the people, and between a death and the next host. */
const lookMs = 500;
const restartMs = 100;
/** Time for which the target of a move does not answer. */
const silentMs = 9000;
const people: Actor = { name: "people", isAlive: true };

const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xa5);
/** Seals values by turning their bits over, behind the byte that marks sealed blobs. */
export const flipping: ValueCodec = {
  seal: (_, bytes) => Uint8Array.from([1, ...flip(bytes)]),
  open: (_, sealed) => flip(sealed.subarray(1)),
};

interface Life extends Reached {
  readonly actor: { readonly name: string; isAlive: boolean };
}

export interface StageOptions {
  readonly store?: Journal;
  readonly ledger?: LedgerText;
  /** The time at which the town goes on. */
  readonly from?: number;
  /** Tasks after which the host dies. */
  readonly deaths?: readonly number[];
  /** Further options of the runtime. */
  readonly runtime?: Partial<RuntimeOptions>;
}

const silence = async (): Promise<never> => {
  throw new Error("nobody answers");
};

export class Stage {
  readonly town: Town;
  readonly ledger: Ledger;
  readonly store: Journal;
  /** The journal as hosts see it: with its values open. */
  readonly journal: Journal;
  readonly clock = new VirtualClock();
  readonly threw: string[] = [];
  readonly #runtime: Partial<RuntimeOptions>;
  readonly #from: number;
  readonly #begun = this.clock.now;
  readonly #deaths: readonly number[];
  readonly #people: People;
  #life: Life | undefined;
  #lives = 0;
  #tasks = 0;
  #lines = 0;
  #isOver = false;

  constructor(town: Town, { store = undefined, ledger, from, deaths = [], runtime = {} }: StageOptions = {}) {
    this.town = town;
    this.ledger = new Ledger(ledger);
    this.store = store ?? memoryJournal({ now: () => this.clock.now });
    this.journal = town.options.sealed ? sealedJournal(this.store, flipping) : this.store;
    this.#from = from ?? this.clock.now;
    this.#deaths = deaths;
    this.#runtime = runtime;
    this.#people = new People({
      town,
      ledger: this.ledger,
      journal: this.journal,
      begun: this.clock.now,
      now: () => this.clock.now,
      life: () => this.#reached(),
      threw: this.threw,
      over: () => (this.#isOver = true),
    });
  }

  get tasks(): number {
    return this.#tasks;
  }
  get lines(): number {
    return this.#lines;
  }
  get isOver(): boolean {
    return this.#isOver;
  }
  /** The host that lives, or lived last. */
  get host(): string {
    return this.#reached().actor.name;
  }

  /** Lets the town work until it is over, or `isEnough`. */
  async run(isEnough: (stage: Stage) => boolean = () => false): Promise<void> {
    this.clock.later(people, this.#from - this.clock.now, () => undefined);
    await this.clock.run({
      isDone: () => this.clock.now >= this.#from,
      afterEach: () => undefined,
      atRest: () => false,
      most: 10,
    });
    this.#start();
    this.#lookOn();
    const ended = await this.clock.run({
      isDone: () => this.#isOver || isEnough(this),
      afterEach: () => this.#count(),
      atRest: () => false,
      most: 60_000,
    });
    if (ended !== "done")
      throw new Error(`town ${this.town.seed} (${this.town.features.join(", ")}): ${this.#stuck(ended)}`);
  }

  #lookOn(): void {
    this.clock.later(people, lookMs, () => {
      this.#lookOn();
      this.#people.look();
    });
  }

  #stuck(ended: string): string {
    const open = this.town.acts.filter((act) => !this.#people.isDone(act)).map(({ id }) => id);
    return `${ended}, while ${open.join(", ") || "nothing"} is open; ${this.threw.slice(-3).join("; ")}`;
  }

  #count(): void {
    this.#tasks += 1;
    if (this.#deaths.includes(this.#tasks)) this.kill();
  }

  /** Kills the host. The next one starts after a while. */
  kill(): void {
    this.#reached().actor.isAlive = false;
    this.clock.later(people, restartMs, () => this.#start());
  }

  #reached(): Life {
    if (this.#life === undefined) throw new Error("no host has started yet");
    return this.#life;
  }

  #start(): void {
    this.#lives += 1;
    const actor = { name: `host-${this.#from}-${this.#lives}`, isAlive: true };
    const { options } = this.town;
    const pause = (name: string, most: number): Promise<void> => this.clock.sleep(actor, numberOf(name) % most);
    const runtime = new Runtime({
      journal: this.#counted(),
      platform: this.clock.platformOf(actor),
      tools: toolsOf(this.#outside(pause)),
      instance: actor.name,
      roots,
      host: hostOf({ town: this.town, ledger: this.ledger, threw: this.threw, pause }),
      mover: () => this.#mover(),
      blobChars: 2000,
      options: { concurrency: options.concurrency, maxRunAttempts: 20 },
      ...(options.snapshots ? { snapshotAfter: options.retention ? 300 : 2500 } : {}),
      ...(options.retention ? { retention: { olderThanMs: 0 } } : {}),
      ...this.#runtime,
    });
    this.#life = { actor, runtime, pause, asked: new Set(), isAlive: () => actor.isAlive };
    this.#people.meet();
  }

  #counted(): Journal {
    const { journal } = this;
    return {
      ...journal,
      appendAll: async (appends) => {
        const results = await journal.appendAll(appends);
        for (const [i, { lines }] of appends.entries()) if (results[i]?.type === "ok") this.#lines += lines.length;
        return results;
      },
    };
  }

  // The world outside, as the host reaches it.

  #outside(pause: Reached["pause"]): Outside {
    return {
      effect: async (effect, { key, claim }) => {
        await pause(effect, 60);
        this.ledger.add({ effect, claim, ...(key === undefined ? {} : { key }) });
        await pause(`after ${effect}`, 60);
      },
      hand: (as, token, { session }) => this.ledger.hand({ session, token, as, at: this.clock.now }),
      isConnected: (as) => this.ledger.isDone(`connected ${as}`),
    };
  }

  /** Returns the target of moves: it is silent at first, and then wants nothing. */
  #mover(): Mover {
    const answer = async () => (this.clock.now < this.#begun + silentMs ? silence() : ({ type: "never" } as const));
    return { send: answer, decline: answer };
  }
}
