/**
 * Commands of one scope whose time has come: performed in their order, and only so many in one turn of the event loop. A
 * request of 10,000 calls starts as many bodies; between the slices others are served, and what was stepped is committed.
 */
import type { News } from "../body/replay.ts";
import type { Cause, WaitingCommand } from "../commit/uncommitted.ts";
import type { Command, Finished, State } from "@pawl/sansio-core";

/** Does for a scope what its runner calls for. */
export interface Interpreter {
  /** Takes note of what was just stepped, before any command of it is performed. */
  stepped(cause: Cause, commands: readonly Command[], finished: readonly Finished[]): void;
  isGrounded(command: Command): boolean;
  /** Performs a command, at the time that its duty asks for. Does not throw for what a tool or a host does wrong. */
  perform(command: Command, cause: Cause): void;
  /** Hands one answer to each body that may hear one, and says whether there was any. */
  deliverNext(): boolean;
  readonly pendingAnswers: News;
  /** Takes note that the log holds this state, with so many more characters of events. */
  becameDurable(state: State, characters: number): void;
  atRest(): void;
  abandoned(why: string): void;
}

/** Bounds a slice. A body that is started and ends at once costs about 0.1 ms, with the event of its end. */
const mostInTurn = 64;

/** Weighs a command: ten replies are as much to hand out as one body is to start. */
const weightOf = ({ command }: WaitingCommand): number =>
  command.type === "reply" ? 1 + command.replies.length / 10 : 1;

type Performs = Pick<Interpreter, "perform" | "deliverNext" | "pendingAnswers">;

export class PerformQueue {
  readonly #interpreter: Performs;
  readonly #mayAct: () => boolean;
  #queue: WaitingCommand[] = [];
  /** How many of the queue are performed. */
  #done = 0;
  #inTurn = 0;

  constructor(interpreter: Performs, mayAct: () => boolean) {
    this.#interpreter = interpreter;
    this.#mayAct = mayAct;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Performs a command, or queues it where this turn has had its slice. */
  add(one: WaitingCommand): void {
    const isFull = this.#inTurn > 0 && this.#inTurn + weightOf(one) > mostInTurn;
    if (!this.isEmpty || isFull) this.#queue.push(one);
    else this.#perform(one);
  }

  /** Begins a turn: performs the next slice, then delivers. Says whether there was anything to do. */
  deliverNext(): boolean {
    this.#inTurn = 0;
    const hasSlice = !this.isEmpty;
    while (this.#done < this.#queue.length && this.#inTurn < mostInTurn && this.#mayAct())
      this.#perform(this.#queue[this.#done++] as WaitingCommand);
    if (this.#done >= this.#queue.length) this.#clear();
    return this.#interpreter.deliverNext() || hasSlice;
  }

  get pendingAnswers(): News {
    return this.isEmpty ? this.#interpreter.pendingAnswers : "some";
  }

  #perform(one: WaitingCommand): void {
    this.#inTurn += weightOf(one);
    this.#interpreter.perform(one.command, one.cause);
  }

  #clear(): void {
    this.#queue = [];
    this.#done = 0;
  }
}
