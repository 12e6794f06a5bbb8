/**
 * A scope as its host works with it: a session, or a process. The host holds a `Session` and asks it for things; behind
 * it a `ScopeInterpreter` does the work while the scope is in memory.
 *
 *    host ── verbs ──► Session ──► ScopeInterpreter ──► ScopeRunner ──► CommitLoop ──► journal
 *                         │               ▲                  │
 *                         │               └── commands ──────┘
 *                         └──► the session that came after it, once this one has left memory
 *
 * A session goes through these states:
 *
 *                 open                leave
 *    constructed ──────► in memory ──────────► left         verbs go on in the session that came after it
 *                          │    │
 *                          │    └── close ───► closing      bodies ended; what was stepped is still made durable
 *                          └── abandon ──────► abandoned    verbs reject with `ScopeLost`: ask the runtime again
 *
 * Every verb has the same shape, and the order of its parts is what makes it safe:
 *
 *    1. refuse   while the runtime is closing, or (for new work) while the scope moves. Nothing is recorded.
 *    2. reach    the session that is in memory now. A host may keep a `Session` for days; its scope may have left
 *                memory and come back meanwhile, and only one session may step its events.
 *    3. decode   what the caller handed in. What the codecs would not read back never reaches the log: a scope with
 *                a line that nobody can read stays closed for ever.
 *    4. store    large values, before the event that names them. If there is no room, only this caller is refused.
 *    5. apply    the event, in the turn in which the state was looked at. Nothing is awaited between, so it is still true.
 *    6. wait     until the state that the answer was made from is durable, also where the event was rejected: the
 *                reason for a rejection may itself be lost in a crash.
 *
 * Most verbs may be repeated, since an answer can be lost on its way: asked again, they answer as they did. The log knows a
 * request by its id, a resolution and a decision by the name that their author gave them (`id`), a cancel by its author.
 */
import type { Event, Recorded, State, Tool } from "@pawl/sansio-core";
import type { FlowEnd } from "@pawl/sansio-core/driver";
import type { Resolution } from "@pawl/tool-value";
import type { CallOfRequest, Replies } from "./call.ts";
import { type Approval, type Rejecting, approve, reject } from "./approval.ts";
import { type Target, cancel } from "./cancel.ts";
import { type Resolved, resolveKey, resolveToken } from "./resolve.ts";
import { publish } from "./catalog.ts";
import type { Offers } from "./executor/offer.ts";
import type { FlowSubmission } from "./flow.ts";
import { followLog, held } from "./observe/log-page.ts";
import type { HostSide } from "../host/host.ts";
import type { Instance } from "./instance.ts";
import { ScopeInterpreter } from "./interpreter.ts";
import type { ObserveOptions, Subscription } from "./observe/observer.ts";
import type { Callers } from "./callers.ts";
import type { RequestOptions, Waiting } from "./request.ts";
import { Conversation, type Talking } from "./conversation.ts";
import { type RequestPage, type RequestStatus, requestsOf, statusOf } from "./status.ts";
import { type About, aboutOf, describe, type SessionStore, storeOver } from "../host/about.ts";
import { type SessionSecrets, secretsAt, secretsOver } from "../host/secret.ts";
import { ScopeLost } from "../error.ts";
import { type ConnectionAnswer, answerOfHost } from "../host/connection.ts";
import type { AskedAt } from "../host/question.ts";
import type { BlobReader } from "../journal/blob.ts";
import type { Leaving } from "../move/quiesce.ts";
import type { ScopeLinks } from "../process/scope-links.ts";
import { record } from "../scope/access.ts";
import type { StreamFrame, StreamOptions } from "../stream/streams.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { ScopeStore } from "../scope/scope-store.ts";

/** A session, or a process. */
export class Session extends Conversation {
  readonly #instance: Instance;
  readonly #store: ScopeStore;
  readonly #side: HostSide;
  readonly #scope: ScopeInterpreter;
  #hasLeft = false;

