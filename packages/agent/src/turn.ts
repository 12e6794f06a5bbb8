/** A turn of an agent, as the program that began it sees it: a stream of what is said, a place in it, and an end. */
import type { Waiting } from "@pawl/runtime";
import {
  type ReadTurnOptions,
  type Said,
  type TurnCursor,
  type TurnFrame,
  type TurnOptions,
  turnCursorAfter,
} from "@pawl/runtime/driver";
import type { TurnEnd } from "@pawl/sansio-core/driver";
import { type Limits, limitsOf } from "./limits.ts";

/** A session of a runtime here, or of a host that this program is a client of (`SessionClient`): keys stay with the host. */
export interface TurnSession {
  readonly turn: (request: string, said: Said, options: TurnOptions & Waiting) => Promise<TurnEnd>;
  readonly readTurn: (request: string, options: ReadTurnOptions) => AsyncIterable<TurnFrame>;
  readonly cancel: (target: { readonly request: string }) => Promise<void>;
}

export interface RunOptions extends Omit<TurnOptions, "agent" | "limits" | "output">, Waiting {
  /** Names the turn in its session. After a crash the same id joins it, wherever it is by then. */
  readonly id: string;
  /** Limits of this turn, over those of its agent. */
  readonly limits?: Limits;
  /** The place that the reader has of it. Default: the beginning of the answer that is under way. */
  readonly from?: TurnCursor;
}

/** Thrown by `value` for a turn that has none. */
export class TurnFailed extends Error {
  override readonly name = "TurnFailed";
  readonly end: TurnEnd;

  constructor(end: TurnEnd) {
    super(`turn \`${end.turn}\` has no value: it ${endWords(end)}`);
    this.end = end;
  }
}

const endWords = (end: TurnEnd): string => {
  switch (end.status) {
    case "finished":
      return "finished with a text alone, and its agent has no `output`";
    case "stopped":
      return `was stopped: ${end.because}`;
    case "failed":
      return `failed: ${end.code}${end.message === undefined ? "" : `: ${end.message}`}`;
    case "joined":
      return `joined turn \`${end.into}\``;
  }
};

/**
 * A turn that was begun, or joined. Iterating tells what its answers say, as they come; `reset` says that from a unit on what
 * was told is void. Nobody has to read: the turn goes on without, and leaving a loop stops nothing.
 */
export class AgentTurn<O = unknown> implements AsyncIterable<TurnFrame> {
  readonly id: string;
  /** How the turn ended. */
  readonly end: Promise<TurnEnd>;
  readonly #session: TurnSession;
  readonly #over = new AbortController();
  #cursor: TurnCursor | undefined;

  /** @internal */ constructor(session: TurnSession, agent: string, said: Said, options: RunOptions) {
    const { id, from, limits, ...how } = options;
    this.id = id;
    this.#session = session;
    this.#cursor = from;
    const own = limits === undefined ? {} : { limits: limitsOf(limits) };
    this.end = session.turn(id, said, { ...how, ...own, agent });
    this.end.catch((thrown: unknown) => this.#over.abort(thrown)); // Whoever awaits the end is told; readers leave.
  }

  /** The place of the newest that was told. A later process goes on from it by `from`. */
  get cursor(): TurnCursor | undefined {
    return this.#cursor;
  }

  /** Tells what is said from the place that was told last, until the turn is over. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TurnFrame> {
    const { signal } = this.#over;
    const from: Pick<ReadTurnOptions, "from"> = this.#cursor === undefined ? {} : { from: this.#cursor };
    for await (const frame of this.#session.readTurn(this.id, { ...from, signal })) {
      this.#cursor = turnCursorAfter(frame);
      yield frame;
    }
    if (signal.aborted) throw signal.reason;
  }

  /** The text of the end; an empty one where there is none. */
  async text(): Promise<string> {
    const end = await this.end;
    return "text" in end ? (end.text ?? "") : "";
  }

  /** The value of the end, of the form that the agent's `output` wants. Throws where the turn has none. */
  async value(): Promise<O> {
    const end = await this.end;
    if (end.status !== "finished" || end.value === undefined) throw new TurnFailed(end);
    return end.value as O;
  }

  /** Stops the turn. What was said stays in the history. */
  stop(): Promise<void> {
    return this.#session.cancel({ request: this.id });
  }
}
