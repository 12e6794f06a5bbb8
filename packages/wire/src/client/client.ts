/** A client of a host, for browsers and Node: promises for what is asked, iterables for what is observed. */
import type { AwaitingPage, Cursor, ProcessSignal, ScopeAwaiting } from "@pawl/runtime";
import type { HostFrame } from "../frame/host-frame.ts";
import type { Asked } from "./pending-questions.ts";
import { checkBackoff, checkCount, checkName, checkToken, checkTools } from "./check.ts";
import { HostRefused, refusalOf } from "./error.ts";
import { Executor, type ExecutorOptions, type Settling } from "./executor.ts";
import { type Follow, Following, checkFollow } from "./scope-router.ts";
import type { Flowing, InflowPort } from "./subscription.ts";
import { Line } from "./connection.ts";
import type { LinkOptions } from "./link.ts";
import { Observation } from "./observation.ts";
import { type Arrivals, type ReceiveOptions, Receiving } from "./move.ts";
import { type Moving, SessionClient, type WithoutId, defaultWindow, unexpected } from "./session.ts";
import type { SocketConstructor } from "./socket.ts";
import { Watching } from "./watching.ts";

export { HostRefused } from "./error.ts";
export {
  type Executor,
  type ExecutorContext,
  type ExecutorOptions,
  type ExecutorTool,
  ToolRefused,
} from "./executor.ts";
export { type Follow } from "./scope-router.ts";
export { moverOver } from "./mover.ts";
export { type Observation, type Observed } from "./observation.ts";
export { type Arrivals, type ReceiveOptions } from "./move.ts";
export { type CallOptions, type Moving, SessionClient } from "./session.ts";
export { type SocketConstructor, type SocketLike } from "./socket.ts";
export { type Watching } from "./watching.ts";

export interface ClientOptions extends Pick<LinkOptions, "url" | "token"> {
  /** The platform's own, unless another one is given. */
  readonly socket?: SocketConstructor;
  /** The pause before another connection is tried: it doubles up to the longest. */
  readonly backoff?: { readonly minMs: number; readonly maxMs: number };
  /**
   * Hosts that scopes are followed to, where the one at `url` says that they live there: the token goes with it. Without
   * it nobody is followed, and `owned_by` and `moved` end in a `HostRefused` with the address.
   */
  readonly follow?: Follow;
}

const usualBackoff = { minMs: 100, maxMs: 10_000 };

const shownOf =
  (name: string): NonNullable<ReceiveOptions["refused"]> =>
  ({ code, message }) =>
    console.error(`pawl: receiver \`${name}\` was refused: ${code}: ${message}`);

/** Questions that are meant for this very host, wherever their scope lives. */
const ofThisHost: ReadonlySet<string> = new Set(["move_part", "decline_move", "settle", "awaiting_approval"]);

export class Client {
  readonly #home: Line;
  readonly #following: Following;
  /** Each with the question by which it was registered last. */
  readonly #executors = new Map<Executor, number>();
  readonly #receiving = new Receiving((frame) => this.#home.say(frame));
  #ended: HostRefused | undefined;

