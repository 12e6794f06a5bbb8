/**
 * The door of a page: `openTab` loads the engine, which is all that runs sessions, and opens a tab with it. A page starts
 * with this file and its tools.
 */
import type { Recorded } from "@pawl/sansio-core";
import type { AttachmentStore, Journal, Runtime, RuntimeOptions } from "@pawl/runtime";
import { loadEngine } from "./load-engine.ts";

/** What a runtime is told besides its ports. Its `log` shows errors on the console, unless it is another one. */
export interface OpenTabOptions extends Pick<
  RuntimeOptions,
  "tools" | "host" | "options" | "patience" | "linger" | "log" | "mover" | "blobChars"
> {
  /** The journal, which all tabs of this name share; made where there is none. */
  readonly name: string;
  /** How often a tab that watches asks whether the one that writes is there. After three questions it takes over. */
  readonly beatMs?: number;
  /** This tab begins to write, with a runtime of its own; or, without one, it writes no more. */
  readonly changed?: (runtime: Runtime | undefined) => void;
}

export interface OpenTab {
  /**
   * The runtime, as soon as this tab is the one that writes: at once where it is alone. Fails with a
   * `BrowserJournalError` when the tab is closed, or the browser has closed its journal.
   */
  readonly runtime: () => Promise<Runtime>;
  readonly isWriting: boolean;
  /**
   * The log of a scope (`session:{id}`, `process:{id}`) after a cursor, and on as it grows, whichever tab writes it. It
   * ends behind `scope.moved`: when the scope has come back, its log goes on from the event before that one.
   */
  readonly follow: (scope: string, after: number, signal: AbortSignal) => AsyncGenerator<Recorded>;
  /** To be read from, in any tab. */
  readonly journal: Journal;
  /** Bytes that bodies have put, unless the host keeps them elsewhere. */
  readonly attachments: AttachmentStore;
  /** Ends what runs, as if by a crash, and leaves all to the next tab when what was stepped is on disk. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a tab over the journal of a name. Its `runtime()` resolves once this tab is the one that writes. Rejects with the browser's
 * error if the engine cannot be loaded: ask again then.
 */
export const openTab = async (options: OpenTabOptions): Promise<OpenTab> => (await loadEngine()).openTab(options);
