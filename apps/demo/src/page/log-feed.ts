/** Text that is pushed at one end, and read at the other as it comes. */
export class Pipe implements AsyncIterable<string> {
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
