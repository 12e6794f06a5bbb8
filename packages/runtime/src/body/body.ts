/**
 * One run of a tool's body: what it asks for, and what it hears, one answer a turn, in the order of the log.
 *
 * A run belongs to (call, attempt, run). When it is over, whatever its program still asks is refused as `call_ended`,
 * and whatever it returns or throws is nothing.
 */
import type { Ask } from "@pawl/sansio-core";
import type { EffectResult } from "@pawl/sansio-core/driver";
import type { Answer, BodyPort, Request, RunId } from "./body-port.ts";
import { CleanUps, IdleWatch, Signals, ended } from "./stop.ts";
import type { EffectError } from "../error.ts";
import { type News, type Place, type Recorded, ReplayOrder, isEarlier } from "./replay-order.ts";

export type { Answer, BodyPort, Request, RunId } from "./body-port.ts";

interface Waiting {
  readonly request: Request;
  readonly told: ((answer: Answer) => void)[];
}

const unknownOutcome: EffectResult = {
  status: "err",
  error: { code: "step_outcome_unknown", message: "the step began, and its owner was lost before it was recorded" },
};

type Differing = Pick<Extract<Ask, { readonly type: "diverged" }>, "expected" | "found">;

const nameOf = ({ key, hash, effect }: Request): string => `${effect.kind} \`${key}\` with input ${hash}`;

export class BodyRun {
  readonly id: RunId;
  readonly #port: BodyPort;
  readonly #replayOrder: ReplayOrder;
  /** Recorded answers of earlier runs, by key. */
  readonly #recorded: ReadonlyMap<string, Answer>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #heard = new Map<string, Answer>();
  #queue: Answer[] = [];
  #position = 0;
  #isOver = false;
  readonly signals = new Signals();
  readonly cleanUps: CleanUps;
  /** It was given the token under which the outside completes the call. */
  hasCompletionKey = false;
  #isCancelled = false;
  /** Of a cancel that the body has not heard of yet. */
  #cancelledAt: Place | undefined;
  #now: number;
  readonly #idle: IdleWatch;

