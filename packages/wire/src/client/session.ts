/** The questions of a client about one session, as promises. */
import {
  type About,
  type CallOfRequest,
  type Cursor,
  PendingApproval,
  type Replies,
  type RequestPage,
  type RequestStatus,
  type SessionStore,
} from "@pawl/runtime";
import {
  type BodiesAtMove,
  type CalledTool,
  type Resolved,
  type Stickiness,
  callTo,
  resultOfRequest,
  withTriggers,
} from "@pawl/runtime/driver";
import type { Tool } from "@pawl/sansio-core";
import type { Reached } from "@pawl/sansio-core/driver";
import type { PendingBelow } from "../frame/turn-frame.ts";
import type { Json, Resolution } from "@pawl/tool-value";
import { checkRecord } from "./check.ts";
import { HostRefused, unexpected } from "./error.ts";
import type { SingleQuestion, WithoutId } from "./pending-questions.ts";
import { TakesTurns, type TurnPort, orAborted } from "./session-turn.ts";
import { defaultWindow } from "./subscription.ts";
import type { Observation, StreamPlace, StreamReading, Watching } from "./subscription.ts";

interface OwnDecision {
  readonly sticky?: Stickiness;
  /** The caller's own name for the decision: after a restart the caller can make it again, and it counts once. */
  readonly id?: string;
}

/** A decision that a session waits for, with the sub-agent that it is of; a budget is decided by `decideBudget`. */
export type ClientDecision =
  | { readonly kind: "call"; readonly subAgent?: string; readonly approval: PendingApproval<OwnDecision> }
  | { readonly kind: "budget"; readonly subAgent: string; readonly ask: number; readonly reached: readonly Reached[] }
  | { readonly kind: "elsewhere"; readonly subAgent: string; readonly count: number; readonly address?: string };

interface Decision extends OwnDecision {
  /** The hash of the arguments that were decided on. */
  readonly hash: string;
  /** The sub-agent whose call it is. */
  readonly subAgent?: string;
}

/** Adds the id of a decision. One with the caller's own id may be a repeat. */
const withDecisionId = ({ id, subAgent, ...decision }: Decision) => {
  const of = subAgent === undefined ? decision : { ...decision, sub_agent: subAgent };
  return id === undefined ? { ...of, decision_id: crypto.randomUUID() } : { ...of, decision_id: id, again: true };
};

export interface Moving {
  /** Decides about bodies that are still running. */
  readonly bodies?: BodiesAtMove;
  readonly withinMs?: number;
}

export interface RequestOptions {
  readonly executionScope?: string;
  /** The caller's span, in the form of W3C Trace Context. */
  readonly traceparent?: string;
  /** Leaves the replies with the host until `acknowledge`. By default they are acknowledged on arrival. */
  readonly keep?: boolean;
  /** Stops waiting (`waiter_gone`): the call goes on, and its replies stay with the host. */
  readonly signal?: AbortSignal;
}

/** Options of one call: the id of its request, and the call's own name in it. */
export interface CallOptions extends RequestOptions {
  readonly id: string;
  /** The name that a model gave the call, say. Default: `1`. */
  readonly label?: string;
}

/** The part of the client that a session uses. */
interface SessionPort extends TurnPort {
  readonly observe: (scope: string, after: number, window: number) => Observation;
  readonly watch: (scope: string, from: Cursor | undefined, window: number) => Watching;
  readonly stream: (scope: string, place: StreamPlace, window: number) => StreamReading;
  readonly move: (scope: string, to: string, moving?: Moving) => Promise<void>;
}

/** Asks a host about one session. */
export class SessionClient extends TakesTurns {
  readonly #client: SessionPort;

  constructor(client: SessionPort, scope: string) {
    super(client, scope);
    this.#client = client;
  }

