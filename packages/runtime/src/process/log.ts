/** The events of a process, read from its scope's log as that grows. */
import { type State, follow, initial } from "@pawl/sansio-core";
import { type ProcessEvent, observedEvent } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { Refused } from "../error.ts";
import { Quarantined, recordedIn } from "../scope/fold.ts";
import type { JournalLine } from "../journal/journal.ts";

export class ProcessLog {
  readonly #readLines: (from: number) => Promise<readonly JournalLine[]>;
  #state: State;

  constructor(scope: string, readLines: (from: number) => Promise<readonly JournalLine[]>) {
    this.#state = initial(scope);
    this.#readLines = readLines;
  }

  /** How far it has read: the place of the process's newest event. */
  get sequence(): number {
    return this.#state.process?.sequence ?? 0;
  }

  /** The events that stand in the log since it was last read. */
  async next(): Promise<readonly ProcessEvent[]> {
    const from = this.#state.seq + 1;
    const lines = await this.#readLines(from);
    const { id } = this.#state.scope;
    if (lines[0] !== undefined && lines[0].seq !== from) throw new Refused("gone", `the first lines of ${id} are gone`);
    return lines.flatMap((line) => this.#follow(id, line));
  }

  #follow(id: string, line: JournalLine): readonly ProcessEvent[] {
    const recorded = recordedIn(id, line);
    const followed = follow(this.#state, recorded, line.seq);
    if (E.isLeft(followed))
      throw new Quarantined(id, `line ${line.seq} is not what this core makes of it`, followed.left);
    const { state, commands } = followed.right;
    this.#state = state;
    const row = state.process;
    return commands.flatMap((command) => {
      if (command.type !== "process.observe" || command.what !== "event" || row === undefined) return [];
      const { sequence, event_type = "", payload = null } = command;
      return [observedEvent(row, { sequence, event_type, payload, at: recorded.at })];
    });
  }
}
