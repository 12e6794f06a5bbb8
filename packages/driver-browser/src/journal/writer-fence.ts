/**
 * Who may write: a number in the database, which every tab raises when it begins to. It is compared in the transaction
 * that writes, so whoever was taken for dead and is not is refused, also in scopes that nobody has claimed since.
 */
import { BrowserJournalError } from "./error.ts";
import type { Reading, Writing } from "./transaction.ts";

export class WriterFence {
  #number: number | undefined;

  /** From now on whoever wrote before is refused. */
  async take(write: <A>(work: (at: Writing) => Promise<A>) => Promise<A>): Promise<void> {
    this.#number = await write(async (at) => {
      const number = ((await at.objectStore("count").get("seat")) ?? 0) + 1;
      await at.objectStore("count").put(number, "seat");
      return number;
    });
  }

  /** Whether another tab writes now. One that never took the fence leaves all to the epochs of scopes. */
  async isLost(at: Reading): Promise<boolean> {
    return this.#number !== undefined && (await at.objectStore("count").get("seat")) !== this.#number;
  }

  async check(at: Reading): Promise<void> {
    if (await this.isLost(at))
      throw new BrowserJournalError("superseded", "another tab has taken over, and writes this journal now");
  }
}
