/**
 * The people of a town: they submit, approve, answer, cancel, and run what an executor runs. They act by what they see at each
 * look, and by the ledger, so that they go on with whichever host lives.
 */
import { type Journal, Refused, type Runtime } from "@pawl/runtime";
import { type State, outstanding } from "@pawl/sansio-core";
import { type Json, successOutput } from "@pawl/tool-value";
import { numberOf } from "./host.ts";
import type { Ledger } from "./ledger.ts";
import type { Args } from "./tool-parts.ts";
import type { Act, Town } from "./town.ts";

/** How long an answer to a token takes. */
const answerMs = 1500;

/** Looks between two recoveries, which drivers make with each beat of their lease. */
const looksPerRecovery = 10;

const passing = new Set(["scope_lost", "owned_by", "closing", "overloaded", "retry_later", "scope_is_moving"]);
const isPassing = (thrown: unknown): boolean =>
  thrown instanceof Error && passing.has(String((thrown as { readonly code?: unknown }).code));

/** The host that lives, as people reach it. */
export interface Reached {
  readonly runtime: Runtime;
  readonly isAlive: () => boolean;
  readonly pause: (name: string, most: number) => Promise<void>;
  /** What this host was asked for, and has not answered. */
  readonly asked: Set<string>;
}

export interface PeoplePlace {
  readonly town: Town;
  readonly ledger: Ledger;
  readonly journal: Journal;
  /** The time at which the town began. */
  readonly begun: number;
  readonly now: () => number;
  readonly life: () => Reached;
  readonly threw: string[];
  /** Called once nothing is left to do. */
  readonly over: () => void;
}

const isAtRest = (state: State): boolean =>
  state.calls.size + state.batches.size + state.requests.size === 0 &&
  outstanding(state).length === 0 &&
  (state.process === undefined || state.process.status.state !== "running");

export class People {
  readonly #place: PeoplePlace;
  #looks = 0;

  constructor(place: PeoplePlace) {
    this.#place = place;
  }

