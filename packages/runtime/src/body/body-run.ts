/**
 * One run of a tool's body: memoised replay over the log of its scope.
 *
 * A run is (call, attempt, run). A call is tried in attempts, as its retries say; an attempt takes as many runs as crashes,
 * suspensions and moves make of it. Each run executes the tool's function from its beginning. All that the function learns
 * from outside comes through `ctx`, as the answer to a request, and a request that the log has an answer to is answered
 * from the log. So a function that is deterministic between its requests arrives where its last run stood.
 *
 *   function ──request(key, hash, kind)──▶ ask(state) ─┬─ record, reuse ─▶ event: the request is in the log
 *      ▲                                               ├─ answer, join ──▶ the log has it: wait for its turn
 *      │                                               ├─ run ───────────▶ a step without a result: its work runs again
 *      │                                               └─ diverged, unknown, ended
 *      └──── answer, one a macrotask turn ◀── queue in log order ◀── event that settles the effect
 *
 * Two questions are kept apart. Which record answers a request is a matter of its key: the function repeats, so its keys
 * repeat, and the hash of the input tells whether it asks for the same. When the answer is delivered is a matter of the
 * log, by these rules:
 *
 * 1. Requests enter the log in the order in which the function makes them (`RequestQueue` in record.ts). The work of a new
 *    step begins only when its request is durable, so the log can explain all that the outside has seen; an idempotent
 *    step may begin earlier, under a lease, if every answer that the run was given is durable.
 * 2. Answers are delivered in the order of their places, (event, index in the event), and at most one in a macrotask
 *    turn. All promise reactions to an answer are microtasks, so the function has made every request that follows from it
 *    before the next answer comes. Hence the order of requests depends on the order of answers alone, and not on timing.
 * 3. In a re-run an answer is held until all that stands before it in the log of this attempt, requests and answers, has
 *    happened again (`ReplayOrder`). So a race between two effects takes the branch that it took.
 * 4. Nothing unrecorded may be asked for while a recorded request has not been made again. Once all of the record has
 *    happened again the run is live: it hears as the log grows.
 * 5. An answer need not be durable to be delivered: what follows from it stands behind it in the log, and is lost with it.
 * 6. What an earlier attempt was answered is reused. Of all that the function waits for so, the answer that settled first
 *    takes its place in the log, and the next one when that is delivered: an attempt takes the branches of the one before.
 * 7. `now` is the scope time at which the last answer first took its place, so the function reads the same clock in each
 *    run and attempt. Streams do not move it: a later attempt is handed their chunks together.
 *
 * A run that breaks rule 4 has diverged (divergence.ts): it is over. A live run that only waits, and is quiet for a while,
 * leaves memory (rest.ts); the answer that it waits for begins the next.
 *
 * A cancel has a place in the log as an answer has, and is delivered in its turn: the signal of the work is aborted, and
 * the clean-ups that the function registered with `onCancel` begin. They may ask for effects as before, under a signal that
 * the cancel does not abort. A function that returns ends the call once all clean-ups are done or their time has passed;
 * where it has not returned by then, `call.cleaned_up` ends the call without it.
 */
import type { Ask } from "@pawl/sansio-core";
import { BodyEnd, RestWatch, type RunTerms } from "./body-end.ts";
import type { BodyPort } from "./body-port.ts";
import { type Answer, type Request, type RunId, type Waiting, PatchAnswers } from "./record.ts";
import { type Divergence, askedBefore, differsFrom, quiet } from "./divergence.ts";
import { CancelMark, CleanUps, ended, Signals } from "./stop.ts";
import type { EffectError } from "../error.ts";
import type { RecordedStreams } from "./stream-replay.ts";
import type { Redaction } from "./redaction.ts";
import { type News, type Place, type RecordedRun, insert, ReplayOrder, ReuseQueue } from "./replay.ts";
import { StepWork } from "./step-work.ts";