  async #replied(
    question: WithoutId<SingleQuestion> & { readonly request: string },
    { keep = false, signal }: Pick<RequestOptions, "keep" | "signal">,
  ): Promise<Replies> {
    const frame = await orAborted(this.#client.ask(question, signal), question.request, signal);
    if (frame.type !== "replied") throw unexpected(frame, "replied");
    if (!keep) await this.acknowledge(question.request);
    const { replies, triggers } = frame;
    return withTriggers(replies, triggers);
  }

  async #resolved(question: WithoutId<SingleQuestion>): Promise<Resolved> {
    const frame = await this.#client.ask(question);
    if (frame.type !== "resolved") throw unexpected(frame, "resolved");
    return frame.outcome;
  }

  /** Opens the session; resolves with the sequence number of its last event. */
  async open(): Promise<number> {
    const frame = await this.#client.ask({ type: "open", scope: this.scope });
    if (frame.type !== "opened") throw unexpected(frame, "opened");
    return frame.seq;
  }

  /**
   * Calls a tool and waits for its result; throws `ToolFailed` where it has none. `id` is the request's: the same call
   * again joins it, or is answered as it was.
   */
  async call<Input, Result = unknown>(
    tool: CalledTool<Input, Result>,
    args: Input,
    { id, label, ...options }: CallOptions,
  ): Promise<Result> {
    return resultOfRequest(id, await this.request(id, callTo(tool, args, label), options)) as Result;
  }

  /** Returns the result of a request of one call, when it is there; throws `ToolFailed` where it has none. */
  async result<Result = unknown>(
    request: string,
    options: Pick<RequestOptions, "keep" | "signal"> = {},
  ): Promise<Result> {
    return resultOfRequest(request, await this.replies(request, options)) as Result;
  }

  /** Submits calls and waits for their replies. The same request again joins it, or is answered as it was. */
  request(request: string, calls: readonly CallOfRequest[], options: RequestOptions = {}): Promise<Replies> {
    const { executionScope, traceparent } = options;
    const { scope } = this;
    const given = {
      ...(executionScope === undefined ? {} : { execution_scope: executionScope }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    return this.#replied({ type: "call", scope, request, calls, ...given }, options);
  }

  /** Resolves with the replies of a request that was submitted before. */
  replies(request: string, options: Pick<RequestOptions, "keep" | "signal"> = {}): Promise<Replies> {
    return this.#replied({ type: "replies", scope: this.scope, request }, options);
  }

  async #listed(question: WithoutId<SingleQuestion>): Promise<readonly RequestStatus[]> {
    const frame = await this.#client.ask(question);
    if (frame.type !== "requests_listed") throw unexpected(frame, "requests_listed");
    return frame.requests;
  }

  /** Returns what a request is at, since when, and what it waits for; also of one that has ended and was acknowledged. */
  async status(request: string): Promise<RequestStatus> {
    const [status] = await this.#listed({ type: "status", scope: this.scope, request });
    if (status === undefined)
      throw new HostRefused("unexpected_answer", `the host says nothing of request \`${request}\``);
    return status;
  }

  /** Lists the requests of the session, oldest first: those that were submitted after event `after`, `limit` at most. */
  requests(page: RequestPage = {}): Promise<readonly RequestStatus[]> {
    return this.#listed({ type: "requests", scope: this.scope, ...page });
  }

  /** Small values of the session, on record, which its tools read and write by `ctx.store`. */
  get store(): SessionStore {
    const { scope } = this;
    return {
      get: async (key) => {
        const frame = await this.#client.ask({ type: "store_get", scope, key });
        if (frame.type !== "value") throw unexpected(frame, "value");
        return frame.value;
      },
      set: (key, value) =>
        this.done({ type: "store_set", scope, key, ...(value === undefined || value === null ? {} : { value }) }),
    };
  }

  /** Returns the title and the tags by which people find the session. */
  async about(): Promise<About> {
    const frame = await this.#client.ask({ type: "about", scope: this.scope });
    if (frame.type !== "described") throw unexpected(frame, "described");
    const { title, tags } = frame;
    return title === undefined ? { tags } : { title, tags };
  }

  /** Gives the session a title or tags, in place of those that it has. */
  describe(about: Partial<About>): Promise<void> {
    return this.done({ type: "describe", scope: this.scope, ...about });
  }

  /** Makes tools of this session available or not; null takes that back. */
  setAvailability(tools: readonly string[], availability: Tool["availability"] | null): Promise<void> {
    const said = availability === null ? {} : { availability };
    return this.done({ type: "set_availability", scope: this.scope, tools, ...said });
  }

  acknowledge(request: string): Promise<void> {
    return this.done({ type: "acknowledge", scope: this.scope, request });
  }

  /** Resolves a wait. Repeating it under the same `id` is the same resolution, and gets the same answer. */
  resolve(token: string, resolution: Resolution, id: string = crypto.randomUUID()): Promise<Resolved> {
    return this.#resolved({ type: "resolve", scope: this.scope, token, resolution, resolution_id: id });
  }

  resolveById(key: string, resolution: Resolution, id: string = crypto.randomUUID()): Promise<Resolved> {
    return this.#resolved({ type: "resolve_by_id", scope: this.scope, key, resolution, resolution_id: id });
  }

  /** Lists the calls that need approval, oldest first. `deep` lists what sub-agents wait for as well, budgets among it. */
  approvals(): Promise<readonly PendingApproval<OwnDecision>[]>;
  approvals(of: { readonly deep: true }): Promise<readonly ClientDecision[]>;
  async approvals(of?: {
    readonly deep: true;
  }): Promise<readonly PendingApproval<OwnDecision>[] | readonly ClientDecision[]> {
    const deep = of === undefined ? {} : { deep: true };
    const frame = await this.#client.ask({ type: "approvals", scope: this.scope, ...deep });
    if (frame.type !== "approvals_wanted") throw unexpected(frame, "approvals_wanted");
    const own = frame.approvals.map((wanted) => new PendingApproval(wanted, this));
    if (of === undefined) return own;
    const below = (frame.below ?? []).map((one) => this.#pending(one));
    return [...own.map((approval) => ({ kind: "call", approval }) as const), ...below];
  }

  /** Makes a decision of a sub-agent out of what the host says of it. */
  #pending({ sub_agent: subAgent, ...of }: PendingBelow): ClientDecision {
    if (of.kind !== "call") return { ...of, subAgent };
    const decides = {
      approve: (call: string, approval: Decision & { readonly args?: Json }) =>
        this.approve(call, { ...approval, subAgent }),
      reject: (call: string, said: Decision & { readonly reason: string }) => this.reject(call, { ...said, subAgent }),
    };
    return { kind: "call", subAgent, approval: new PendingApproval(of.approval, decides) };
  }

  async approve(call: string, approval: Decision & { readonly args?: Json }): Promise<void> {
    checkRecord("the approval", approval);
    const { args, ...decision } = approval;
    const edited = args === undefined ? {} : { args };
    return this.done({ type: "approve", scope: this.scope, call, ...withDecisionId(decision), ...edited });
  }

  async reject(call: string, rejection: Decision & { readonly reason: string }): Promise<void> {
    checkRecord("the rejection", rejection);
    const { reason, ...decision } = rejection;
    return this.done({ type: "reject", scope: this.scope, call, ...withDecisionId(decision), reason });
  }

  async cancel(target: { readonly request: string } | { readonly call: string }): Promise<void> {
    checkRecord("the target of cancel", target);
    const { scope } = this;
    return this.done(
      "call" in target
        ? { type: "cancel_call", scope, call: target.call }
        : { type: "cancel_request", scope, request: target.request },
    );
  }

  /** Iterates over the events after a cursor, and the ones to come; at most `window` are sent ahead of the reader. */
  observe({
    after = 0,
    window = defaultWindow,
  }: { readonly after?: number; readonly window?: number } = {}): Observation {
    return this.#client.observe(this.scope, after, window);
  }

  /** Iterates over observations, after a cursor or from now on. A reader that is too slow gets a `gap` frame. */
  watch({ from, window = defaultWindow }: { readonly from?: Cursor; readonly window?: number } = {}): Watching {
    return this.#client.watch(this.scope, from, window);
  }

  /** Iterates over a stream of a call, live or late, until its end. */
  stream(
    call: string,
    { window = defaultWindow, ...place }: Omit<StreamPlace, "call"> & { readonly window?: number },
  ): StreamReading {
    return this.#client.stream(this.scope, { call, ...place }, window);
  }

  /** Moves the session to another host. */
  move(to: string, moving?: Moving): Promise<void> {
    return this.#client.move(this.scope, to, moving);
  }
}