  constructor(
    id: RunId,
    port: BodyPort,
    past: { readonly at: number; readonly effects: readonly Recorded[]; readonly answers: readonly Answer[] },
  ) {
    this.id = id;
    this.#port = port;
    this.#replayOrder = new ReplayOrder(past.effects);
    this.#recorded = new Map(past.answers.map((answer) => [answer.key, answer]));
    this.#now = past.at;
    const { suspendMs, holdMs } = port.patience;
    const patienceMs = (): number => (this.#replayOrder.isLive ? suspendMs : holdMs);
    this.#idle = new IdleWatch(port.platform, patienceMs, () => this.#rest());
    this.#idle.touch();
    this.cleanUps = new CleanUps({ platform: port.platform, done: () => this.#isOver || port.cleanedUp(id) });
  }

  /** Something is on its way to the body: dropped now, it would not hear it. */
  get news(): News {
    const { due, isLive, isRow } = this.#replayOrder;
    if (this.#isCancelDue) return "some";
    if (due === undefined) return isLive && this.#queue.length > 0 ? "some" : "none";
    return this.#waiting.has(due) ? (isRow ? "row" : "some") : "none";
  }

  /** Nothing was asked for a while. A body that its log knows to go on, and that does not, has diverged from it. */
  #rest(): void {
    if (this.news !== "none" || this.#port.isHeld(this.id) || this.#port.isDue()) {
      this.#port.schedule();
      this.#idle.touch();
    } else if (this.#replayOrder.isLive) this.#port.suspend(this.id);
    else this.#diverge("the request that its log records next", "no request at all");
  }

  /** Its program ends, or begins anew: the rest of its log is asked for by what it has left running, or it has diverged. */
  async ended(): Promise<void> {
    while (!this.#isOver && !this.#isCancelled && this.#replayOrder.isReplaying) {
      if (this.news === "none") return this.#diverge(`the recorded \`${this.#replayOrder.missing}\``, "its end");
      this.#port.schedule();
      await new Promise<void>((then) => this.#port.platform.nextTurn(then));
    }
  }

  /** `at` of the last answer that was delivered to this run. */
  get now(): number {
    return this.#now;
  }

  /** What an earlier run or attempt was answered. */
  earlier(key: string): Answer | undefined {
    return this.#recorded.get(key);
  }

  /** The hash of a canonical text. */
  hash(text: string): string {
    return this.#port.platform.hashText(text);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the run without a word to its program: what it still does is nobody's. */
  end(): void {
    this.#idle.stop();
    this.#isOver = true;
    this.#waiting.clear();
    this.#queue = [];
    this.signals.end();
    this.cleanUps.end();
  }

  /** Makes a request, and is told its answer. What this run has heard once is known to it. */
  request(request: Request, told: (answer: Answer) => void, refused: (error: EffectError) => void): void {
    const { key } = request;
    if (this.#isOver) return refused(ended);
    const heard = this.#heard.get(key);
    const waiting = this.#waiting.get(key);
    if (heard !== undefined || waiting !== undefined) {
      const other = this.#problemOf(request, waiting?.request);
      if (other !== undefined) return this.#diverge(other.expected, other.found);
      return heard === undefined ? void waiting?.told.push(told) : told(heard);
    }
    this.#position += 1;
    this.#idle.touch();
    this.#waiting.set(key, { request, told: [told] });
    this.#obey(request, this.#port.ask(this.id, request));
    this.#port.schedule();
  }

  /** Why what is asked under a key once more is not what was asked there, if so. */
  #problemOf(request: Request, before: Request | undefined): Differing | undefined {
    if (before === undefined) {
      const verdict = this.#port.ask(this.id, request);
      return verdict.type === "diverged" ? verdict : undefined;
    }
    const isSame = before.hash === request.hash && before.effect.kind === request.effect.kind;
    return isSame ? undefined : { expected: nameOf(before), found: nameOf(request) };
  }

  #obey(request: Request, verdict: Ask): void {
    const { key } = request;
    switch (verdict.type) {
      case "record":
      case "reuse":
        if (this.#replayOrder.isReplaying)
          return this.#diverge(`the recorded \`${this.#replayOrder.missing}\``, `${request.effect.kind} \`${key}\``);
        return verdict.type === "record" ? this.#port.record(this.id, request) : this.#port.reuse(this.id, key);
      case "answer":
      case "join":
        return this.#replayOrder.make(key);
      case "run":
        this.#replayOrder.make(key);
        return this.perform(key);
      case "unknown":
        this.#replayOrder.make(key);
        return this.#port.settle(this.id, key, unknownOutcome);
      case "diverged":
        return this.#diverge(verdict.expected, verdict.found);
      case "ended":
        return this.end();
    }
  }

  #diverge(expected: string, found: string): void {
    this.end();
    this.#port.diverge(this.id, this.#position, expected, found);
  }

  /** Runs the work of a step that was asked for. What the driver itself ended is no outcome. */
  perform(key: string): void {
    const perform = this.#waiting.get(key)?.request.perform;
    if (perform === undefined || this.#isOver || !this.#port.mayAct()) return;
    const result = perform();
    if (result instanceof Promise)
      void result.then((settled) => this.#settle(key, settled)).catch((thrown: unknown) => this.#port.fail(thrown));
    else this.#settle(key, result);
  }

  #settle(key: string, result: EffectResult): void {
    if (!this.#isOver) this.#port.settle(this.id, key, result);
  }

  /** Gives up a wait that it has asked for. */
  leave(key: string): void {
    if (!this.#isOver) this.#port.leave(this.id, key);
  }

  /** An answer of the log's; it is delivered in its turn. */
  enqueueAnswer(answer: Answer): void {
    let at = this.#queue.length;
    while (at > 0 && isEarlier(answer, this.#queue[at - 1] as Answer)) at -= 1;
    if (at === this.#queue.length) this.#queue.push(answer);
    else this.#queue.splice(at, 0, answer);
  }

  /** The call is told to stop; the signal comes in its place among the answers. */
  enqueueCancel(place: Place): void {
    this.#isCancelled = true;
    this.#cancelledAt = place;
  }

  /** Whether the call is to stop, though its body may not have heard of it. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** All that stands before the cancel has happened. */
  get #isCancelDue(): boolean {
    const next = this.#replayOrder.next ?? this.#queue[0];
    return this.#cancelledAt !== undefined && (next === undefined || isEarlier(this.#cancelledAt, next));
  }

  /** Delivers the next thing that the body may hear now, if there is one. */
  deliverNext(): boolean {
    if (this.#isOver) return false;
    if (this.#isCancelDue) return this.#deliverCancel();
    const due = this.#replayOrder.due;
    if (due !== undefined) return this.#deliverRecorded(due);
    return this.#replayOrder.isLive && this.#deliverLive();
  }

  #deliverRecorded(key: string): boolean {
    const answer = this.#recorded.get(key);
    if (answer === undefined || !this.#deliver(answer)) return false;
    this.#replayOrder.delivered();
    return true;
  }

  #deliverCancel(): true {
    this.#cancelledAt = undefined;
    this.signals.cancel();
    return true;
  }

  #deliverLive(): boolean {
    const [next] = this.#queue;
    if (next === undefined || !this.#deliver(next)) return false;
    this.#queue.shift();
    return true;
  }

  #deliver(answer: Answer): boolean {
    const waiting = this.#waiting.get(answer.key);
    if (waiting === undefined) return false;
    this.#waiting.delete(answer.key);
    this.#heard.set(answer.key, answer);
    this.#now = answer.at;
    this.#idle.touch();
    for (const tell of waiting.told) tell(answer);
    return true;
  }
}
