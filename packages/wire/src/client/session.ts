/** What a client asks of one session. */
import type { ApprovalWanted, BodiesAtMove, Cursor, Resolved, Stickiness } from "@pawl/runtime";
import type { Reply, RequestedCall } from "@pawl/sansio-core";
import type { Json, Resolution } from "@pawl/tool-value";
import type { HostFrame } from "../frame/host-frame.ts";
import type { Asked } from "./pending-questions.ts";
import { checkRecord } from "./check.ts";
import { HostRefused } from "./error.ts";
import type { Observation } from "./observation.ts";
import type { Watching } from "./watching.ts";

interface Deciding {
  /** Of the arguments that were decided on. */
  readonly hash: string;
  readonly sticky?: Stickiness;
  /** A name for the decision, from whoever may make it again after a restart of their own. */
  readonly id?: string;
}

/** Under a name of the caller's own it may have been said before. */
const named = ({ id, ...deciding }: Deciding) =>
  id === undefined ? { ...deciding, decision_id: crypto.randomUUID() } : { ...deciding, decision_id: id, again: true };

/** How a scope is to leave for another host. */
export interface Moving {
  readonly bodies?: BodiesAtMove;
  readonly withinMs?: number;
}

/** How many events or frames the host may be ahead of whoever reads. */
export const defaultWindow = 256;

export interface CallOptions {
  readonly executionScope?: string;
  /** The caller's span, as W3C Trace Context writes it. */
  readonly traceparent?: string;
  /** The replies stay with the host until `acknowledge`; else they are acknowledged as they come. */
  readonly keep?: boolean;
  /** Whoever waits is gone (`waiter_gone`): the call goes on, and its replies stay with the host. */
  readonly signal?: AbortSignal;
}

export type WithoutId<A> = A extends { readonly id: number } ? Omit<A, "id"> : never;

export const unexpected = (frame: HostFrame, wanted: string): HostRefused =>
  new HostRefused("unexpected_answer", `expected ${wanted}, found ${frame.type}`);

/** An answer, unless whoever waits for it leaves first. */
const unlessLeft = <A>(answer: Promise<A>, request: string, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const leave = (): void =>
      reject(new HostRefused("waiter_gone", `nobody waits here for request \`${request}\` any more`));
    signal.addEventListener("abort", leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    if (signal.aborted) leave();
  });
};

/** The client of a session, as it needs it. */
interface AskingClient {
  readonly ask: (question: WithoutId<Asked>, signal?: AbortSignal) => Promise<HostFrame>;
  readonly observe: (scope: string, after: number, window: number) => Observation;
  readonly watch: (scope: string, from: Cursor | undefined, window: number) => Watching;
  readonly move: (scope: string, to: string, moving?: Moving) => Promise<void>;
}

export class SessionClient {
  readonly #client: AskingClient;
  readonly scope: string;

  constructor(client: AskingClient, scope: string) {
    this.#client = client;
    this.scope = scope;
  }

  async #done(question: WithoutId<Asked>): Promise<void> {
    const frame = await this.#client.ask(question);
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  async #replied(
    question: WithoutId<Asked> & { readonly request: string },
    { keep = false, signal }: Pick<CallOptions, "keep" | "signal">,
  ): Promise<readonly Reply[]> {
    const frame = await unlessLeft(this.#client.ask(question, signal), question.request, signal);
    if (frame.type !== "replied") throw unexpected(frame, "replied");
    if (!keep) await this.acknowledge(question.request);
    return frame.replies;
  }

  async #resolved(question: WithoutId<Asked>): Promise<Resolved> {
    const frame = await this.#client.ask(question);
    if (frame.type !== "resolved") throw unexpected(frame, "resolved");
    return frame.outcome;
  }

  /** Opens the session; says where its log ends. */
  async open(): Promise<number> {
    const frame = await this.#client.ask({ type: "open", scope: this.scope });
    if (frame.type !== "opened") throw unexpected(frame, "opened");
    return frame.seq;
  }

  call(request: string, calls: readonly RequestedCall[], options: CallOptions = {}): Promise<readonly Reply[]> {
    const { executionScope, traceparent } = options;
    const { scope } = this;
    const given = {
      ...(executionScope === undefined ? {} : { execution_scope: executionScope }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    return this.#replied({ type: "call", scope, request, calls, ...given }, options);
  }

  /** The replies of a request that was submitted before. */
  replies(request: string, options: Pick<CallOptions, "keep" | "signal"> = {}): Promise<readonly Reply[]> {
    return this.#replied({ type: "replies", scope: this.scope, request }, options);
  }

  acknowledge(request: string): Promise<void> {
    return this.#done({ type: "acknowledge", scope: this.scope, request });
  }

  /** Under the same `id` it is the same resolution, and gets the same answer. */
  resolve(token: string, resolution: Resolution, id: string = crypto.randomUUID()): Promise<Resolved> {
    return this.#resolved({ type: "resolve", scope: this.scope, token, resolution, resolution_id: id });
  }

  resolveById(key: string, resolution: Resolution, id: string = crypto.randomUUID()): Promise<Resolved> {
    return this.#resolved({ type: "resolve_by_id", scope: this.scope, key, resolution, resolution_id: id });
  }

  /** The calls that wait for a person's word, oldest first. */
  async approvals(): Promise<readonly ApprovalWanted[]> {
    const frame = await this.#client.ask({ type: "approvals", scope: this.scope });
    if (frame.type !== "approvals_wanted") throw unexpected(frame, "approvals_wanted");
    return frame.approvals;
  }

  async approve(call: string, approval: Deciding & { readonly args?: Json }): Promise<void> {
    checkRecord("what is decided", approval);
    const { args, ...deciding } = approval;
    const edited = args === undefined ? {} : { args };
    return this.#done({ type: "approve", scope: this.scope, call, ...named(deciding), ...edited });
  }

  async reject(call: string, rejecting: Deciding & { readonly reason: string }): Promise<void> {
    checkRecord("what is decided", rejecting);
    const { reason, ...deciding } = rejecting;
    return this.#done({ type: "reject", scope: this.scope, call, ...named(deciding), reason });
  }

  async cancel(target: { readonly request: string } | { readonly call: string }): Promise<void> {
    checkRecord("what is cancelled", target);
    const { scope } = this;
    return this.#done(
      "call" in target
        ? { type: "cancel_call", scope, call: target.call }
        : { type: "cancel_request", scope, request: target.request },
    );
  }

  /** Events after a cursor, and on; at most `window` of them ahead of whoever reads. */
  observe({
    after = 0,
    window = defaultWindow,
  }: { readonly after?: number; readonly window?: number } = {}): Observation {
    return this.#client.observe(this.scope, after, window);
  }

  /** What observers see: after a cursor, or from now on. A client that reads too slowly is told of a gap. */
  watch({ from, window = defaultWindow }: { readonly from?: Cursor; readonly window?: number } = {}): Watching {
    return this.#client.watch(this.scope, from, window);
  }

  /** Has the session live with another host. */
  move(to: string, moving?: Moving): Promise<void> {
    return this.#client.move(this.scope, to, moving);
  }
}
