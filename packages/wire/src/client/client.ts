/** A client of a host, for browsers and Node: questions are promises, subscriptions are async iterables. */
import type { Cursor, ProcessSignal } from "@pawl/runtime";
import {
  type AwaitingPage,
  type ReadTurnOptions,
  type Resolved,
  type ScopeAwaiting,
  scopeOfToken,
} from "@pawl/runtime/driver";
import type { Resolution } from "@pawl/tool-value";
import type { HostFrame } from "../frame/host-frame.ts";
import { checkBackoff, checkCount, checkName, checkToken, checkTools } from "./check.ts";
import { Connection } from "./connection.ts";
import { HostRefused, refusalOf, unexpected } from "./error.ts";
import { Executor, type ExecutorOptions, type RunResult } from "./executor.ts";
import type { SocketOptions } from "./reconnecting-socket.ts";
import { type Arrivals, type ReceiveOptions, ReceivingStores } from "./move.ts";
import type { SingleQuestion, WithoutId } from "./pending-questions.ts";
import { type Follow, ScopeRouter, checkFollow } from "./scope-router.ts";
import { type Moving, SessionClient } from "./session.ts";
import type { SocketConstructor } from "./reconnecting-socket.ts";
import {
  type AnySubscription,
  Observation,
  type StreamPlace,
  StreamReading,
  type SubscriptionPort,
  Watching,
  defaultWindow,
} from "./subscription.ts";
import { TurnReading } from "./turn-reading.ts";

export { HostRefused } from "./error.ts";
export {
  type Executor,
  type ExecutorContext,
  type ExecutorOptions,
  type ExecutorTool,
  ToolRefused,
} from "./executor.ts";
export { type Arrivals, type ReceiveOptions, moverOver } from "./move.ts";
export { type Follow } from "./scope-router.ts";
export { type CallOptions, type RequestOptions, type Moving, SessionClient } from "./session.ts";
export { type ClientTurnOptions } from "./session-turn.ts";
export { type SocketConstructor, type SocketLike } from "./reconnecting-socket.ts";
export {
  type Observation,
  type Observed,
  type StreamPlace,
  type StreamReading,
  type Watching,
} from "./subscription.ts";

export interface ClientOptions extends Pick<SocketOptions, "url" | "token"> {
  /** The platform's `WebSocket` by default. */
  readonly socket?: SocketConstructor;
  /** The pause before a reconnection: it doubles from `minMs` up to `maxMs`. */
  readonly backoff?: { readonly minMs: number; readonly maxMs: number };
  /**
   * Hosts that the client may be redirected to, with its token, when the host at `url` says that a scope lives there.
   * Without this option `owned_by` and `moved` reject with a `HostRefused` that has the address.
   */
  readonly follow?: Follow;
}

const defaultBackoff = { minMs: 100, maxMs: 10_000 };

const logRefusalOf =
  (name: string): NonNullable<ReceiveOptions["refused"]> =>
  ({ code, message }) =>
    console.error(`pawl: receiver \`${name}\` was refused: ${code}: ${message}`);

/** Questions that the home host answers wherever the scope lives. They are never redirected. */
const homeQuestions: ReadonlySet<string> = new Set(["move_part", "decline_move", "settle", "awaiting_approval"]);

/** Speaks with a host over as many connections as it takes. */
export class Client {
  readonly #home: Connection;
  readonly #router: ScopeRouter;
  /** Each executor with the id of the question that last registered it. */
  readonly #executors = new Map<Executor, number>();
  readonly #receiving = new ReceivingStores((frame) => this.#home.send(frame));
  #ended: HostRefused | undefined;

