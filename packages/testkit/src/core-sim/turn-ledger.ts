/**
 * Counts what turns have asked, said and used, beside the core from what is on record: a model call has one answer, a call of
 * an answer is made once it is on record, what an attempt has used is counted once, and a key changes with a failure alone.
 */
import type { Command, CommandOf, Envelope, Event, State, Transition } from "@pawl/sansio-core";
import { type AnswerPart, type Piece, type Usage, assemble } from "@pawl/sansio-core/driver";
import { CoreSimViolation } from "./violation.ts";

/** A model call, as it was asked for last. */
interface Asked {
  readonly attempt: number;
  readonly key: string;
  /** A failure of the attempt, or an answer that came to one, is on record. */
  readonly hasFailed: boolean;
}

interface Told {
  isStarted: boolean;
  isCancelled: boolean;
  isEnded: boolean;
  /** The number of its last model call. */
  n: number;
}

type OfAttempt = { readonly request: string; readonly n: number; readonly attempt: number };
type Amounts = { [what in "input_tokens" | "output_tokens" | "total_tokens" | "model_calls" | "unmetered"]: number };
type Observed = CommandOf<"observe">;
type Answer = { readonly pieces: readonly Piece[]; readonly usage: Usage };

const nothing: Usage = { input_tokens: 0 };

const isCall = (part: AnswerPart): boolean => part.type === "tool-call" && part.provider !== true;

const ofAnswer = /^(?<request>[^:]+):m(?<n>\d+)\.(?<i>\d+)$/;

export class TurnLedger {
  readonly #turns = new Map<string, Told>();
  readonly #asked = new Map<string, Asked>();
  readonly #said = new Map<string, readonly Piece[]>();
  /** The local calls of each answer that is on record. */
  readonly #answers = new Map<string, readonly AnswerPart[]>();
  /** The attempts whose usage was counted. */
  readonly #counted = new Set<string>();
  readonly #used = new Map<string, Amounts>();
  /** The calls whose control may end a turn: those that have succeeded. */
  readonly #succeeded = new Set<string>();

