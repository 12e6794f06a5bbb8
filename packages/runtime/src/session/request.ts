/**
 * Requests and those who wait for their replies. The same request again is joined while it lives, and answered from the
 * log when it has been acknowledged; it never runs twice.
 */
import type { CommandOf, Event, EventOf } from "@pawl/sansio-core";
import { type FlowEnd, type TurnEnd, ackOf } from "@pawl/sansio-core/driver";
import { sliceOf, string, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Access, decoded, decodedEvent, storedForm, record, refuse } from "../scope/access.ts";
import { type Admission, Admitted } from "./admission.ts";
import { type Submitted, conflictWith, encodedCalls, readCalls, storedCalls, textOf } from "./request-body.ts";
import { type Overloaded, Refused, type ScopeLost } from "../error.ts";
import { type FlowPlace, type FlowSubmission, flowSubmitted } from "./flow.ts";
import type { Callers, ProcessStarted, Replied } from "./callers.ts";
import type { InContext } from "../platform.ts";
import { stateBefore } from "../scope/history.ts";
import { spannedAs, withSpan } from "../log.ts";
import { type CallOfRequest, type Replies, repliesOf } from "./call.ts";

type ReplyCommand = CommandOf<"reply">;

export interface Submission {
  readonly request: string;
  readonly calls: readonly CallOfRequest[];
  /** The base of every key of its calls, where the host gives one: a turn's, a process's. */
  readonly executionScope?: string;
  readonly by?: string;
  /** Places its calls in the queues of tools with a `limit`: the higher, the sooner. Default: 0. */
  readonly priority?: number;
  /** The caller's span, as W3C Trace Context writes it. */
  readonly traceparent?: string;
}

export interface Waiting {
  /** Keeps the replies until `acknowledge`: whoever takes them may still lose them. */
  readonly keep?: boolean;
  /** Aborts when the caller has gone. */
  readonly signal?: AbortSignal;
  /** Called once the submission is durable: from then on any process of the store finds it. */
  readonly submitted?: () => void;
  /** Called when a call of the request has started a process: again where its body runs again. */
  readonly onProcessStarted?: (started: ProcessStarted) => void;
}

/** Options of a submission, and of waiting for it. */
export type RequestOptions = Omit<Submission, "request" | "calls"> & Waiting;

/** Options of one call: the id of its request, and the call's own name in it. */
export interface CallOptions extends RequestOptions {
  readonly id: string;
  /** The name that a model gave the call, say. Default: `1`. */
  readonly label?: string;
}

type Verdict =
  | { readonly type: "waiting"; readonly replied: Promise<Replied> }
  | { readonly type: "finished"; readonly seq: number }
  | { readonly type: "refused"; readonly code: string; readonly message: string };

const repliedOf = ({ replies, triggers, flow, turn }: Replied): Replied => ({
  replies,
  triggers,
  ...(flow === undefined ? {} : { flow }),
  ...(turn === undefined ? {} : { turn }),
});

/** Checks what a request is submitted with besides its calls. */
const admitNames = (event: Submitted): void => {
  for (const name of ["execution_scope", "by", "traceparent"] as const) {
    const said: unknown = name in event ? event[name as keyof Submitted] : undefined;
    if (said !== undefined) decoded(string, said, name);
  }
  if (event.execution_scope?.trim() === "")
    throw new Refused("missing_execution_scope_id", "execution scopes require non-empty stable ids");
};

export class Requests {
  readonly #access: Access;
  readonly callers: Callers;
  readonly #admission: Admission;
  readonly #admitted: Admitted;

  constructor(access: Access, callers: Callers, admission: Admission) {
    this.#access = access;
    this.callers = callers;
    this.#admission = admission;
    this.#admitted = new Admitted(admission, access.runner.state);
  }

  /** Leaves memory. Callers wait on, and are returned. */
  leave(): Callers {
    this.#admitted.leaveAll();
    return this.callers;
  }

  abandon(error: ScopeLost): void {
    this.#admitted.leaveAll();
    this.callers.abandon(error);
  }

