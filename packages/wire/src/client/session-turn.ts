/** The questions of a client about the turns of one session. */
import {
  type BudgetStatus,
  type PromptQuestion,
  type ReadTurnOptions,
  type Said,
  type ShownPrompt,
  type TurnFrame,
  type TurnOptions,
  turnCursorAfter,
} from "@pawl/runtime/driver";
import type { TurnEnd } from "@pawl/sansio-core/driver";
import type { BudgetMore } from "../frame/turn-frame.ts";
import type { HostFrame } from "../frame/host-frame.ts";
import { HostRefused, unexpected } from "./error.ts";
import type { SingleQuestion, WithoutId } from "./pending-questions.ts";
import { defaultWindow } from "./subscription.ts";
import type { TurnReading } from "./turn-reading.ts";

/** Resolves with the answer, or rejects when `signal` aborts first. */
export const orAborted = <A>(answer: Promise<A>, request: string, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const leave = (): void =>
      reject(new HostRefused("waiter_gone", `the wait for request \`${request}\` was aborted; its calls go on`));
    signal.addEventListener("abort", leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    if (signal.aborted) leave();
  });
};

/** The pause before a reader asks again for a session that is not there yet. */
const firstMs = 50;

/** The part of the client that turns use. */
export interface TurnPort {
  readonly ask: (question: WithoutId<SingleQuestion>, signal?: AbortSignal) => Promise<HostFrame>;
  readonly readTurn: (
    scope: string,
    place: ReadTurnOptions & { readonly request: string },
    window: number,
  ) => TurnReading;
}

/** Options of a turn that a client begins. The host says who it is: the principal of the token. */
export interface ClientTurnOptions extends Omit<TurnOptions, "executionScope" | "by"> {
  /** Leaves the end with the host until `acknowledge`. */
  readonly keep?: boolean;
  /** Stops waiting; the turn goes on. */
  readonly signal?: AbortSignal;
}

/** Asks a host about the turns of a session. */
export abstract class TakesTurns {
  readonly #port: TurnPort;
  readonly scope: string;

  constructor(port: TurnPort, scope: string) {
    this.#port = port;
    this.scope = scope;
  }

  abstract acknowledge(request: string): Promise<void>;

  protected async done(question: WithoutId<SingleQuestion>): Promise<void> {
    const frame = await this.#port.ask(question);
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  /**
   * Says something to the session's agent, and waits for the end of the turn. The same turn again joins it, or is answered
   * as it was. `cancel` stops it.
   */
  async turn(request: string, said: Said, options: ClientTurnOptions = {}): Promise<TurnEnd> {
    const { agent, whenBusy, limits, output, traceparent, keep = false, signal } = options;
    const messages = typeof said === "string" ? [{ role: "user", content: said } as const] : said;
    const question = {
      type: "turn",
      scope: this.scope,
      request,
      messages,
      ...(agent === undefined ? {} : { agent }),
      ...(whenBusy === undefined ? {} : { when_busy: whenBusy }),
      ...(limits === undefined ? {} : { limits }),
      ...(output === undefined ? {} : { output }),
      ...(traceparent === undefined ? {} : { traceparent }),
    } as const;
    const frame = await orAborted(this.#port.ask(question, signal), request, signal);
    if (frame.type !== "turned") throw unexpected(frame, "turned");
    if (!keep) await this.acknowledge(request);
    return frame.turn;
  }

  /**
   * Reads the answers of a turn from a place on, live and late, until the turn is over. One that nobody has submitted yet is
   * waited for, as is its session.
   */
  async *readTurn(
    request: string,
    { from, signal }: ReadTurnOptions = {},
    window = defaultWindow,
  ): AsyncGenerator<TurnFrame> {
    let cursor = from;
    for (;;) {
      if (signal?.aborted === true) return;
      try {
        for await (const frame of this.#reading(request, cursor, signal, window)) {
          cursor = turnCursorAfter(frame);
          yield frame;
        }
        return;
      } catch (thrown) {
        if (!(thrown instanceof HostRefused) || thrown.code !== "scope_unknown") throw thrown;
        await new Promise((resolve) => setTimeout(resolve, firstMs));
      }
    }
  }

  async *#reading(
    request: string,
    from: ReadTurnOptions["from"],
    signal: AbortSignal | undefined,
    window: number,
  ): AsyncGenerator<TurnFrame> {
    const reading = this.#port.readTurn(this.scope, { request, ...(from === undefined ? {} : { from }) }, window);
    const leave = (): void => void reading.return();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      yield* reading;
    } finally {
      signal?.removeEventListener("abort", leave);
      leave();
    }
  }

  /** Returns what the session has used, its limits, the turn that runs, and whether it waits for a decision on them. */
  async budget(): Promise<BudgetStatus> {
    const frame = await this.#port.ask({ type: "budget", scope: this.scope });
    if (frame.type !== "budget_told") throw unexpected(frame, "budget_told");
    const { used, limits, turn, parked } = frame;
    return { used, limits, ...(turn === undefined ? {} : { turn }), ...(parked === undefined ? {} : { parked }) };
  }

  /** Decides on a budget that is reached: the turn that it holds up goes on, or stops. Repeated under the same `id` it counts once. */
  decideBudget(of: {
    readonly ask: number;
    readonly decision: "extend" | "stop";
    readonly add?: BudgetMore;
    readonly id?: string;
    /** The sub-agent whose budget it is. */
    readonly subAgent?: string;
  }): Promise<void> {
    const { ask, decision, add, id = crypto.randomUUID(), subAgent } = of;
    const more = { ...(add === undefined ? {} : { add }), ...(subAgent === undefined ? {} : { sub_agent: subAgent }) };
    return this.done({ type: "decide_budget", scope: this.scope, ask, decision, decision_id: id, ...more });
  }

  /**
   * Returns what the model is told in the n-th model call of a turn, or in its last; without a turn, in the call that is open or
   * comes next.
   */
  async prompt(of: PromptQuestion = {}): Promise<ShownPrompt> {
    const { request, n } = of;
    const question = { ...(request === undefined ? {} : { request }), ...(n === undefined ? {} : { n }) };
    const frame = await this.#port.ask({ type: "prompt", scope: this.scope, ...question });
    if (frame.type !== "prompted") throw unexpected(frame, "prompted");
    return frame.prompt;
  }

  /** Has the history summarized before the next answer. */
  compact(): Promise<void> {
    return this.done({ type: "compact", scope: this.scope });
  }
}
