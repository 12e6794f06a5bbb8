/** Saves a log as a file with the large values that it names. If some are missing, it asks for confirmation first. */
import { type BlobReader, packNamed } from "@pawl/runtime/driver";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import type { MissingValue } from "../model/missing-values.ts";

/** A question before an action, with two answers. */
export interface Confirmation {
  readonly words: string;
  readonly yes: string;
  readonly no: string;
  readonly act: () => void;
}

export interface SavePort {
  readonly scope: () => string;
  /** Returns the values that the log lacks now, and its number of lines. */
  readonly missing: () => Promise<{ readonly lines: number; readonly missing: readonly MissingValue[] }>;
  /** Returns the log's first lines as text, with these blobs packed into it. */
  readonly text: (lines: number, blobs: readonly PackedBlob[]) => Promise<string>;
  readonly confirm: (confirmation: Confirmation) => void;
  readonly tell: (words: string) => void;
  readonly file: (text: string) => void;
}

const maxNamed = 8;

const eventWords = (missing: readonly MissingValue[]): string => {
  const seqs = [...new Set(missing.map(({ seq }) => seq))];
  const more = seqs.length > maxNamed ? " and more" : "";
  return `${seqs.length === 1 ? "event" : "events"} ${seqs.slice(0, maxNamed).join(", ")}${more}`;
};

const missingWords = (missing: readonly MissingValue[], isReadable: boolean): string => {
  const [what, it] =
    missing.length === 1
      ? (["1 large value is", "it"] as const)
      : ([`${missing.length} large values are`, "them"] as const);
  const reason = isReadable
    ? `The store does not have ${it} any more: restore the store that belongs to the journal.`
    : `The source of this log does not give ${it} out: export the log there with pawl log export, which includes ${it}.`;
  return `${what} missing (${eventWords(missing)}): without ${it} the file can be inspected, but not imported. ${reason}`;
};

export class LogSaver {
  readonly #blobs: BlobReader | undefined;
  readonly #port: SavePort;
  #isOver = false;

  constructor(blobs: BlobReader | undefined, port: SavePort) {
    this.#blobs = blobs;
    this.#port = port;
  }

  /** Stops: another log was opened. */
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
    const { lines, missing } = await this.#port.missing();
    const names = missing.map(({ blob }) => blob);
    const packed = await packNamed(this.#blobs, this.#port.scope(), names);
    if (this.#isOver) return;
    const had = new Set(packed.map(({ blob }) => blob));
    const unavailable = missing.filter(({ blob }) => !had.has(blob));
    if (unavailable.length === 0) return this.#write(lines, packed);
    this.#port.confirm({
      words: missingWords(unavailable, this.#blobs !== undefined),
      yes: unavailable.length === 1 ? "Save without it" : "Save without them",
      no: "Do not save",
      act: () => this.#try(this.#write(lines, packed)),
    });
  }

  async #write(lines: number, blobs: readonly PackedBlob[]): Promise<void> {
    const text = await this.#port.text(lines, blobs);
    if (!this.#isOver) this.#port.file(text);
  }
}
