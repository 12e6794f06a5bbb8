/** A simulated process: a runtime with the scenario's tools. A dead process has no further effects. */
import { upgradeOf } from "./audit.ts";
import { type HostPort, type Journal, Runtime, type Session, type ToolDefinition } from "@pawl/runtime";
import { causeChain } from "@pawl/runtime/driver";
import { describe, jsonFromJs } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Actor, VirtualClock } from "./clock.ts";
import type { Gate } from "./gate.ts";
import type { Happened, Ledger } from "./ledger.ts";
import type { Moment } from "./moment.ts";
import type { Claim, EffectOf, Outside, Scenario } from "./scenario.ts";
import { never } from "./faulty-journal.ts";
import { type Doer, Watch } from "./watch.ts";

/** The world around a process. */
export interface ProcessEnvironment {
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly journalOf: (process: Process) => Journal;
  /** Reports a moment. The process may be dead afterwards. */
  readonly pass: (process: Process, moment: Moment) => void;
  readonly claim: (effect: string, claim: Claim) => void;
  /** Reports an internal error of a call. */
  readonly threw: (call: string, message: string) => void;
}

const roots = { newest: { kid: "world", secret: new Uint8Array(32).fill(1) } };

export class Process implements Actor {
  readonly name: string;
  readonly died: Promise<void>;
  readonly watch: Watch;
  readonly runtime: Runtime;
  readonly session: (id: string) => Promise<Session>;
  readonly #around: ProcessEnvironment;
  #isAlive = true;
  #isFrozen = false;
  #wasFrozen = false;
  #owed = 0;
  #die: () => void = () => undefined;

  constructor(name: string, around: ProcessEnvironment) {
    this.name = name;
    this.#around = around;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.watch = this.#watched();
    const tools = around.scenario.tools(this.#outside()).map((tool) => this.watch.tool(tool));
    const own = around.scenario.sessionTools?.(this.#outside()).map((tool) => this.watch.tool(tool));
    this.session = (id) => this.runtime.session(id, own && { tools: own });
    this.runtime = this.#runtime(tools, around.scenario.models?.(this.#outside((ask) => ask(undefined))));
    if (around.scenario.recovers === true) void this.runtime.recover().catch(() => undefined); // The caller of a session gets the error.
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }
  /** Tells whether the outside still owes it an answer. */
  get isOwed(): boolean {
    return this.#owed > 0;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }
  /** Tells whether it was frozen and has not claimed a scope since. */
  get isZombie(): boolean {
    return this.#wasFrozen;
  }

  /** Stops scheduling it. Nobody waits for it any more. */
  freeze(): void {
    this.#isFrozen = true;
    this.#wasFrozen = true;
    this.#die();
  }

  thaw(): void {
    this.#isFrozen = false;
  }

  /** Notes that it owns a scope again. */
  claimed(): void {
    this.#wasFrozen = false;
  }

  kill(): void {
    this.#isAlive = false;
    this.#die();
  }

  #runtime(tools: readonly ToolDefinition[], models: HostPort["models"]): Runtime {
    const { clock, journalOf, scenario, threw } = this.#around;
    const [journal, platform] = [journalOf(this), clock.platformOf(this)];
    const { host: own, ...given } = scenario.runtime ?? {};
    const host: HostPort = {
      ...own,
      ...(models === undefined ? {} : { models }),
      internalError: (call, thrown, detail) => {
        threw(call, causeChain(thrown));
        own?.internalError?.(call, thrown, detail);
      },
    };
    const upgrade = scenario.upgrades === true ? { upgrade: upgradeOf(this.name) } : {};
    return new Runtime({ journal, platform, tools, instance: this.name, roots, ...upgrade, ...given, host });
  }

  async #pass(moment: Moment): Promise<void> {
    this.#around.pass(this, moment);
    if (!this.#isAlive) await never;
  }

  #watched(): Watch {
    const { clock, ledger, gate, claim } = this.#around;
    return new Watch({
      before: (effect) => this.#pass({ type: "effect", when: "before", effect }),
      after: async (effect) => {
        ledger.add({ effect, detail: null, at: clock.now, process: this.name });
        await this.#pass({ type: "effect", when: "after", effect });
      },
      claim,
      arrive: (arrival) => gate.pass(arrival, () => this.#isAlive),
    });
  }

  async #owe<A>(work: Promise<A>): Promise<A> {
    this.#owed += 1;
    const value = await work;
    this.#owed -= 1;
    return value;
  }

  /** Returns the outside world, as this process's tools see it; and its models, which are nobody's tools. */
  #outside(of: Watch["ofTool"] = (ask) => this.watch.ofTool(ask)): Outside {
    const { clock, ledger } = this.#around;
    const isAlive = (): boolean => this.#isAlive;
    const isFrozen = (): boolean => this.#isFrozen;
    const actor: Actor = {
      name: `outside of ${this.name}`,
      get isAlive() {
        return isAlive();
      },
      get isFrozen() {
        return isFrozen();
      },
    };
    const sleep: Outside["sleep"] = (ms) => of(() => this.#owe(clock.sleep(actor, ms)));
    const act = async (doer: Doer | undefined, name: string, said: EffectOf): Promise<Happened> => {
      const { key, detail = null, ms = 0 } = said;
      if (!this.#isAlive) return never;
      await this.#pass({ type: "effect", when: "before", effect: name });
      if (ms > 0) await sleep(ms);
      const told = jsonFromJs(detail);
      if (E.isLeft(told)) throw new TypeError(`detail of effect \`${name}\`: ${describe(told.left)}`);
      const keyed = key === undefined ? {} : { key };
      const happened = ledger.add({
        effect: name,
        ...keyed,
        ...doer,
        detail: told.right,
        at: clock.now,
        process: this.name,
      });
      await this.#pass({ type: "effect", when: "after", effect: name });
      return happened;
    };
    const effect: Outside["effect"] = (name, detail = {}) => of((doer) => act(doer, name, detail));
    return { effect, sleep, now: () => clock.now };
  }
}