  #broken(message: string): never {
    throw new CoreSimViolation("conservation", message);
  }

  take(scope: string, { event }: Envelope, { commands }: Transition): void {
    this.#happened(scope, event);
    for (const command of commands) this.#commanded(scope, command);
  }

  #happened(scope: string, event: Event): void {
    switch (event.type) {
      case "turn.submitted":
        this.#turns.set(`${scope} ${event.request}`, { isStarted: false, isCancelled: false, isEnded: false, n: 0 });
        break;
      case "request.cancelled":
        this.#cancelled(scope, event.request);
        break;
      case "model.streamed":
        this.#hear(scope, event, event.pieces);
        break;
      case "model.answered":
        this.#answered(scope, event, event);
        break;
      case "model.resolved":
        if (event.outcome.type === "answer") this.#resolved(scope, event, event.outcome);
        break;
      case "model.failed":
        if (event.class !== "not_found") this.#fail(scope, event);
        if (isMetered(event.usage ?? {})) this.#use(scope, event, event.usage ?? {});
        break;
      case "model.stopped":
      case "model.late":
        this.#use(scope, event, event.usage ?? {});
        break;
      default:
    }
  }

  #cancelled(scope: string, request: string): void {
    const turn = this.#turns.get(`${scope} ${request}`);
    if (turn?.isEnded === false) turn.isCancelled = true;
  }

  #hear(scope: string, of: OfAttempt, pieces: readonly Piece[]): readonly Piece[] {
    const all = [...(this.#said.get(attemptOf(scope, of)) ?? []), ...pieces];
    this.#said.set(attemptOf(scope, of), all);
    return all;
  }

  #answered(scope: string, of: OfAttempt, { pieces, usage }: Answer): void {
    const name = callOf(scope, of);
    this.#answers.set(name, assemble(this.#hear(scope, of, pieces)).filter(isCall));
    this.#fail(scope, of);
    this.#use(scope, of, usage);
  }

  /** Takes the answer of a lost attempt as the host knows it; of one that was heard of late the usage is known. */
  #resolved(scope: string, of: OfAttempt, answer: Answer): void {
    const isKnown = this.#counted.delete(attemptOf(scope, of));
    this.#answered(scope, of, isKnown ? { ...answer, usage: nothing } : answer);
  }

  #fail(scope: string, of: OfAttempt): void {
    const asked = this.#asked.get(callOf(scope, of));
    if (asked?.attempt === of.attempt) this.#asked.set(callOf(scope, of), { ...asked, hasFailed: true });
  }

  #use(scope: string, of: OfAttempt, usage: Usage): void {
    const name = attemptOf(scope, of);
    if (this.#counted.has(name)) this.#broken(`${name}: what it has used is on record twice`);
    this.#counted.add(name);
    const { input_tokens: input = 0, output_tokens: output = 0 } = usage;
    const used = this.#amounts(scope);
    used.input_tokens += input;
    used.output_tokens += output;
    used.total_tokens += input + output;
    used.unmetered += Number(!isMetered(usage));
  }

  #amounts(scope: string): Amounts {
    const none = { input_tokens: 0, output_tokens: 0, total_tokens: 0, model_calls: 0, unmetered: 0 };
    const used = this.#used.get(scope) ?? none;
    this.#used.set(scope, used);
    return used;
  }

  #commanded(scope: string, command: Command): void {
    switch (command.type) {
      case "model.ask":
        return this.#ask(scope, command);
      case "turn.observe":
        return this.#observe(scope, command);
      case "observe":
        return this.#observeCall(scope, command);
      default:
        return undefined;
    }
  }

  #live(scope: string, request: string): Told {
    const turn = this.#turns.get(`${scope} ${request}`);
    if (turn?.isStarted !== true || turn.isEnded) this.#broken(`${scope} ${request}: the turn does not run`);
    return turn;
  }

  #ask(scope: string, command: CommandOf<"model.ask">): void {
    const { request, n, attempt, key, mode } = command;
    const turn = this.#live(scope, request);
    const name = callOf(scope, command);
    const before = this.#asked.get(name);
    if (before === undefined) {
      if (n !== turn.n + 1 || attempt !== 1) this.#broken(`${name}: begun as attempt ${attempt} after call ${turn.n}`);
      turn.n = n;
      this.#amounts(scope).model_calls += 1;
    } else {
      if (attempt !== before.attempt + 1) this.#broken(`${name}: attempt ${attempt} after ${before.attempt}`);
      const isOther = key !== before.key;
      const mayBeOther = before.hasFailed || mode === "continue";
      if (isOther && !mayBeOther) this.#broken(`${name}: paid again under \`${key}\`, though nothing has failed`);
      if (!isOther && before.hasFailed) this.#broken(`${name}: asked under the key of a failure, \`${key}\``);
    }
    this.#asked.set(name, { attempt, key, hasFailed: false });
  }

  #observe(scope: string, command: CommandOf<"turn.observe">): void {
    const { request, what } = command;
    const turn = this.#turns.get(`${scope} ${request}`);
    if (turn === undefined) return this.#broken(`${scope} ${request}: the turn was never submitted`);
    if (what === "turn_started") {
      if (turn.isStarted) this.#broken(`${scope} ${request}: the turn is begun twice`);
      turn.isStarted = true;
      return undefined;
    }
    if (turn.isEnded) this.#broken(`${scope} ${request}: ${what} after the end`);
    if (command.what !== "turn_ended") return void this.#live(scope, request);
    turn.isEnded = true;
    const { end } = command;
    if (turn.isCancelled && end.status !== "stopped") this.#broken(`${scope} ${request}: cancelled, and ${end.status}`);
    const by = end.status === "finished" || end.status === "failed" ? end.by : undefined;
    if (by !== undefined && end.status === "finished" && !this.#succeeded.has(`${scope} ${request}:${by}`))
      this.#broken(`${scope} ${request}: ended by ${by}, which did not succeed`);
    return undefined;
  }

  /** Checks that a call of an answer begins when the answer is on record, and that the answer asks for it. */
  #observeCall(scope: string, { what, call, ...of }: Observed): void {
    const { request = "", n = "", i = "" } = ofAnswer.exec(call)?.groups ?? {};
    if (!this.#turns.has(`${scope} ${request}`)) return;
    if (what === "call_completed" && "output" in of && of.output?.outcome.status === "success")
      this.#succeeded.add(`${scope} ${call}`);
    if (what !== "call_started") return;
    const asked = this.#answers.get(`${scope} ${request} ${n}`)?.[Number(i)];
    if (asked?.type !== "tool-call") this.#broken(`${scope} ${call}: it begins, and no answer on record asks for it`);
  }

  /** Checks the ledger of a session that has come to rest. */
  close(scope: string, { conversation: { used } }: State): void {
    for (const [what, amount] of Object.entries(this.#amounts(scope))) {
      const found = used[what as keyof Amounts] ?? 0;
      if (found !== amount) this.#broken(`${scope}: ${amount} ${what} were used, and ${found} are counted`);
    }
  }
}

const callOf = (scope: string, { request, n }: OfAttempt): string => `${scope} ${request} ${n}`;
const attemptOf = (scope: string, of: OfAttempt): string => `${callOf(scope, of)}/${of.attempt}`;
const isMetered = ({ input_tokens, output_tokens }: Usage): boolean =>
  input_tokens !== undefined || output_tokens !== undefined;
