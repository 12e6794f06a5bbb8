/** A log as a file, with the large values that it names: what is missing of them is said before anything is saved. */
import { type BlobReader, packNamed } from "@pawl/runtime";
import type { PackedBlob } from "@pawl/sansio-core";
import type { Absent } from "../model/missing-values.ts";

/** What is asked before something is done, and the two ways to answer. */
export interface Asking {
  readonly words: string;
  readonly yes: string;
  readonly no: string;
  readonly act: () => void;
}

export interface SavingPort {
  /** The scope that the log is of. */
  readonly scope: () => string;
  /** What the log lacks as it stands, which has so many lines. */
  readonly absent: () => Promise<{ readonly lines: number; readonly absent: readonly Absent[] }>;
  /** The log's first lines, with these blobs packed into them. */
  readonly text: (lines: number, blobs: readonly PackedBlob[]) => Promise<string>;
  readonly ask: (asking: Asking) => void;
  readonly tell: (words: string) => void;
  readonly file: (text: string) => void;
}

/** So many events are named one by one. */
const mostNamed = 8;

const eventWords = (missing: readonly Absent[]): string => {
  const seqs = [...new Set(missing.map(({ seq }) => seq))];
  const more = seqs.length > mostNamed ? " and more" : "";
  return `${seqs.length === 1 ? "event" : "events"} ${seqs.slice(0, mostNamed).join(", ")}${more}`;
};

const missingWords = (missing: readonly Absent[], isReadable: boolean): string => {
  const what = missing.length === 1 ? "1 large value is" : `${missing.length} large values are`;
  const why = isReadable
    ? "The store that it should be in has it no more: restore the one that belongs to its journal."
    : "Where this log comes from does not give it out: export it there, with pawl log export, for a file with all of it.";
  return `${what} missing (${eventWords(missing)}): without it the file can be looked at, but not imported. ${why}`;
};

export class Saving {
  readonly #blobs: BlobReader | undefined;
  readonly #port: SavingPort;
  #isOver = false;

  constructor(blobs: BlobReader | undefined, port: SavingPort) {
    this.#blobs = blobs;
    this.#port = port;
  }

  /** The log is not the one that is open any more. */
  end(): void {
    this.#isOver = true;
  }

  save(): void {
    this.#try(this.#save());
  }

  #try(work: Promise<void>): void {
    void work.catch((thrown: unknown) => {
      if (!this.#isOver) this.#port.tell(`The log was not saved: ${String(thrown)}`);
    });
  }

  async #save(): Promise<void> {
    const { lines, absent } = await this.#port.absent();
    const names = absent.map(({ blob }) => blob);
    const packed = await packNamed(this.#blobs, this.#port.scope(), names);
    if (this.#isOver) return;
    const had = new Set(packed.map(({ blob }) => blob));
    const missing = absent.filter(({ blob }) => !had.has(blob));
    if (missing.length === 0) return this.#write(lines, packed);
    this.#port.ask({
      words: missingWords(missing, this.#blobs !== undefined),
      yes: missing.length === 1 ? "Save without it" : "Save without them",
      no: "Do not save",
      act: () => this.#try(this.#write(lines, packed)),
    });
  }

  async #write(lines: number, blobs: readonly PackedBlob[]): Promise<void> {
    const text = await this.#port.text(lines, blobs);
    if (!this.#isOver) this.#port.file(text);
  }
}
