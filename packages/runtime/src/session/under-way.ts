/** Work that holds a scope in memory, and the conditions under which a state lets it go. */
import { type CallRef, type Command, type State, outstanding } from "@pawl/sansio-core";
import { type CallRow, bodyOf, isExecutor } from "@pawl/sansio-core/driver";

/** Work under way that nothing but memory knows of. */
export class UnderWay {
  readonly #over: () => void;
  #count = 0;

  /** `over`: nothing is under way any more. */
  constructor(over: () => void) {
    this.#over = over;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Wraps work so that each of its runs is counted. */
  counted<Of extends readonly unknown[], A>(work: (...of: Of) => Promise<A>): (...of: Of) => Promise<A> {
    return (...of) => this.during(work(...of));
  }

  async during<A>(work: Promise<A>): Promise<A> {
    this.#count += 1;
    try {
      return await work;
    } finally {
      this.#count -= 1;
      if (this.#count === 0) this.#over();
    }
  }
}

/** Says whether a state asks for nothing more: no call runs, and nothing is owed but replies. */
export const isAtRest = (state: State): boolean =>
  !state.calls.rows().some(({ phase }) => phase === "running" || phase === "no_executor") &&
  outstanding(state).every(({ type }) => type === "reply");

/** Says whether an executor is to run the body of a call. */
export const isClientSide = ({ calls }: State, { call }: { readonly call: CallRef }): boolean => {
  const row = calls.at(call);
  return row !== undefined && bodyOf(row)?.manifest.policy === "client_side";
};

/** Says whether an executor has a call, or the call waits for one. */
export const isOffered = (row: CallRow): boolean =>
  row.phase === "no_executor" || (row.phase === "running" && isExecutor(row.owner));

/** Returns the calls whose bodies end with these commands: they are over, or begin anew. */
export const endedIn = (commands: readonly Command[]): readonly CallRef[] => {
  const ended: CallRef[] = [];
  for (const command of commands) {
    const isEnd = command.type === "observe" && command.what === "call_completed";
    if (isEnd || command.type === "tool.execute") ended.push(command.call);
  }
  return ended;
};
