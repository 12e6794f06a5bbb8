/** A client of a host, for browsers and Node: promises for what is asked, iterables for what is observed. */
import type { Cursor, ProcessSignal } from "@pawl/runtime";
import type { HostFrame } from "../frame/host-frame.ts";
import { type Asked, Asking } from "./asking.ts";
import { HostRefused } from "./error.ts";
import { Executor, type ExecutorOptions, type Settling } from "./executor.ts";
import type { Flowing, InflowPort } from "./inflow.ts";
import { Link, type LinkOptions } from "./link.ts";
import { Observation } from "./observation.ts";
import { type Arrivals, Receiving } from "./receiver.ts";
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
export { moverOver } from "./mover.ts";
export { type Observation, type Observed } from "./observation.ts";
export { type Arrivals } from "./receiver.ts";
export { type CallOptions, type Moving, SessionClient } from "./session.ts";
export { type SocketConstructor, type SocketLike } from "./socket.ts";
export { type Watching } from "./watching.ts";

export interface ClientOptions extends Pick<LinkOptions, "url" | "token"> {
  /** The platform's own, unless another one is given. */
  readonly socket?: SocketConstructor;
  /** The pause before another connection is tried: it doubles up to the longest. */
  readonly backoff?: { readonly minMs: number; readonly maxMs: number };
}

export class Client {
  readonly #link: Link;
  readonly #asking: Asking;
  readonly #inflows = new Map<number, Flowing>();
  readonly #executors: Executor[] = [];
  readonly #receiving = new Receiving((frame) => this.#link.send(frame));
  #ids = 0;
  #ended: HostRefused | undefined;

  constructor({ url, token, socket = WebSocket, backoff = { minMs: 100, maxMs: 10_000 } }: ClientOptions) {
    this.#asking = new Asking((frame) => this.#link.send(frame));
    this.#link = new Link(
      { url, token, socket, backoff },
      {
        opened: () => this.#resume(),
        heard: (frame) => this.#heard(frame),
        ended: (error) => this.#end(error),
      },
    );
  }

  /** Runs tools for the host, until the client is closed. */
  execute(options: ExecutorOptions): Executor {
    const executor: Executor = new Executor(options, {
      settle: (settling) => this.#settle(executor.id, settling),
      progress: (progress) => this.#link.send({ type: "progress", executor: executor.id, ...progress }),
    });
    this.#executors.push(executor);
    this.#register(executor);
    return executor;
  }

  /** One whose call went on without it is told so, and has nothing more to do. */
  async #settle(executor: string, settling: Settling): Promise<void> {
    await this.ask({ type: "settle", executor, ...settling }).catch((thrown: unknown) => {
      if (!(thrown instanceof HostRefused)) throw thrown;
    });
  }

  #register({ id: executor, tools }: Executor): void {
    this.#ids += 1;
    this.#link.send({ type: "execute", id: this.#ids, executor, tools });
  }

  /**
   * Scopes may move to this client from now on, as long as it is not closed: says the address that they move to. The
   * name belongs to the store that they arrive in, and to no other, for ever.
   */
  async receive(name: string, arrivals: Arrivals): Promise<string> {
    this.#receiving.add(name, arrivals);
    const frame = await this.ask({ type: "receive", name });
    if (frame.type !== "receiving") throw unexpected(frame, "receiving");
    return frame.address;
  }

  get isConnected(): boolean {
    return this.#link.isOpen;
  }

  session(id: string): SessionClient {
    return new SessionClient(this, `session:${id}`);
  }

  /** Signals a process. Twice under one `signalId` is once. */
  async signal(process: string, { name, payload, signalId }: Omit<ProcessSignal, "holder">): Promise<void> {
    const scope = `process:${process}`;
    const frame = await this.ask({ type: "signal", scope, name, payload, signal_id: signalId });
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  /** What happens in a process. */
  watchProcess(process: string, from?: Cursor, window = defaultWindow): Watching {
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
    this.#link.close();
    this.#end(new HostRefused("client_closed", "the client was closed"));
  }

  /** Gives up the connection, as if it had broken. */
  reconnect(): void {
    this.#link.drop();
  }

  /** Asks, and waits for the answer, over as many connections as that takes. */
  ask(question: WithoutId<Asked>): Promise<HostFrame> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#ids += 1;
    return this.#asking.ask({ ...question, id: this.#ids } as Asked);
  }

  observe(scope: string, after: number, window: number): Observation {
    return this.#flow((port) => new Observation(scope, after, window, port));
  }

  watch(scope: string, from: Cursor | undefined, window: number): Watching {
    return this.#flow((port) => new Watching(scope, from, window, port));
  }

  #flow<A extends Flowing>(made: (port: InflowPort) => A): A {
    this.#ids += 1;
    const id = this.#ids;
    const left = (): void => {
      this.#inflows.delete(id);
      this.#link.send({ type: "unobserve", id });
    };
    const flow = made({ seen: (cursor) => this.#link.send({ type: "seen", id, cursor }), left });
    if (this.#ended === undefined) this.#inflows.set(id, flow);
    else flow.end(this.#ended);
    this.#subscribe(id);
    return flow;
  }

  #subscribe(id: number): void {
    const flow = this.#inflows.get(id);
    if (flow !== undefined) this.#link.send(flow.question(id));
  }

  #resume(): void {
    for (const executor of this.#executors) this.#register(executor);
    for (const name of this.#receiving.names) this.#link.send({ type: "receive", id: (this.#ids += 1), name });
    this.#asking.again();
    for (const id of this.#inflows.keys()) this.#subscribe(id);
  }

  #heard(frame: HostFrame): void {
    if (frame.type === "offer" || frame.type === "cancelled") return this.#told(frame);
    if (frame.type === "move_part" || frame.type === "decline_move") return void this.#receiving.heard(frame);
    if (!("id" in frame) || frame.id === undefined || this.#asking.answered(frame.id, frame)) return;
    if (frame.type === "done" || frame.type === "error") this.#over(frame.id, frame);
    else this.#inflows.get(frame.id)?.heard(frame);
  }

  #told(frame: Extract<HostFrame, { readonly type: "offer" | "cancelled" }>): void {
    const executor = this.#executors.find(({ id }) => id === frame.executor);
    if (frame.type === "offer") executor?.offered(frame);
    else executor?.cancelled(frame);
  }

  /** A subscription is over: begun again where that may help. */
  #over(id: number, frame: Extract<HostFrame, { readonly type: "done" | "error" }>): void {
    if (frame.type === "error" && frame.retry_after_ms !== undefined) {
      setTimeout(() => this.#subscribe(id), frame.retry_after_ms);
      return;
    }
    const flow = this.#inflows.get(id);
    this.#inflows.delete(id);
    if (frame.type === "error") flow?.refused(frame);
    else flow?.end();
  }

  #end(error: HostRefused): void {
    this.#ended ??= error;
    this.#asking.end(error);
    for (const flow of this.#inflows.values()) flow.end(error);
    this.#inflows.clear();
  }
}
