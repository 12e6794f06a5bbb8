/**
 * A fencing token: a number in the database that each tab raises when it becomes the leader. It is compared in the transaction
 * that writes, so a former leader that was taken for dead is refused, also in scopes that nobody has claimed since.
 */
import { BrowserJournalError } from "./error.ts";
import type { Reading, Writing } from "./transaction.ts";

export class WriterFence {
  #number: number | undefined;

  /** Raises the number: whoever wrote before is refused from now on. */
  async take(write: <A>(work: (at: Writing) => Promise<A>) => Promise<A>): Promise<void> {
    this.#number = await write(async (at) => {
      const number = ((await at.objectStore("count").get("seat")) ?? 0) + 1;
      await at.objectStore("count").put(number, "seat");
      return number;
    });
  }

  /** Returns true if another tab has raised the number. A writer that never took the fence relies on the epochs of scopes. */
  async isLost(at: Reading): Promise<boolean> {
    return this.#number !== undefined && (await at.objectStore("count").get("seat")) !== this.#number;
  }

  async check(at: Reading): Promise<void> {
    if (await this.isLost(at))
      throw new BrowserJournalError("superseded", "another tab has taken over, and writes this journal now");
  }
}