  constructor({ url, token, socket = WebSocket, backoff = defaultBackoff, follow = [] }: ClientOptions) {
    checkName("the url of a host", url);
    checkToken(token);
    checkBackoff(backoff);
    checkFollow(follow);
    const options = { url, token, socket, backoff };
    this.#home = new Connection(options, {
      opened: () => this.#opened(),
      received: (frame) => this.#receive(frame),
      ended: (error) => {
        this.#end(error);
        for (const executor of this.#executors.keys()) executor.refused(error);
        this.#receiving.refused(error);
      },
      continues: (subscription, refusal, wasServed) => this.#router.continues(subscription, { refusal, wasServed }),
    });
    this.#router = new ScopeRouter({ ...options, follow }, this.#home);
  }

  /** Runs tools for the host until the client is closed. */
  execute(options: ExecutorOptions): Executor {
    checkTools(options.tools);
    if (this.#ended !== undefined) throw this.#ended;
    const executor: Executor = new Executor(options, {
      leave: (said) => this.#leave(executor, said),
      settle: (result) => this.#settle(executor.id, result),
      progress: (progress) => this.#home.send({ type: "progress", executor: executor.id, ...progress }),
    });
    this.#register(executor);
    return executor;
  }

  /** Sends the result of a run. A refusal is dropped: the call went on without this executor. */
  async #settle(executor: string, result: RunResult): Promise<void> {
    await this.ask({ type: "settle", executor, ...result }).catch((thrown: unknown) => {
      if (!(thrown instanceof HostRefused)) throw thrown;
    });
  }

  async #leave(executor: Executor, said: { readonly farewell?: true }): Promise<void> {
    const frame = await this.ask({ type: "execute", executor: executor.id, tools: executor.tools, ...said });
    if (frame.type !== "done") throw unexpected(frame, "done");
    if (said.farewell === true) this.#executors.delete(executor);
  }

  #register(executor: Executor): void {
    const id = this.#home.nextId();
    this.#executors.set(executor, id);
    this.#home.send({ type: "execute", id, executor: executor.id, tools: executor.tools });
  }

  /**
   * Lets scopes move to this client until it is closed; resolves with the address to move them to. The name belongs to
   * the store that they arrive in, for ever. `refused` is called if the host refuses the store on a later connection.
   */
  async receive(
    name: string,
    arrivals: Arrivals,
    { refused = logRefusalOf(name) }: ReceiveOptions = {},
  ): Promise<string> {
    checkName("the name of a store", name);
    return this.#receiving.begin(name, { arrivals, refused }, async () => {
      const frame = await this.ask({ type: "receive", name });
      if (frame.type !== "receiving") throw unexpected(frame, "receiving");
      return frame.address;
    });
  }

  get isConnected(): boolean {
    return this.#home.isOpen;
  }

  session(id: string): SessionClient {
    checkName("the id of a session", id);
    return new SessionClient(this, `session:${id}`);
  }

  /**
   * Lists the scopes with calls that need approval, by name and page by page. Only names that begin with `prefix` are
   * listed; the token must cover it. `approvals` of a session lists the calls.
   */
  async awaitingApproval({ prefix = "session:", ...page }: AwaitingPage = {}): Promise<readonly ScopeAwaiting[]> {
    const frame = await this.ask({ type: "awaiting_approval", scope: prefix, ...page });
    if (frame.type !== "scopes_awaiting") throw unexpected(frame, "scopes_awaiting");
    return frame.scopes;
  }

  /** Resolves the wait that a token was made for, whichever scope it is of. Repeating it under the same `id` counts once. */
  async resolve(token: string, resolution: Resolution, id: string = crypto.randomUUID()): Promise<Resolved> {
    checkName("the token", token);
    const scope = scopeOfToken(token);
    if (scope === undefined) return { status: "unknown_or_revoked" };
    return new SessionClient(this, scope).resolve(token, resolution, id);
  }

  /** Signals a process. A repeat under the same `signalId` counts once. */
  async signal(process: string, { name, payload, signalId }: Omit<ProcessSignal, "holder">): Promise<void> {
    checkName("the id of a process", process);
    const scope = `process:${process}`;
    const frame = await this.ask({ type: "signal", scope, name, payload, signal_id: signalId });
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  /** Iterates over the observations of a process. */
  watchProcess(process: string, from?: Cursor, window = defaultWindow): Watching {
    checkName("the id of a process", process);
    return this.watch(`process:${process}`, from, window);
  }

  /** Moves a scope to another host; resolves once it lives there. */
  async move(scope: string, to: string, { bodies, withinMs }: Moving = {}): Promise<void> {
    const how = {
      ...(bodies === undefined ? {} : { bodies }),
      ...(withinMs === undefined ? {} : { within_ms: withinMs }),
    };
    const frame = await this.ask({ type: "move", scope, to, ...how });
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  close(): void {
    const closed = new HostRefused("client_closed", "the client was closed");
    this.#end(closed);
    this.#home.close(closed);
  }

  /** Drops the connection and makes a new one. */
  reconnect(): void {
    this.#home.drop();
  }

  /** Resolves with the answer, however many reconnections that takes. When `signal` aborts, the host stops waiting too. */
  async ask(question: WithoutId<SingleQuestion>, signal?: AbortSignal): Promise<HostFrame> {
    if (this.#ended !== undefined) throw this.#ended;
    return "scope" in question && !homeQuestions.has(question.type)
      ? this.#router.ask(question, signal)
      : this.#home.ask(question, { signal });
  }

  observe(scope: string, after: number, window: number): Observation {
    checkCount("after", after, 0);
    return this.#subscribe(scope, window, (port) => new Observation(scope, after, window, port));
  }

  watch(scope: string, from: Cursor | undefined, window: number): Watching {
    return this.#subscribe(scope, window, (port) => new Watching(scope, from, window, port));
  }

  readTurn(
    scope: string,
    place: Pick<ReadTurnOptions, "from"> & { readonly request: string },
    window: number,
  ): TurnReading {
    checkName("the id of a turn", place.request);
    return this.#subscribe(scope, window, (port) => new TurnReading(scope, place, window, port));
  }

  stream(scope: string, place: StreamPlace, window: number): StreamReading {
    checkName("the name of a stream", place.name);
    return this.#subscribe(scope, window, (port) => new StreamReading(scope, place, window, port));
  }

  #subscribe<A extends AnySubscription>(scope: string, window: number, create: (port: SubscriptionPort) => A): A {
    checkCount("window", window, 1);
    const subscription: A = create({
      seen: (cursor) => this.#router.seen(subscription, cursor),
      ended: () => this.#router.leave(subscription),
    });
    if (this.#ended === undefined) this.#router.begin(subscription, scope);
    else subscription.end(this.#ended);
    return subscription;
  }

  #opened(): void {
    for (const executor of this.#executors.keys()) this.#register(executor);
    this.#receiving.registerAgain(() => this.#home.nextId());
  }

  #receive(frame: HostFrame): void {
    if (frame.type === "offer" || frame.type === "cancelled") return this.#passToExecutor(frame);
    if (frame.type === "error") return this.#refused(frame);
    if (frame.type === "move_part" || frame.type === "decline_move") void this.#receiving.receive(frame);
  }

  #refused(error: Extract<HostFrame, { readonly type: "error" }>): void {
    const refusal = refusalOf(error);
    for (const [executor, question] of this.#executors) if (question === error.id) executor.refused(refusal);
    if (error.id !== undefined) this.#receiving.refused(refusal, error.id);
  }

  #passToExecutor(frame: Extract<HostFrame, { readonly type: "offer" | "cancelled" }>): void {
    const executor = [...this.#executors.keys()].find(({ id }) => id === frame.executor);
    if (frame.type === "offer") executor?.offered(frame);
    else executor?.cancelled(frame);
  }

  #end(error: HostRefused): void {
    this.#ended ??= error;
    this.#router.close(error);
  }
}
