/** The page's side of a log: a queue of its text for the inspector, and a reader of its large values. */
import type { BlobReader } from "@pawl/runtime/driver";

/** An async queue: text is pushed at one end and read at the other as it arrives. */
export class LogFeed implements AsyncIterable<string> {
  #pieces: string[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;

  push(text: string): void {
    this.#pieces.push(text);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const pieces = this.#pieces.splice(0);
      if (pieces.length > 0) yield pieces.join("");
      else if (this.#isOver) return;
      else
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
    }
  }
}

/** Reads the large values of a scene's journal in the page itself: the worker that writes it may be dead. */
export const blobsOf = (scene: string): BlobReader => ({
  read: async (scope, name) => {
    const { openBrowserJournal } = await import("@pawl/driver-browser");
    const journal = await openBrowserJournal({ name: `pawl-demo-${scene}` });
    try {
      return await journal.blobs?.read(scope, name);
    } finally {
      journal.close();
    }
  },
});
