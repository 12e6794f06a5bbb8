/** The host of a scenario: asks the live process, and asks the next one if that dies. */
import { Refused, type Runtime, type Session } from "@pawl/runtime";
import type { Actor, VirtualClock } from "./clock.ts";
import { wholeRequest, wholeScope } from "./footprint.ts";
import type { Gate } from "./gate.ts";
import type { Happened, Ledger } from "./ledger.ts";
import type { Fate } from "./moment.ts";
import type { ActOf, ScenarioHost } from "./scenario.ts";

/** The live process, as the host sees it. */
export interface Reached extends Actor {
  readonly runtime: Runtime;
  /** Opens a session as the host of the scenario does. */
  readonly session: (id: string) => Promise<Session>;
  readonly died: Promise<void>;
}

/** Delay before the host asks again. */
const againMs = 1000;

const passing = new Set(["scope_lost", "owned_by", "closing", "overloaded", "retry_later"]);
export const isPassing = (thrown: unknown): boolean => {
  if (!(thrown instanceof Error)) return false;
  const { retryable, code } = thrown as { readonly retryable?: unknown; readonly code?: unknown };
  return retryable === true || (typeof code === "string" && passing.has(code));
};

type Act<A> = (session: Session, runtime: Runtime) => Promise<A>;

export interface HostPort {
  readonly clock: VirtualClock;
  readonly actor: Actor;
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly process: () => Reached;
  /** Reports that the host has heard something, which may decide what it does next. */
  readonly hears: () => void;
  /** Reports a request to the process, which may be dead afterwards. */
  readonly pass: (word: string) => Fate;
}

export class Host implements ScenarioHost {
  readonly #port: HostPort;
  readonly #open: string[] = [];

  constructor(port: HostPort) {
    this.#port = port;
  }

  /** Requests without an answer. */
  get open(): readonly string[] {
    return this.#open;
  }

  sleep: ScenarioHost["sleep"] = (ms) => this.#port.clock.sleep(this.#port.actor, ms);

  request: ScenarioHost["request"] = (request, calls, session = "s") =>
    this.within(async (open) => open.request(request, calls), { session, request, as: `call ${request}` });

  within: ScenarioHost["within"] = (act, of = {}) => this.#asked(() => act, of);

  once: ScenarioHost["once"] = (act, of = {}) =>
    this.#asked(
      (isRepeated) => async (session, runtime) => {
        try {
          await act(session, runtime);
        } catch (thrown) {
          if (!isRepeated || !(thrown instanceof Refused) || isPassing(thrown)) throw thrown;
        }
      },
      of,
    );

  /** Repeats an act until it is answered. `actOf` gets whether the act may have been done before. */
  async #asked<A>(actOf: (isRepeated: boolean) => Act<A>, of: ActOf): Promise<A> {
    const { as = "act" } = of;
    this.#open.push(as);
    try {
      return await this.#answered(actOf, of);
    } finally {
      this.#open.splice(this.#open.indexOf(as), 1);
    }
  }

  async #answered<A>(
    actOf: (isRepeated: boolean) => Act<A>,
    { session = "s", as = "act", request }: ActOf,
  ): Promise<A> {
    const scope = `session:${session}`;
    const concerns = request === undefined ? wholeScope(scope) : wholeRequest(scope, request);
    const label = `host: ${as}${session === "s" ? "" : ` in ${session}`}`;
    await this.#port.gate.pass({ label, concerns }, () => true);
    for (let isRepeated = false; ; isRepeated = true) {
      const reached = this.#port.process();
      const fate = reached.isAlive ? this.#port.pass(as) : "die";
      if (fate === "heard_twice") void this.#tried(reached, actOf(false), session).catch(() => undefined);
      const act = actOf(isRepeated || fate === "heard_twice");
      const answer = fate === "die" ? undefined : await this.#tried(reached, act, session);
      this.#port.hears();
      if (answer !== undefined && fate !== "lost_answer") return answer.value;
      await this.sleep(againMs);
    }
  }

  /** Returns the answer, or undefined if the process dies or asks for patience. */
  async #tried<A>({ runtime, session, died }: Reached, act: Act<A>, id: string) {
    const answered = session(id).then((opened) => act(opened, runtime));
    try {
      return await Promise.race([answered.then((value) => ({ value })), died.then(() => undefined)]);
    } catch (thrown) {
      if (isPassing(thrown)) return undefined;
      throw thrown;
    }
  }

  happened: (effect: string, n?: number) => Promise<Happened> = (effect, n = 1) => this.#port.ledger.when(effect, n);
}
