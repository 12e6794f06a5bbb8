/**
 * Who looks into inboxes. A letter is in its target's inbox from the commit of the event that sends it; the target is
 * told at once where it is open here or nobody's, and where it lives with another instance, that one finds it when it
 * looks where mail lies. What could not be taken is looked at again, later and later.
 */
import { OwnedElsewhere, Refused, ScopeLost, ScopeMoved, ScopeMoving } from "../../error.ts";
import type { Inbox } from "./inbox.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Platform } from "../../platform.ts";

/** A scope that others can speak to. */
export interface Addressee {
  readonly scopeLinks: { readonly inbox: Inbox };
}

export interface PostPort {
  readonly platform: Platform;
  readonly instance: string;
  readonly mailed: Journal["mailed"];
  readonly open: (scope: string) => Promise<Addressee>;
  /** Whether it is here, or comes into being with what lies there. */
  readonly isHere: (scope: string) => Promise<boolean>;
  /** Whether this instance keeps others away from its scopes: then it looks where mail lies, and so do they. */
  readonly isShared: boolean;
  readonly report: (what: string, thrown: unknown) => void;
}

const pauseMs = (tries: number): number => Math.min(30_000, 10 * 2 ** tries);

/** How many scopes are opened at a time for mail that others have sent. */
const most = 64;

/** Nothing is wrong: the scope is looked at again, or is another's; or this runtime closes, and whoever comes next looks. */
const isPassing = (thrown: unknown): boolean =>
  thrown instanceof ScopeLost ||
  thrown instanceof ScopeMoving ||
  thrown instanceof ScopeMoved ||
  (thrown instanceof Refused && thrown.code === "closing");

interface Waiting {
  readonly tries: number;
  /** The scope was lost: opened for each letter that comes, it might be so without a pause. */
  readonly wasLost: boolean;
  readonly callOff: () => void;
}

export class InboxPoller {
  readonly #port: PostPort;
  readonly #looking = new Set<string>();
  /** Scopes that are looked at again after a while, since something in their inboxes could not be taken. */
  readonly #waiting = new Map<string, Waiting>();
  #callOff: (() => void) | undefined;
  #isOver = false;

  constructor(port: PostPort) {
    this.#port = port;
  }

  /** There may be letters in a scope's inbox. */
  told(scope: string): void {
    const { tries = 0, wasLost = false } = this.#waiting.get(scope) ?? {};
    if (!wasLost) void this.#look(scope, tries);
  }

  /** Looks where mail lies, every so many milliseconds. */
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

  /** Looks once where mail lies, and resolves when that was taken. */
  async collect(): Promise<void> {
    await Promise.all(await this.#collect());
  }

  /** Looks where mail lies, and begins to take it: a scope that takes long to open holds up no mail of others. */
  async #collect(): Promise<readonly Promise<void>[]> {
    try {
      const { size } = this.#looking;
      const mailed = await this.#port.mailed(this.#port.instance, most + this.#waiting.size + size);
      const wanted = mailed.filter((scope) => !this.#waiting.has(scope) && !this.#looking.has(scope));
      return wanted.slice(0, Math.max(0, most - size)).map((scope) => this.#look(scope, 0));
    } catch (thrown) {
      this.#port.report("where mail lies", thrown);
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

  /** Whether there is anything left to be done with it here. */
  async #found(scope: string): Promise<"empty" | "letters" | "lost"> {
    try {
      if (!(await this.#port.isHere(scope))) return "letters";
      return (await (await this.#port.open(scope)).scopeLinks.inbox.look()) ? "empty" : "letters";
    } catch (thrown) {
      if (thrown instanceof OwnedElsewhere) return this.#port.isShared ? "empty" : "letters";
      if (!this.#isOver && !isPassing(thrown)) this.#port.report(`the inbox of ${scope}`, thrown);
      return thrown instanceof ScopeLost ? "lost" : "letters";
    }
  }
}
