/** The broadcast channel between the tabs of one journal, and the journal that announces its durable appends on it. */
import type { Journal } from "@pawl/runtime";
import type { Append, AppendResult } from "@pawl/runtime/driver";
import { read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { TabMessage } from "./message.ts";

/** Connects the tabs of one journal. A message that does not decode is from a newer page, and is ignored. */
export class Channel {
  readonly #channel: BroadcastChannel;
  readonly #hearers = new Set<(message: TabMessage) => void>();
  #isClosed = false;

  constructor(name: string) {
    this.#channel = new BroadcastChannel(name);
    this.#channel.addEventListener("message", ({ data }) => {
      const message = read(TabMessage, data);
      if (E.isRight(message)) this.#tell(message.right);
    });
  }

  /** Hears all messages, until the returned function is called. */
  hear(hearer: (message: TabMessage) => void): () => void {
    this.#hearers.add(hearer);
    return () => void this.#hearers.delete(hearer);
  }

  #tell(message: TabMessage): void {
    for (const hearer of this.#hearers) hearer(message);
  }

  /** Sends a message to all other tabs, unless this one is closed. */
  post(message: TabMessage): void {
    if (this.#isClosed) return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no origin
    this.#channel.postMessage(message);
  }

  /** Sends a message to all tabs, this one included. */
  announce(message: TabMessage): void {
    this.post(message);
    this.#tell(message);
  }

  close(): void {
    this.#isClosed = true;
    this.#hearers.clear();
    this.#channel.close();
  }
}

const lastOf = ({ lines }: Pick<Append, "lines">): number => lines.at(-1)?.seq ?? 0;

/** Wraps a journal so that it announces every durable append to all tabs. */
export const broadcasting = (journal: Journal, channel: Channel): Journal => {
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    const results = await journal.appendAll(appends);
    for (const [i, append] of appends.entries())
      if (results[i]?.type === "ok") channel.announce({ type: "appended", scope: append.scope, seq: lastOf(append) });
    return results;
  };
  return { ...journal, appendAll };
};
