/**
 * The entry of a page: `openTab` loads the engine, which is everything that runs sessions, and opens a tab with it. A page starts
 * with this file and its tools; the engine is one file of its own.
 *
 * Once the import of a file has failed, a browser fails every later import of the same address, for the life of the page, without
 * asking the network. After a failure the engine is therefore imported under its address with a fragment that is new each time;
 * the browser names the address in its error.
 */
import type { Recorded } from "@pawl/sansio-core";
import type { AttachmentStore, Journal, Runtime, RuntimeOptions } from "@pawl/runtime";
import type { StreamFrame, StreamOptions } from "@pawl/runtime/driver";
import type * as engine from "./engine.ts";

/** The options of a tab and its runtime. By default, `log` shows errors on the console. */
export interface OpenTabOptions extends Pick<
  RuntimeOptions,
  | "tools"
  | "host"
  | "options"
  | "patience"
  | "linger"
  | "log"
  | "mover"
  | "blobChars"
  | "upgrade"
  | "codeVersion"
  | "turns"
> {
  /** Names the journal, which all tabs of this name share. It is created if there is none. */
  readonly name: string;
  /** The interval at which a follower asks if the leader is alive. After three unanswered questions it takes over. */
  readonly beatMs?: number;
  /** Called with a runtime when this tab becomes the leader, and with undefined when it no longer is. */
  readonly changed?: (runtime: Runtime | undefined) => void;
}

export interface OpenTab {
  /**
   * Resolves with the runtime once this tab is the leader, which is at once if it is alone. Rejects with a
   * `BrowserJournalError` if the tab was closed, or the browser has closed its journal.
   */
  readonly runtime: () => Promise<Runtime>;
  readonly isWriting: boolean;
  /**
   * Follows the log of a scope (`session:{id}`, `process:{id}`) after a cursor, whichever tab writes it. The log ends with
   * `scope.moved`; if the scope comes back, its log continues from the event before that one.
   */
  readonly follow: (scope: string, after: number, signal: AbortSignal) => AsyncGenerator<Recorded>;
  /**
   * Reads a stream of a call, in any tab: live and late, from any place. It goes on when another tab begins to write: then
   * the reader may be told by `reset` to drop what it was shown before that was on record.
   */
  readonly stream: (scope: string, call: string, options: StreamOptions) => AsyncGenerator<StreamFrame>;
  /** Reads the journal, in any tab. */
  readonly journal: Journal;
  /** The store of attachments: the host's, or the journal's. */
  readonly attachments: AttachmentStore;
  /** Closes the tab. Runs end as in a crash; events are made durable, and the next tab takes over. */
  readonly close: () => Promise<void>;
}

type Engine = typeof engine;

const addressIn = (thrown: unknown): string | undefined =>
  thrown instanceof TypeError ? /\bhttps?:\S+$/.exec(thrown.message)?.[0] : undefined;

let address: string | undefined;
let failures = 0;

const loadAgain = (): Promise<Engine> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ `${address}#${failures}`) as Promise<Engine>;

/** Loads the engine. A call after a failure tries again. */
const loadEngine = async (): Promise<Engine> => {
  try {
    return await (address === undefined ? import("./engine.ts") : loadAgain());
  } catch (thrown) {
    address ??= addressIn(thrown);
    failures += 1;
    throw thrown;
  }
};

/**
 * Opens a tab over the journal of a name. Its `runtime()` resolves once this tab is the leader. Rejects with the browser's error if
 * the engine cannot be loaded; it may then be called again.
 */
export const openTab = async (options: OpenTabOptions): Promise<OpenTab> => (await loadEngine()).openTab(options);