  /** Submits calls and waits for their replies. */
  async submit(given: Submission, waiting: Waiting): Promise<Replies> {
    const request = decoded(string, given.request, "request");
    const asked = readCalls(this.#access, given.calls);
    const read = asked instanceof Promise ? await asked : asked;
    const { calls } = read;
    const text = textOf(read, given.executionScope);
    const hash = this.#access.platform.hashText(text);
    const { executionScope, by, priority, traceparent } = given;
    const event = {
      type: "request.submitted",
      request,
      hash,
      calls,
      ...(executionScope === undefined ? {} : { execution_scope: executionScope }),
      ...(by === undefined ? {} : { by }),
      ...(priority === undefined ? {} : { priority: decoded(u64, priority, "priority") }),
      ...(traceparent === undefined ? {} : { traceparent }),
    } as const;
    const isLarge = this.#access.values.isLarge(text);
    return repliesOf(request, await this.#submitted(event, waiting, isLarge));
  }

  /** Submits a flow and waits for its end. */
  async flow(place: FlowPlace, given: FlowSubmission, waiting: Waiting): Promise<FlowEnd> {
    const { state } = this.#access.runner;
    const { flow } = await this.#submitted(flowSubmitted(state, place, given), waiting);
    if (flow === undefined) throw new Refused("request_conflict", `request \`${given.request}\` is no flow`);
    return flow;
  }

  /** Submits a turn and waits for its end. */
  async turn(event: EventOf<"turn.submitted">, waiting: Waiting): Promise<TurnEnd> {
    const { turn } = await this.#submitted(decodedEvent(event) as typeof event, waiting);
    if (turn === undefined) throw new Refused("request_conflict", `request \`${event.request}\` is no turn`);
    return turn;
  }

  async #submitted(event: Submitted, waiting: Waiting, isLarge = false): Promise<Replied> {
    const { request } = event;
    admitNames(event);
    const stored = isLarge ? await this.#storedForm(event) : undefined;
    const written = stored ?? event;
    if (written.type === "request.submitted" && written.calls.length > sliceOf)
      await encodedCalls(this.#access, written);
    let spanned: Submitted | undefined;
    const { runner, telemetry } = this.#access;
    const asTold = (): Submitted => (spanned ??= withSpan(telemetry, runner.id, event));
    const join = (): Verdict => this.#tell(event, asTold, waiting, stored);
    const verdict = await this.#verdict(request, join);
    if (verdict.type !== "refused") void runner.whenDurable().then(waiting.submitted, () => undefined);
    return this.#answer(request, verdict, event);
  }

  #verdict(request: string, join: () => Verdict): Verdict | Promise<Verdict> {
    const isLive = this.#access.runner.state.requests.at(request) !== undefined;
    if (isLive) return join();
    return this.#access.finished.lookup("request", request, (seq): Verdict =>
      seq === undefined ? join() : { type: "finished", seq },
    );
  }

  /** Stores large values, unless the request is known already or is not admitted. */
  async #storedForm(event: Submitted): Promise<Event | undefined> {
    const { runner, finished } = this.#access;
    const { request } = event;
    const isLive = runner.state.requests.at(request) !== undefined;
    if (isLive || (await finished.find("request", request)) !== undefined) return undefined;
    const refusal = this.#refusal(event);
    if (refusal !== undefined) throw refusal;
    return event.type === "request.submitted" ? storedCalls(this.#access, event) : storedForm(this.#access, event);
  }