export class BodyRun {
  readonly id: RunId;
  readonly #port: BodyPort;
  readonly #replayOrder: ReplayOrder;
  /** Answers of earlier runs and attempts, by key. */
  readonly #recorded: ReadonlyMap<string, Answer>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #heard = new Map<string, Answer>();
  readonly streams: RecordedStreams;
  #queue: Answer[] = [];
  #position = 0;
  #isOver = false;
  readonly signals = new Signals();
  readonly cleanUps: CleanUps;
  readonly patches: PatchAnswers;
  /** True once it was given the key that completes the call. */
  hasCompletionKey = false;
  /** Set once a step of it has read a secret. */
  redaction: Redaction | undefined;
  readonly #cancel = new CancelMark();
  /** The newest event that it was given an answer of. */
  heardUpTo = 0;
  #now: number;
  readonly #keepsOrder: boolean;
  readonly #reuses = new ReuseQueue();
  readonly rest: RestWatch;
  readonly #work: StepWork;
  #end: BodyEnd | undefined;

  constructor(id: RunId, port: BodyPort, past: RecordedRun, terms: RunTerms) {
    this.id = id;
    this.#port = port;
    this.#replayOrder = new ReplayOrder(past.effects);
    this.#recorded = new Map(past.answers.map((answer) => [answer.key, answer]));
    this.#now = past.at;
    this.streams = past.streams;
    this.#work = new StepWork(id, port, terms.inContext);
    this.patches = new PatchAnswers(past, (key) => this.#heard.has(key) || this.#waiting.has(key));
    this.#keepsOrder = past.keepsOrder;
    this.rest = new RestWatch(port, terms, this.#replayOrder, () => this.#onQuiet());
    this.rest.touch();
    this.cleanUps = new CleanUps({ platform: port.platform, done: () => this.#isOver || port.cleanedUp(id) });
  }

  /** Tells what would be delivered now. A run with news is not suspended. */
  get news(): News {
    const { due, isLive, isRow } = this.#replayOrder;
    if (this.#isCancelDue) return "some";
    if (due === undefined) return isLive && (this.#queue.length > 0 || this.#reuses.isReady) ? "some" : "none";
    return this.#waiting.has(this.streams.ownerOf(due)) ? (isRow ? "row" : "some") : "none";
  }

  /** Suspends a live run that was quiet for a while. A run that its log expects to go on has diverged. */
  #onQuiet(): void {
    if (this.news !== "none" || this.#port.isHeld(this.id) || this.#port.isDue()) {
      this.#port.schedule();
      this.rest.touch();
    } else if (this.#end !== undefined && this.#replayOrder.isLive) this.rest.touch();
    else if (this.#replayOrder.isLive) this.rest.leave(() => this.#port.suspend(this.id));
    else if (this.#reuses.first !== undefined) this.diverge(askedBefore(this.#replayOrder.missing, this.#reuses.first));
    else this.diverge(quiet(this.#replayOrder, (key) => this.#waiting.get(key)?.request.effect.kind === "step"));
  }

  /** True until all that is on record of this attempt has happened again. */
  get isRepeating(): boolean {
    return !this.#replayOrder.isLive;
  }

  /** Resolves when the function may end, or begin anew. */
  async ended(): Promise<void> {
    this.#end ??= new BodyEnd(this, this.#replayOrder, this.#port);
    await this.#end.wait();
  }

  /** Looks whether the function may end now, if it has. */
  review(): void {
    this.#end?.review();
  }

  /** True while an effect that the function's end waits for has not been answered. */
  get isAwaiting(): boolean {
    return this.#waiting.size > 0 && this.#port.awaits(this.id, this.#waiting.values());
  }

  /** Returns the scope time of the last answer that was delivered to this run. */
  get now(): number {
    return this.#now;
  }

  /** Returns the answer that an earlier run or attempt was given. */
  earlier(key: string): Answer | undefined {
    return this.#recorded.get(key);
  }

  hasHeard(key: string): boolean {
    return this.#heard.has(key);
  }

  hash(text: string): string {
    return this.#port.platform.hashText(text);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Detaches the run. The user's function keeps executing; its requests are rejected (`call_ended`), its result ignored. */
  end(): void {
    this.rest.stop();
    this.#isOver = true;
    this.#waiting.clear();
    this.#queue = [];
    this.signals.end();
    this.#work.end();
    this.cleanUps.end();
    this.review();
  }

  /** Makes a request. `told` is called with its answer, at once if this run has had it before. */
  request(request: Request, told: (answer: Answer) => void, refused: (error: EffectError) => void): void {
    const { key } = request;
    if (this.#isOver) return refused(ended);
    const heard = this.#heard.get(key);
    const waiting = this.#waiting.get(key);
    if (heard !== undefined || waiting !== undefined) {
      const other = differsFrom(waiting?.request, request, () => this.#port.ask(this.id, request));
      if (other !== undefined) return this.diverge(other);
      return heard === undefined ? void waiting?.told.push(told) : told(heard);
    }
    this.#position += 1;
    this.#waiting.set(key, { request, told: [told] });
    this.#obey(request, this.#port.ask(this.id, request));
    if (!this.#isOver) this.rest.touch();
    this.#port.schedule();
  }

  #obey(request: Request, verdict: Ask): void {
    const { key } = request;
    switch (verdict.type) {
      case "record":
      case "reuse":
        if (verdict.type === "reuse" && this.#keepsOrder) return this.#reuses.add(request, verdict.effect);
        if (this.#replayOrder.isReplaying) return this.diverge(askedBefore(this.#replayOrder.missing, request));
        return verdict.type === "record"
          ? this.#port.record(this.id, request, this.patches.take())
          : this.#port.reuse(this.id, request, this.patches.take());
      case "answer":
      case "join":
        return this.#replayOrder.make(key);
      case "run":
        this.#replayOrder.make(key);
        return this.perform(key, verdict.try);
      case "unknown":
        this.#replayOrder.make(key);
        return this.#port.unknown(this.id, key);
      case "diverged":
        return this.diverge({ ...verdict, key, request });
      case "ended":
        return this.end();
    }
  }

  diverge(divergence: Divergence): void {
    this.end();
    this.#port.diverge(this.id, this.#position, divergence);
  }

  /** Runs the work of a step, and records its result while the run is not over. */
  perform(key: string, tried?: number): void {
    const request = this.#waiting.get(key)?.request;
    if (request !== undefined && !this.#isOver && this.#port.mayAct())
      this.#work.perform(request, this.signals.current, tried);
  }

  leave(key: string): void {
    if (!this.#isOver) this.#port.leave(this.id, key);
  }

  /** Queues an answer by its place in the log, for delivery in its turn. */
  enqueueAnswer(answer: Answer): void {
    insert(this.#queue, answer);
  }

  /** Queues a cancel; the signal is aborted in its place among the answers. */
  enqueueCancel(place: Place): void {
    this.#cancel.enqueue(place);
    this.review();
  }

  /** True once the call is cancelled, though the signal may not be aborted yet. */
  get isCancelled(): boolean {
    return this.#cancel.isTold;
  }

  get #isCancelDue(): boolean {
    return this.#cancel.isDue(this.#replayOrder.next ?? this.#queue[0]);
  }

  /** Delivers the one thing that is due now; false if there is none. */
  deliverNext(): boolean {
    if (this.#isOver) return false;
    if (this.#isCancelDue) return this.#cancel.deliver(this.signals);
    const due = this.#replayOrder.due;
    if (due !== undefined) return this.#deliverRecorded(due);
    if (!this.#replayOrder.isLive) return false;
    const reusable = this.#queue.length === 0 ? this.#reuses.next() : undefined;
    if (reusable !== undefined) this.#port.reuse(this.id, reusable, this.patches.take());
    return this.#deliverLive();
  }

  #deliverRecorded(key: string): boolean {
    const answer = this.#recorded.get(key);
    if (answer === undefined || !this.#deliver(answer)) return false;
    this.#replayOrder.delivered();
    this.rest.touch();
    return true;
  }

  #deliverLive(): boolean {
    const [next] = this.#queue;
    if (next === undefined || !this.#deliver(next)) return false;
    this.#queue.shift();
    this.rest.touch();
    return true;
  }

  #deliver(answer: Answer): boolean {
    const waiting = this.#waiting.get(answer.part?.of ?? answer.key);
    if (waiting === undefined) return false;
    this.heardUpTo = Math.max(this.heardUpTo, answer.seq);
    if (answer.part !== undefined) {
      waiting.request.part?.(answer.part);
      return true;
    }
    this.#waiting.delete(answer.key);
    this.#reuses.delivered(answer.key);
    this.#heard.set(answer.key, answer);
    if (waiting.request.part === undefined) this.#now = answer.at;
    for (const tell of waiting.told) tell(answer);
    this.review();
    return true;
  }
}
