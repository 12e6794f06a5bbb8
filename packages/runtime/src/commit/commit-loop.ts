/**
 * Group commit for all scopes of one driver: answer early, act late.
 *
 * A sync of the store takes far longer than a step. So the loop lets bodies go on as long as there is anything to tell
 * them, and commits all that was stepped meanwhile, of all scopes, with one `appendAll`.
 *
 *    schedule(scope)
 *         │
 *         ▼                 somebody heard something
 *       turn ◄──────────────────────────────────────────┐
 *         │  each scheduled scope: deliverNext           │
 *         │                                              │
 *         ├── nobody had anything to hear ──► commit     │
 *         ├── 64 turns, or 5 ms ────────────► commit     │
 *         └── somebody did ──────────────────────────────┘
 *                                               │
 *       commit: nextAppend of each scope that had a turn since the last commit; one that has nothing rests
 *         │
 *         ▼  one appendAll, one sync; turns go on meanwhile, the next commit waits for this one
 *       appended(result) of each scope: waiting commands are performed, callers are answered, the scope is scheduled
 *
 * Order, and the reasons for it:
 *
 *  - One answer for each body and turn. A body hears its answers in the order of the log, and what it asks for upon one
 *    answer is stepped before it hears the next. Replay relies on this: the same answers lead to the same requests.
 *  - Delivery before commit, so that "step k settled" and "step k+1 requested" share one append. Only what leaves the
 *    process waits for the disk; a body does not.
 *  - A commit all the same after so many turns or milliseconds: a body that never stops asking must not keep others
 *    from their answers.
 *  - One commit at a time. While one is under way, events collect for the next: the slower the disk, the larger the
 *    commit, and throughput does not fall with load.
 *  - Acknowledgement before the next turn of a scope, so commands of one commit are performed before events of the
 *    next are appended.
 *
 * Scopes share the sync and no fate: each append has a result of its own, and a scope that throws is abandoned alone.
 *
 * Three shortcuts save turns of the event loop, which cost more than the work in them. None changes an order.
 *
 *  - `followingTurn`, where exactly one body is left and its recorded answers follow each other without a gap (a re-run).
 *  - `afterTurn`, where the platform can say that all promises of this turn were heard: if no more answers are pending
 *    then, the commit comes at once, without an empty turn before it.
 *  - `#hasMore`: after a turn that left more to deliver, the next is likely to as well, so it is not asked for.
 */
import { stackOf } from "../error.ts";
import type { Append, AppendResult, Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";
import type { News } from "../body/replay.ts";

export interface Member {
  /** Hands one answer to each body that may hear one, and says whether there was any. */
  readonly deliverNext: () => boolean;
  readonly pendingAnswers: News;
  readonly nextAppend: () => Append | undefined;
  readonly appended: (result: AppendResult) => void;
  /** Takes note that there is nothing to hand out, and nothing to append. */
  readonly rest: () => void;
  readonly abandon: (why: string) => void;
}

/** Limits for turns with something to hand out: then what was stepped is committed all the same. */
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

  /** Counts the commits: how often the store was asked to sync. */
  get commits(): number {
    return this.#commits;
  }

  /** Gives a scope a turn: it may have something to hand out, or to append. */
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

  /** Says whether one body alone is to hear, and its answers follow each other without a gap. */
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

  /** Runs when what was handed out was heard, and what the bodies asked for thereupon is stepped. */
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
    const scheduled = this.#scheduled;
    this.#scheduled = new Set();
    for (const member of scheduled) {
      this.#turned.add(member);
      if (this.#isDelivered(member)) this.#scheduled.add(member);
    }
    return this.#scheduled.size > 0;
  }

  /** Delivers; what is thrown is the interpreter's fault, and costs the scope. */
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

  /** Returns what a scope has to append; without anything it rests. One that throws takes no other's append with it. */
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