  /** Returns why a new request is not admitted now, if so. */
  #refusal(event: Submitted): Overloaded | Refused | undefined {
    const { state, durable } = this.#access.runner;
    if (state.requests.at(event.request) !== undefined) return undefined;
    const calls = event.type === "request.submitted" ? event.calls.length : 1;
    return this.#admission.refusal(state, state.seq - durable.seq, calls);
  }

  #tell(event: Submitted, asTold: () => Submitted, waiting: Waiting, stored: Event | undefined): Verdict {
    const refusal = this.#refusal(event);
    if (refusal !== undefined) throw refusal;
    const { runner } = this.#access;
    const spanned = asTold();
    const told = runner.apply(spanned, stored && spannedAs(spanned, stored));
    if (E.isLeft(told) && told.left.code !== "request_exists") return { ...told.left, type: "refused" };
    const { request } = event;
    const isLive = runner.state.requests.at(request)?.phase === "running";
    if (E.isRight(told) && isLive) this.#admitted.enter(request, told.right.line.length);
    const context = isLive ? this.#access.platform.contexts?.capture() : undefined;
    return { type: "waiting", replied: this.#wait(event.request, waiting, context) };
  }

  async replies(request: string, waiting: Waiting): Promise<Replies> {
    const { runner, finished } = this.#access;
    const wait = (): Verdict =>
      runner.state.requests.at(request) === undefined
        ? { type: "refused", code: "request_unknown", message: `no request \`${request}\`` }
        : { type: "waiting", replied: this.#wait(request, waiting) };
    const verdict = await finished.lookup("request", request, (seq) =>
      seq === undefined || runner.state.requests.at(request) !== undefined
        ? wait()
        : ({ type: "finished", seq } as const),
    );
    return repliesOf(request, await this.#answer(request, verdict));
  }

  async #answer(request: string, verdict: Verdict, event?: Submitted): Promise<Replied> {
    if (verdict.type === "refused") return this.#refuse(verdict, event);
    if (verdict.type === "finished") return this.#fromLog(request, verdict.seq, event);
    await this.#takeWaiting(request);
    return verdict.replied;
  }

  async #refuse(verdict: Extract<Verdict, { readonly type: "refused" }>, event?: Submitted): Promise<never> {
    const row = event && this.#access.runner.state.requests.at(event.request);
    const isConflict = verdict.code === "request_conflict" && event !== undefined && row !== undefined;
    return refuse(this.#access, isConflict ? await conflictWith(this.#access, event, row.born) : verdict);
  }

  async #takeWaiting(request: string): Promise<void> {
    const { runner } = this.#access;
    if (runner.state.requests.at(request)?.phase !== "replying") return;
    await runner.whenDurable();
    const row = runner.state.requests.at(request);
    if (row?.phase === "replying") this.take({ request, ...(await this.#access.values.of(repliedOf(row))) });
  }

  /** Reads the replies of an acknowledged request from the log: they were in the state until then. */
  async #fromLog(request: string, seq: number, event: Submitted | undefined): Promise<Replied> {
    await this.#access.runner.whenDurable();
    const row = (await stateBefore(this.#access, seq)).requests.at(request);
    if (row?.phase !== "replying") throw new Refused("gone", `request \`${request}\` was finished by event ${seq}`);
    if (event !== undefined && row.hash !== event.hash)
      return refuse(this.#access, await conflictWith(this.#access, event, row.born));
    return this.#access.values.of(repliedOf(row));
  }

  #wait(request: string, { keep = false, signal, onProcessStarted }: Waiting, context?: InContext): Promise<Replied> {
    const { promise, resolve, reject } = Promise.withResolvers<Replied>();
    const waiter = { resolve, reject, keep, context, onProcessStarted };
    const leave = (): void => this.callers.leave(request, waiter);
    const over = (): void => signal?.removeEventListener("abort", leave);
    this.callers.add(request, waiter);
    signal?.addEventListener("abort", leave, { once: true });
    promise.then(over, over); // Callers hear of a lost scope by what they wait for first.
    if (signal?.aborted === true) leave(); // While their request was looked up.
    return promise;
  }

  /** Hands a reply to its callers. If all took it for good it is acknowledged; else it stays until it is. */
  take({ request, ...reply }: Replied & Pick<ReplyCommand, "request">): void {
    this.#admitted.leave(request);
    const waiters = this.callers.take(request);
    for (const { resolve } of waiters) resolve(repliedOf(reply));
    const isTaken = waiters.length > 0 && waiters.every(({ keep }) => !keep);
    const { runner } = this.#access;
    if (isTaken && runner.state.requests.at(request)?.phase === "replying") runner.apply(ackOf(runner.state, request));
  }

  async acknowledge(request: string): Promise<void> {
    const { runner, finished } = this.#access;
    const isLive = runner.state.requests.at(request) !== undefined;
    if (!isLive && (await finished.find("request", request)) !== undefined) return runner.whenDurable();
    return record(this.#access, ackOf(runner.state, request));
  }
}
