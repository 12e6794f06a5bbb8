/** The story of a turn: its answers as the log has them, and the words that are shown before they are on record. */
import type { Command, Event } from "@pawl/sansio-core";
import type { Piece, TurnEnd } from "@pawl/sansio-core/driver";
import type { TurnFrame } from "@pawl/runtime/driver";

/** One answer of the model, over all its attempts. */
export interface AnswerStory {
  readonly n: number;
  /** All that was said by the newest attempt, and how much of it is on record. */
  said: string;
  recorded: number;
  /** Where the newest attempt goes on from, and the words that were shown behind that place and died with the last attempt. */
  kept: number;
  lost: string;
  attempts: number;
  isOver: boolean;
  /** The calls that it asked for. */
  readonly calls: string[];
}

/** A question about a budget that is used up. */
export interface BudgetAsk {
  readonly ask: number;
  readonly answers: number;
}

const textOf = (pieces: readonly Piece[]): string =>
  pieces.map(({ text = "", part }) => (part === undefined ? text : part.type === "text" ? part.text : "")).join("");

export class TurnStory {
  readonly answers: AnswerStory[] = [];
  isBegun = false;
  budget: BudgetAsk | undefined;
  end: TurnEnd | undefined;

  /** Takes an event, and the commands that followed from it. */
  take(event: Event, commands: readonly Command[]): void {
    if (event.type === "turn.submitted") this.isBegun = true;
    if (event.type === "model.streamed" || event.type === "model.answered") this.#record(event);
    for (const command of commands) if (command.type === "turn.observe") this.#observe(command);
  }

  /** Takes a call that the last answer asked for. */
  called(ref: string): void {
    this.answers.at(-1)?.calls.push(ref);
  }

  #record({ n, pieces, type }: Extract<Event, { readonly type: "model.streamed" | "model.answered" }>): void {
    const answer = this.#answer(n);
    const text = answer.said.slice(0, answer.recorded) + textOf(pieces);
    answer.recorded = text.length;
    if (text.length > answer.said.length || type === "model.answered") answer.said = text;
    if (type !== "model.answered") return;
    answer.isOver = true;
    answer.lost = "";
  }

  #observe(command: Extract<Command, { readonly type: "turn.observe" }>): void {
    switch (command.what) {
      case "model_asked":
        this.#answer(command.n).attempts = command.attempt;
        return;
      case "model_reset":
        return this.#reset(this.#answer(command.n), command.keep);
      case "turn_parked":
        this.budget = { ask: command.ask, answers: command.reached[0]?.used ?? 0 };
        return;
      case "turn_resumed":
        this.budget = undefined;
        return;
      case "turn_ended":
        this.budget = undefined;
        this.end = command.end;
        return;
      default:
        return;
    }
  }

  #answer(n: number): AnswerStory {
    const known = this.answers.find((one) => one.n === n);
    if (known !== undefined) return known;
    const answer: AnswerStory = { n, said: "", recorded: 0, kept: 0, lost: "", attempts: 1, isOver: false, calls: [] };
    this.answers.push(answer);
    return answer;
  }

  #reset(answer: AnswerStory, keep: number): void {
    answer.lost = answer.said.slice(keep);
    answer.said = answer.said.slice(0, keep);
    answer.recorded = keep;
    answer.kept = keep;
  }

  /** Takes what a reader of the answer is told before the log has it. */
  hear(frame: TurnFrame): void {
    if (frame.type !== "text") return;
    const { n, attempt, at, text } = frame;
    const answer = this.#answer(n);
    if (answer.isOver) return;
    if (attempt < answer.attempts || at > answer.said.length) return;
    answer.said = answer.said.slice(0, at) + text;
  }
}