  /** Lets the executor of the town serve the host that lives. */
  #register(): void {
    const { runtime, pause } = this.#place.life();
    runtime.register({
      id: "desk",
      tools: ["tool:client"],
      serves: () => true,
      offer: (offer) => {
        const { as } = offer.args as unknown as Args;
        void this.#try(`desk ${offer.call}`, async () => {
          await pause(as, 900);
          this.#place.ledger.add({ effect: `${as}/client`, key: as, claim: "once" });
          await pause(`after ${as}`, 900);
          await runtime.settle("desk", { ...offer, output: successOutput("by the desk"), duration_ms: 1 });
        });
      },
      cancel: () => undefined,
    });
  }

  /** Meets a host that has just started. */
  meet(): void {
    if (this.#place.ledger.isDone("executor")) this.#register();
    void this.#try("recover", () => this.#place.life().runtime.recover());
  }

  /** Does something once at a time. What is refused is done; what cannot be answered now is tried again at the next look. */
  async #try(what: string, act: () => Promise<unknown>): Promise<void> {
    const { asked } = this.#place.life();
    if (asked.has(what)) return;
    asked.add(what);
    try {
      await act();
    } catch (thrown) {
      if (!isPassing(thrown) && !(thrown instanceof Refused)) this.#place.threw.push(`${what}: ${String(thrown)}`);
    } finally {
      asked.delete(what);
    }
  }

  /** Does something until it is answered, and notes that it is done. What is refused was done before. */
  #once(what: string, act: () => Promise<unknown>): void {
    if (this.#place.ledger.isDone(what)) return;
    const finish = (): void => this.#place.ledger.finish(what);
    void this.#try(what, () =>
      act().then(finish, (thrown: unknown) => {
        if (!(thrown instanceof Refused) || isPassing(thrown)) throw thrown;
        finish();
      }),
    );
  }

  /** Says if an act needs no more doing. */
  isDone(act: Act): boolean {
    return act.type === "call" || act.type === "flow"
      ? this.#place.ledger.hasReply(act.id)
      : this.#place.ledger.isDone(act.id);
  }

  /** Does what is to be done now. */
  look(): void {
    if (!this.#place.life().isAlive()) return;
    this.#looks += 1;
    if (this.#looks % looksPerRecovery === 0) void this.#try("recover", () => this.#place.life().runtime.recover());
    const open = this.#place.town.acts.filter((act) => !this.isDone(act));
    for (const act of open) if (this.#place.now() >= this.#place.begun + act.at) this.#act(act);
    for (const { session, token, as, at } of this.#place.ledger.tokens)
      if (this.#place.now() >= at + answerMs) this.#once(`answer ${as}`, () => this.#answer(session, token, as));
    void this.#try("approve", () => this.#approve());
    this.#connect();
    if (open.length === 0) void this.#try("end", () => this.#end());
  }

  #act(act: Act): void {
    const { runtime } = this.#place.life();
    const { id } = act;
    const open = () => runtime.session(act.session);
    switch (act.type) {
      case "call":
        return void this.#try(id, async () => {
          const calls = act.calls.map(({ id: label, ...call }) => ({ label, ...call }));
          const replies = await (await open()).request(act.request, calls);
          const outcomes = replies.map(({ output }) => output.outcome as unknown as Json);
          this.#place.ledger.reply(id, act.isLoose ? "loose" : outcomes);
        });
      case "flow":
        return void this.#try(id, async () => {
          const { ending } = await (await open()).flow({ request: act.request, flow: act.program });
          this.#place.ledger.reply(id, ending.type);
        });
      case "cancel":
        return this.#once(id, async () => (await open()).cancel({ request: act.request }, "people"));
      case "executor":
        this.#place.ledger.finish(id);
        return this.#register();
      case "move":
        return void this.#try(id, async () => {
          await runtime.move(`session:${act.session}`, "elsewhere").catch((thrown: unknown) => {
            if (isPassing(thrown)) throw thrown;
          });
          this.#place.ledger.finish(id);
        });
    }
  }

  async #answer(session: string, token: string, as: string): Promise<void> {
    const { runtime } = this.#place.life();
    const resolution = { status: "ok", payload: `answer to ${as}` } as const;
    await (await runtime.session(session)).resolve(token, resolution, "people", as);
  }

  async #approve(): Promise<void> {
    const { runtime } = this.#place.life();
    for (const { scope } of await runtime.awaitingApproval()) {
      if (!scope.startsWith("session:")) continue;
      const session = await runtime.session(scope.slice("session:".length));
      for (const { call, args, hash, askedAt = 0 } of await session.approvals()) {
        const { as } = args as unknown as Args;
        if (this.#place.now() < askedAt + 1000 + (numberOf(as) % 3000)) continue;
        const seen = { hash, by: "people" };
        if (as.endsWith("-c")) await session.reject(call, { ...seen, reason: "too dear" });
        else if (as.endsWith("-edit")) await session.approve(call, { ...seen, args: { as: `${as}ed` } });
        else await session.approve(call, seen);
      }
    }
  }

  #connect(): void {
    for (const what of this.#place.ledger.text.done) {
      const [verb, scope = "", call = ""] = what.split(" ");
      if (verb !== "connect") continue;
      this.#once(`said ${what}`, async () => {
        const session = await this.#place.life().runtime.session(scope.slice("session:".length));
        const args = session.state.calls.at(call)?.args as unknown as Args | undefined;
        if (args === undefined) return;
        this.#place.ledger.finish(`connected ${args.as}`);
        await session.connect(call, { status: "saved" }, "people");
      });
    }
  }

  /** Ends the town once nothing is left to do in any scope. */
  async #end(): Promise<void> {
    for (const { scope } of await this.#place.journal.scopes("", "", 1000)) {
      const { state } = await this.#open(scope);
      if (!isAtRest(state)) return this.#askAgain();
    }
    this.#place.over();
  }

  /** Asks for all replies once more: that one was heard may be lost. */
  #askAgain(): void {
    for (const act of this.#place.town.acts) if (act.type === "call" || act.type === "flow") this.#act(act);
  }

  /** Opens a scope of either kind. */
  #open(scope: string): ReturnType<Runtime["session"]> {
    const { runtime } = this.#place.life();
    const [kind = "", ...rest] = scope.split(":");
    const id = rest.join(":");
    return kind === "session" ? runtime.session(id) : runtime.processes.scope(id);
  }
}