  /** @internal */ constructor(state: State, instance: Instance, store: ScopeStore, side: HostSide, callers: Callers) {
    super();
    this.#instance = instance;
    this.#store = store;
    this.#side = side;
    this.#scope = new ScopeInterpreter(state, this, instance, store, side, callers);
  }

  /** @internal */ get runner(): ScopeRunner {
    return this.#scope.runner;
  }
  /** The calls of it that executors run. @internal */
  get offers(): Offers {
    return this.#scope.offers;
  }
  /** How it leaves for another host. @internal */
  get leaving(): Leaving {
    return this.#scope.leaving;
  }
  /** Its work with other scopes, and with processes. @internal */
  get scopeLinks(): ScopeLinks {
    return this.#scope.scopeLinks;
  }
  /** Reads the large values that its log names; undefined where they stay in the log. */
  get blobs(): BlobReader | undefined {
    return this.#store.values.blobs;
  }
  get state(): State {
    return this.#scope.state;
  }
  /** @internal */ get isIdle(): boolean {
    return this.#scope.isIdle;
  }

  /** Leaves memory; who waits for replies waits on. @internal */
  leave(): Callers {
    this.#hasLeft = true;
    return this.#scope.leave();
  }

  /**
   * Ends all bodies, with nothing recorded of it. Resolves when all that was stepped is durable: with true if the scope
   * was this instance's until then, and may be released. @internal
   */
  async close(): Promise<boolean> {
    this.#scope.close();
    return !this.#hasLeft && this.runner.close();
  }

