/** Group commit: the appends of all scopes that come in one turn go to the store together, and share its sync. */
import type { Append, AppendResult, Journal } from "./journal.ts";
import type { Platform } from "./platform.ts";

interface Waiting {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (reason: unknown) => void;
}

export class Committer {
  readonly #journal: Journal;
  readonly #platform: Platform;
  #waiting: Waiting[] = [];
  #isCommitting = false;
  #commits = 0;

  constructor(journal: Journal, platform: Platform) {
    this.#journal = journal;
    this.#platform = platform;
  }

  /** How often the store was asked to sync. */
  get commits(): number {
    return this.#commits;
  }

  append(append: Append): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject });
      if (this.#waiting.length === 1 && !this.#isCommitting) this.#platform.nextTurn(() => this.#commit());
    });
  }

  #commit(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#isCommitting = true;
    this.#commits += 1;
    void this.#journal.appendAll(batch.map(({ append }) => append)).then(
      (results) => {
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] ?? { type: "failed", message: "no result" });
        this.#committed();
      },
      (reason: unknown) => {
        for (const { reject } of batch) reject(reason);
        this.#committed();
      },
    );
  }

  #committed(): void {
    this.#isCommitting = false;
    if (this.#waiting.length > 0) this.#platform.nextTurn(() => this.#commit());
  }
}
