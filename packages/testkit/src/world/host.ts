/** The host of a scenario: it asks whichever process lives, and asks the next one when that has died of it. */
import type { Runtime, Session } from "@pawl/runtime";
import type { Actor, VirtualClock } from "./clock.ts";
import type { Gate } from "./gate.ts";
import type { Happened, Ledger } from "./ledger.ts";
import type { ActOf, ScenarioHost } from "./scenario.ts";

/** The process that lives now, as a host knows it. */
export interface Reached extends Actor {
  readonly runtime: Runtime;
  readonly died: Promise<void>;
}

/** After which a host asks again. */
const againMs = 1000;

const passing = new Set(["scope_lost", "owned_by", "closing", "overloaded", "retry_later"]);
const isPassing = (thrown: unknown): boolean => {
  if (!(thrown instanceof Error)) return false;
  const { retryable, code } = thrown as { readonly retryable?: unknown; readonly code?: unknown };
  return retryable === true || (typeof code === "string" && passing.has(code));
};

export interface HostPort {
  readonly clock: VirtualClock;
  readonly actor: Actor;
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly process: () => Reached;
}

export class Host implements ScenarioHost {
  readonly #port: HostPort;

  constructor(port: HostPort) {
    this.#port = port;
  }

  sleep: ScenarioHost["sleep"] = (ms) => this.#port.clock.sleep(this.#port.actor, ms);

  call: ScenarioHost["call"] = (request, calls, session = "s") =>
    this.within(async (open) => open.call(request, calls), { session, request, as: `call ${request}` });

  async within<A>(
    act: (session: Session) => Promise<A>,
    { session = "s", as = "act", request }: ActOf = {},
  ): Promise<A> {
    const of = request === undefined ? {} : { request };
    await this.#port.gate.pass({ label: `host: ${as}`, scope: `session:${session}`, ...of }, () => true);
    for (;;) {
      const reached = this.#port.process();
      const answer = reached.isAlive ? await this.#tried(reached, act, session) : undefined;
      if (answer !== undefined) return answer.value;
      await this.sleep(againMs);
    }
  }

  /** The answer, unless the process dies of it or asks for patience. */
  async #tried<A>({ runtime, died }: Reached, act: (session: Session) => Promise<A>, id: string) {
    const answered = runtime.session(id).then(act);
    try {
      return await Promise.race([answered.then((value) => ({ value })), died.then(() => undefined)]);
    } catch (thrown) {
      if (isPassing(thrown)) return undefined;
      throw thrown;
    }
  }

  happened: (effect: string, n?: number) => Promise<Happened> = (effect, n = 1) => this.#port.ledger.when(effect, n);
}
