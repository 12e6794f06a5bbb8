/** Edits that deciders made, while their arguments are checked. */
import type { Event, State } from "@pawl/sansio-core";
import { ScopeLost } from "../error.ts";

interface Watch {
  readonly call: string;
  readonly over: (event: Event) => void;
  readonly lost: (error: Error) => void;
}

export const isEditing = (state: State, call: string): boolean => {
  const row = state.calls.at(call);
  return row?.phase === "awaiting_approval" && row.approval.edited !== undefined;
};

/** Edits whose arguments are being checked, and who waits for the verdict. */
export class ApprovalEdits {
  #watches: Watch[] = [];

  /** The event with which the check of a call's edited arguments is over. */
  over(call: string): Promise<Event> {
    return new Promise((over, lost) => this.#watches.push({ call, over, lost }));
  }

  get isEmpty(): boolean {
    return this.#watches.length === 0;
  }

  stepped(state: State, event: Event): void {
    if (this.#watches.length === 0) return;
    const ended = this.#watches.filter(({ call }) => !isEditing(state, call));
    this.#watches = this.#watches.filter((watch) => !ended.includes(watch));
    for (const { over } of ended) over(event);
  }

  abandon(why: string): void {
    for (const { lost } of this.#watches) lost(new ScopeLost(why));
    this.#watches = [];
  }
}