  constructor({ url, token, socket = WebSocket, backoff = usualBackoff, follow = [] }: ClientOptions) {
    checkName("the url of a host", url);
    checkToken(token);
    checkBackoff(backoff);
    checkFollow(follow);
    const options = { url, token, socket, backoff };
    this.#home = new Line(options, {
      opened: () => this.#opened(),
      heard: (frame) => this.#heard(frame),
      ended: (error) => {
        this.#end(error);
        for (const executor of this.#executors.keys()) executor.refused(error);
        this.#receiving.refused(error);
      },
      goesOn: (flow, refusal, wasTold) => this.#following.goesOn(flow, { refusal, wasTold }),
    });
    this.#following = new Following({ ...options, follow }, this.#home);
  }

  /** Runs tools for the host, until the client is closed; `refused` is told why it does not. */
  execute(options: ExecutorOptions): Executor {
    checkTools(options.tools);
    if (this.#ended !== undefined) throw this.#ended;
    const executor: Executor = new Executor(options, {
      settle: (settling) => this.#settle(executor.id, settling),
      progress: (progress) => this.#home.say({ type: "progress", executor: executor.id, ...progress }),
    });
    this.#register(executor);
    return executor;
  }

  /** One whose call went on without it is told so, and has nothing more to do. */
  async #settle(executor: string, settling: Settling): Promise<void> {
    await this.ask({ type: "settle", executor, ...settling }).catch((thrown: unknown) => {
      if (!(thrown instanceof HostRefused)) throw thrown;
    });
  }

  #register(executor: Executor): void {
    const id = this.#home.nextId();
    this.#executors.set(executor, id);
    this.#home.say({ type: "execute", id, executor: executor.id, tools: executor.tools });
  }

  /**
   * Scopes may move to this client from now on, as long as it is not closed: says the address that they move to. The
   * name belongs to the store that they arrive in, and to no other, for ever. `refused` is told where a later connection
   * is refused it.
   */
  async receive(name: string, arrivals: Arrivals, { refused = shownOf(name) }: ReceiveOptions = {}): Promise<string> {
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
   * Scopes of the host's store of which calls wait for a person's word, by name, page by page: those whose names begin
   * with `prefix` (`session:`), which the token has to cover. `approvals` of a session says for what.
   */
  async awaitingApproval({ prefix = "session:", ...page }: AwaitingPage = {}): Promise<readonly ScopeAwaiting[]> {
    const frame = await this.ask({ type: "awaiting_approval", scope: prefix, ...page });
    if (frame.type !== "scopes_awaiting") throw unexpected(frame, "scopes_awaiting");
    return frame.scopes;
  }

  /** Signals a process. Twice under one `signalId` is once. */
  async signal(process: string, { name, payload, signalId }: Omit<ProcessSignal, "holder">): Promise<void> {
    checkName("the id of a process", process);
    const scope = `process:${process}`;
    const frame = await this.ask({ type: "signal", scope, name, payload, signal_id: signalId });
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  /** What happens in a process. */
  watchProcess(process: string, from?: Cursor, window = defaultWindow): Watching {
    checkName("the id of a process", process);
    return this.watch(`process:${process}`, from, window);
  }

  /** Has a scope live with another host, and waits until it does. */
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

  /** Gives up the connection, as if it had broken. */
  reconnect(): void {
    this.#home.drop();
  }

  /** Asks, and waits for the answer, over as many connections as that takes. By the signal the host need not wait. */
  async ask(question: WithoutId<Asked>, signal?: AbortSignal): Promise<HostFrame> {
    if (this.#ended !== undefined) throw this.#ended;
    return "scope" in question && !ofThisHost.has(question.type)
      ? this.#following.ask(question, signal)
      : this.#home.ask(question, { signal });
  }

  observe(scope: string, after: number, window: number): Observation {
    checkCount("after", after, 0);
    return this.#flow(scope, window, (port) => new Observation(scope, after, window, port));
  }

  watch(scope: string, from: Cursor | undefined, window: number): Watching {
    return this.#flow(scope, window, (port) => new Watching(scope, from, window, port));
  }

  #flow<A extends Flowing>(scope: string, window: number, made: (port: InflowPort) => A): A {
    checkCount("window", window, 1);
    const flow: A = made({
      seen: (cursor) => this.#following.seen(flow, cursor),
      left: () => this.#following.leave(flow),
    });
    if (this.#ended === undefined) this.#following.begin(flow, scope);
    else flow.end(this.#ended);
    return flow;
  }

  #opened(): void {
    for (const executor of this.#executors.keys()) this.#register(executor);
    this.#receiving.again(() => this.#home.nextId());
  }

  #heard(frame: HostFrame): void {
    if (frame.type === "offer" || frame.type === "cancelled") return this.#told(frame);
    if (frame.type === "error") return this.#refused(frame);
    if (frame.type === "move_part" || frame.type === "decline_move") void this.#receiving.heard(frame);
  }

  #refused(error: Extract<HostFrame, { readonly type: "error" }>): void {
    const refusal = refusalOf(error);
    for (const [executor, question] of this.#executors) if (question === error.id) executor.refused(refusal);
    if (error.id !== undefined) this.#receiving.refused(refusal, error.id);
  }

  #told(frame: Extract<HostFrame, { readonly type: "offer" | "cancelled" }>): void {
    const executor = [...this.#executors.keys()].find(({ id }) => id === frame.executor);
    if (frame.type === "offer") executor?.offered(frame);
    else executor?.cancelled(frame);
  }

  #end(error: HostRefused): void {
    this.#ended ??= error;
    this.#following.close(error);
  }
}
