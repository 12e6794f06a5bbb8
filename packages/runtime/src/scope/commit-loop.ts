/**
 * The turns of one driver, for all its scopes together: answer early, act late.
 *
 *   turn:  each stirred scope hands one answer to each body that may hear one
 *          none was handed out, or it has gone on for long: all that was stepped is committed at once
 *          at once where nobody has more to hear, and the platform can say that all was heard: else in the next turn
 *   ack:   each scope performs what was waiting for its append, and is stirred
 *
 * So `settle k` and `request k+1` share one commit, and the scopes share its sync: group commit. They share no fate.
 */
import { stackOf } from "../error.ts";
import type { Append, AppendResult, Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";
import type { News } from "../body/replay-order.ts";

/** A scope, as it takes part. */
export interface Member {
  /** Hands one answer to each body that may hear one; says whether there was any. */
  readonly deliverNext: () => boolean;
  /** What it would hand out now. */
  readonly pendingAnswers: News;
  /** What was stepped since the last time, to be appended. */
  readonly nextAppend: () => Append | undefined;
  readonly appended: (result: AppendResult) => void;
  /** There is nothing to hand out, and nothing to append. */
  readonly rest: () => void;
  readonly abandon: (why: string) => void;
}

/** Turns with something to hand out, and their milliseconds, after which what was stepped is committed all the same. */
const longest = { turns: 64, ms: 5 };

export class CommitLoop {
  readonly #journal: Journal;
  readonly #platform: Platform;
  /** Scopes that may have something to hand out. */
  #scheduled = new Set<Member>();
  /** Scopes that have had a turn since the last commit. */
  #turned = new Set<Member>();
  #isScheduled = false;
  #isCommitting = false;
  /** After the last turn there was more to hand out: so it is likely after this one. */
  #hasMore = false;
  #turns = 0;
  #since = 0;
  #commits = 0;

  constructor(journal: Journal, platform: Platform) {
    this.#journal = journal;
    this.#platform = platform;
  }

  /** How often the store was asked to sync. */
  get commits(): number {
    return this.#commits;
  }

  /** Something may be due in this scope: a turn looks after it. */
  schedule(member: Member): void {
    this.#scheduled.add(member);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#platform.nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    const isRow = this.#isRow();
    if (!this.#handOut() || this.#isOverdue()) this.#end();
    else if (isRow) this.#follow();
    else this.#goOn();
  };

  /** Nobody but one body is there to hear, and what it hears stands in a row. */
  #isRow(): boolean {
    if (!this.#hasMore || this.#scheduled.size !== 1) return false;
    const [member] = this.#scheduled;
    return member?.pendingAnswers === "row";
  }

  #follow(): void {
    const { nextTurn, followingTurn = nextTurn } = this.#platform;
    this.#isScheduled = true;
    followingTurn(this.#turn);
  }

  #goOn(): void {
    const { afterTurn } = this.#platform;
    if (afterTurn === undefined || this.#hasMore || this.#isCommitting) return this.#scheduleTurn();
    this.#isScheduled = true;
    afterTurn(this.#heard);
  }

  /** What was handed out was heard, and what the bodies asked for thereupon is stepped. */
  readonly #heard = (): void => {
    this.#isScheduled = false;
    this.#hasMore = this.#anyNews();
    if (this.#hasMore) return this.#scheduleTurn();
    for (const member of this.#scheduled) this.#turned.add(member);
    this.#scheduled = new Set();
    this.#end();
  };

  #anyNews(): boolean {
    for (const member of this.#scheduled) if (member.pendingAnswers !== "none") return true;
    return false;
  }

  #end(): void {
    this.#hasMore = false;
    this.#turns = 0;
    if (this.#scheduled.size > 0) this.#scheduleTurn();
    if (!this.#isCommitting) this.#commit();
  }

  #handOut(): boolean {
    const stirred = this.#scheduled;
    this.#scheduled = new Set();
    for (const member of stirred) {
      this.#turned.add(member);
      if (this.#isDelivered(member)) this.#scheduled.add(member);
    }
    return this.#scheduled.size > 0;
  }

  /** What goes wrong here is the interpreter's fault, and costs the scope. */
  #isDelivered(member: Member): boolean {
    try {
      return member.deliverNext();
    } catch (thrown) {
      member.abandon(stackOf(thrown));
      return false;
    }
  }

  #isOverdue(): boolean {
    if (this.#turns === 0) this.#since = this.#platform.monotonic();
    this.#turns += 1;
    return this.#turns >= longest.turns || this.#platform.monotonic() - this.#since >= longest.ms;
  }

  #commit(): void {
    const turned = this.#turned;
    this.#turned = new Set();
    const [members, appends]: [Member[], Append[]] = [[], []];
    for (const member of turned) {
      const append = this.#taken(member);
      if (append === undefined) continue;
      members.push(member);
      appends.push(append);
    }
    if (appends.length === 0) return;
    this.#isCommitting = true;
    this.#commits += 1;
    void this.#journal.appendAll(appends).then(
      (results) => this.#committed(members, results),
      (thrown: unknown) => this.#committed(members, [], `append threw: ${stackOf(thrown)}`),
    );
  }

  /** What a scope has to append, or it rests. One that fails at either takes no other's append with it. */
  #taken(member: Member): Append | undefined {
    try {
      const append = member.nextAppend();
      if (append === undefined) member.rest();
      return append;
    } catch (thrown) {
      member.abandon(stackOf(thrown));
      return undefined;
    }
  }

  #committed(members: readonly Member[], results: readonly AppendResult[], message = "no result"): void {
    this.#isCommitting = false;
    for (let i = 0; i < members.length; i++) {
      const member = members[i] as Member;
      try {
        member.appended(results[i] ?? { type: "failed", message });
      } catch (thrown) {
        member.abandon(stackOf(thrown));
      }
      this.#scheduled.add(member);
    }
    this.#scheduleTurn();
  }
}
