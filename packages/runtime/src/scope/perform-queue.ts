/**
 * Commands of one scope whose time has come: performed in their order, and only so many in one turn of the event loop. A
 * request of 10,000 calls starts as many bodies; between the slices others are served, and what was stepped is committed.
 */
import type { News } from "../body/replay.ts";
import type { WaitingCommand } from "../commit/uncommitted.ts";
import type { Interpreter } from "../session/interpreter.ts";

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
