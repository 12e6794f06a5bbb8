/**
 * The delivery of messages between scopes. A message is in the inbox of its target from the commit of the event that sends
 * it. The sender then opens the target if it is here or has no owner; if another instance owns it, that instance finds
 * the message when it polls. A message that could not be taken is tried again after longer and longer pauses.
 */
import * as E from "fp-ts/lib/Either.js";
import { OwnedElsewhere, ScopeLost, isRace } from "../error.ts";
import type { InboxMessage, Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";
import { contentOf, type Inbox } from "./inbox.ts";

/** A scope that messages can be sent to. */
export interface Addressee {
  readonly scopeLinks: { readonly inbox: Inbox };
}

interface InboxPollerPort {
  readonly platform: Platform;
  readonly instance: string;
  readonly mailed: Journal["mailed"];
  readonly open: (scope: string) => Promise<Addressee>;
  /** Resolves with true if the scope is in this store, or may be created by its messages. */
  readonly isHere: (scope: string) => Promise<boolean>;
  /** True if several instances share the store; then each polls for the messages of its own scopes. */
  readonly isShared: boolean;
  readonly report: (what: string, thrown: unknown) => void;
}

const pauseMs = (tries: number): number => Math.min(30_000, 10 * 2 ** tries);

/** The most scopes that are opened at a time for messages. */
const most = 64;

interface Waiting {
  readonly tries: number;
  /** Set if the scope was lost: opening it for every new message could lose it again and again without a pause. */
  readonly wasLost: boolean;
  readonly callOff: () => void;
}

export class InboxPoller {
  readonly #port: InboxPollerPort;
  readonly #looking = new Set<string>();
  /** Scopes whose inboxes could not be emptied, each with a timer for the next try. */
  readonly #waiting = new Map<string, Waiting>();
  #callOff: (() => void) | undefined;
  #isOver = false;

  constructor(port: InboxPollerPort) {
    this.#port = port;
  }

  /** Delivers the messages of a scope, now. */
  notify(scope: string): void {
    const { tries = 0, wasLost = false } = this.#waiting.get(scope) ?? {};
    if (!wasLost) void this.#look(scope, tries);
  }

  /** Polls for messages, every so many milliseconds. */
  watch(everyMs: number): void {
    if (this.#isOver) return;
    this.#callOff = this.#port.platform.later(everyMs, () => void this.#collect().finally(() => this.watch(everyMs)));
  }

  stop(): void {
    this.#isOver = true;
    this.#callOff?.();
    for (const { callOff } of this.#waiting.values()) callOff();
    this.#waiting.clear();
  }

  /** Polls once, and resolves when the messages found are delivered. */
  async collect(): Promise<void> {
    await Promise.all(await this.#collect());
  }

  /** Polls once, and starts the deliveries: a scope that is slow to open does not delay the others. */
  async #collect(): Promise<readonly Promise<void>[]> {
    try {
      const { size } = this.#looking;
      const mailed = await this.#port.mailed(this.#port.instance, most + this.#waiting.size + size);
      const wanted = mailed.filter((scope) => !this.#waiting.has(scope) && !this.#looking.has(scope));
      return wanted.slice(0, Math.max(0, most - size)).map((scope) => this.#look(scope, 0));
    } catch (thrown) {
      this.#port.report("polling for messages", thrown);
      return [];
    }
  }

  async #look(scope: string, tries: number): Promise<void> {
    if (this.#isOver) return;
    this.#looking.add(scope);
    const found = await this.#found(scope);
    this.#looking.delete(scope);
    this.#waiting.get(scope)?.callOff();
    this.#waiting.delete(scope);
    if (found !== "empty" && !this.#isOver) this.#wait(scope, tries, found === "lost");
  }

  #wait(scope: string, tries: number, wasLost: boolean): void {
    const callOff = this.#port.platform.later(pauseMs(tries), () => void this.#look(scope, tries + 1));
    this.#waiting.set(scope, { tries: tries + 1, wasLost, callOff });
  }

  /** Empties the inbox of a scope as far as possible, and says what is left to do with it here. */
  async #found(scope: string): Promise<"empty" | "messages" | "lost"> {
    try {
      if (!(await this.#port.isHere(scope))) return "messages";
      return (await (await this.#port.open(scope)).scopeLinks.inbox.look()) ? "empty" : "messages";
    } catch (thrown) {
      if (thrown instanceof OwnedElsewhere) return this.#port.isShared ? "empty" : "messages";
      if (!this.#isOver && !isRace(thrown)) this.#port.report(`the inbox of ${scope}`, thrown);
      return thrown instanceof ScopeLost ? "lost" : "messages";
    }
  }
}

/** Returns true for the message that starts a process: its target does not exist yet. */
const isStart = (message: InboxMessage): boolean => {
  const content = contentOf(message);
  if (E.isLeft(content) || content.right.type !== "message.received") return false;
  return content.right.message.type === "process.start";
};

/**
 * Decides if the messages for a scope that is not in this store may create it. A scope that moved here from another store
 * (its secrets came with it) most likely speaks to one that stayed there: a second scope of that name would answer
 * in its place. Such messages wait until their target has moved here too.
 */
export const mayCreate = async (journal: Journal, scope: string): Promise<boolean> => {
  const { moves } = journal;
  if (moves === undefined) return true;
  const messages = await journal.inbox(scope);
  if (messages.length === 0 || messages.some(isStart)) return true;
  for (const from of new Set(messages.map((message) => message.from)))
    if ((await moves.secrets(from)).length === 0) return true;
  return false;
};
