/** Where the tabs over one journal tell each other. What does not decode is of a newer page, and means nothing here. */
import { read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { TabMessage } from "./message.ts";

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

  hear(hearer: (message: TabMessage) => void): void {
    this.#hearers.add(hearer);
  }

  #tell(message: TabMessage): void {
    for (const hearer of this.#hearers) hearer(message);
  }

  /** To all other tabs; a closed one has nothing to say. */
  post(message: TabMessage): void {
    if (this.#isClosed) return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no origin
    this.#channel.postMessage(message);
  }

  /** To all tabs, this one included. */
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