  /** Acts on this session or, once it has left memory, on the one that came after it. */
  #live<A>(act: (session: Session) => Promise<A>): Promise<A> {
    return this.#hasLeft ? this.#instance.open(this.runner.id).then(act) : act(this);
  }

  /** Acts for a host, unless the runtime is closing. */
  #with<A>(act: (session: Session) => Promise<A>): Promise<A> {
    const { refusal } = this.#instance.shutdown;
    return refusal === undefined ? this.#live(act) : Promise.reject(refusal);
  }

  protected talking<A>(act: (of: Talking) => Promise<A>): Promise<A> {
    return this.#with((live) => {
      const { access, turns, requests, underWay } = live.#scope;
      const refusal = (): Promise<never> | undefined => live.leaving.refusal;
      return act({ access, turns, requests, underWay, refusal, reach: live.#instance });
    });
  }

  /** Applies an event of the host, and waits until it is durable. */
  report(event: Event): Promise<void> {
    return this.#with((live) => record(live.#scope.access, event));
  }

  /** Submits calls and waits for their replies, with trigger occurrences as `triggers`. Repeated, it is answered as it was. */
  request(request: string, calls: readonly CallOfRequest[], how: RequestOptions = {}): Promise<Replies> {
    return this.#with((live) => live.leaving.refusal ?? live.#scope.requests.submit({ ...how, request, calls }, how));
  }

  /** Submits a flow and waits for its end. The same flow again joins it, or is answered as it was. */
  flow(given: FlowSubmission, waiting: Waiting = {}): Promise<FlowEnd> {
    return this.#with((live) => live.leaving.refusal ?? live.#scope.requests.flow(live.#side, given, waiting));
  }

  /** Returns the replies of a request that was submitted before. */
  replies(request: string, waiting: Waiting = {}): Promise<Replies> {
    return this.#with((live) => live.#scope.requests.replies(request, waiting));
  }

  /** Returns what a request is at, since when, and what it waits for; also of one that was acknowledged. */
  status(request: string): Promise<RequestStatus> {
    return this.#with((live) => statusOf(live.#scope.access, request));
  }

  /** Lists the requests of the session, oldest first: those that were submitted after event `after`, `limit` at most. */
  requests(page: RequestPage = {}): Promise<readonly RequestStatus[]> {
    return this.#with((live) => requestsOf(live.#scope.access, page));
  }

  /** Small values of the session, on record, which its tools read and write by `ctx.store`. */
  get store(): SessionStore {
    return storeOver((act) => this.#with((live) => act(live.#scope.access)));
  }

  /** Secrets of the session, which steps of its tools read by name: sealed on record, and shown to nobody. */
  get secrets(): SessionSecrets {
    return secretsOver((act) => this.#with((live) => act(live.#scope.access, secretsAt(live.#side, live.#store))));
  }

  /** The title and the tags by which people find the session. */
  get about(): About {
    return aboutOf(this.state);
  }

  /** Gives the session a title or tags, in place of those that it has. */
  describe(about: Partial<About>, /** @internal */ ownTools?: boolean): Promise<void> {
    return this.#with((live) => describe(live.#scope.access, about, ownTools));
  }

  /** Makes tools of this session available or not; null takes that back. */
  setAvailability(tools: readonly string[], availability: Tool["availability"] | null): Promise<void> {
    return this.report({ type: "catalog.overridden", names: tools, availability });
  }

  /** Says that the replies of a request, which were kept, may be forgotten. */
  acknowledge(request: string): Promise<void> {
    return this.#with((live) => live.#scope.requests.acknowledge(request));
  }

  /** Resolves the wait key that a token was made for. */
  resolve(token: string, resolution: Resolution, by?: string, id?: string): Promise<Resolved> {
    return this.#with((live) =>
      resolveToken(live.#scope.access, live.#side, live.#store, token, { resolution, by, id }),
    );
  }

  /** Resolves a wait key by its id, for an operator. */
  resolveById(key: string, resolution: Resolution, by: string, id?: string): Promise<Resolved> {
    return this.#with((live) => resolveKey(live.#scope.access, { key, resolution, by, id }, false));
  }

  /** Yields the log after a cursor, and on as it grows. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
    yield* await this.#with(async (live) =>
      held(live.#scope.underWay, followLog(live.#scope.access, after, signal), signal),
    );
  }

  /**
   * Reads a stream of a call: what is on record, then what is said, until its end. It may be read live and late, any number
   * of times, and from any place.
   */
  async *stream(call: string, options: StreamOptions): AsyncGenerator<StreamFrame> {
    const { signal = new AbortController().signal } = options;
    yield* await this.#with(async (live) => {
      const { streams, access, underWay } = live.#scope;
      return held(underWay, streams.read(access, call, { ...options, signal }), signal);
    });
  }

  approve(call: string, approval: Approval): Promise<void> {
    return this.#with((live) => approve(live.#scope.access, live.#scope.approvalEdits, call, approval));
  }

  reject(call: string, rejecting: Rejecting): Promise<void> {
    return this.#with((live) => reject(live.#scope.access, live.#scope.approvalEdits, call, rejecting));
  }

  cancel(target: Target, by?: string, again = false): Promise<void> {
    return this.#with((live) => cancel(live.#scope.access, target, by, again));
  }

  /** Opens the scope in its log. @internal */
  open(opening: readonly Event[], tools: readonly Tool[] | undefined): Promise<void> {
    return this.#scope.open(opening, tools);
  }

  /** Publishes the tools where they are new to the scope. @internal */
  publish(tools: readonly Tool[]): Promise<void> {
    return this.#live((live) => publish(live.#scope.access, tools, live.#side.versions));
  }

  /** Observes the scope from a cursor, or from now on. End it by `return()` or `break`. */
  observe(options: ObserveOptions = {}): Subscription {
    this.#instance.shutdown.pass();
    const { id, isAbandoned } = this.runner;
    const gone = this.#hasLeft ? "has left memory" : "was lost";
    if (isAbandoned) throw new ScopeLost(`scope ${id} ${gone}: ask the runtime for it again`);
    return this.#scope.observers.watch(this.#scope.access, options);
  }

  /** Takes the answer to a host request that was put to a person. @internal */
  answered(event: Event, asked: AskedAt): void {
    this.#scope.answered(event, asked);
  }

  /** Answers a call that is parked for a connection. */
  connect(call: string, answer: ConnectionAnswer, by?: string): Promise<void> {
    return this.#with(async (live) => record(live.#scope.access, answerOfHost(live.state, call, answer, by)));
  }
}
