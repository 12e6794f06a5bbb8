/** A client of a host, for browsers and Node: promises for what is asked, iterables for what is observed. */
import type { ProcessSignal, Resolved, Stickiness } from "@pawl/runtime";
import type { Reply, RequestedCall } from "@pawl/sansio-core";
import type { Json, Resolution } from "@pawl/tool-value";
import type { HostFrame } from "../wire/host-frame.ts";
import { type Asked, Asking } from "./asking.ts";
import { HostRefused, refusalOf } from "./error.ts";
import { Executor, type ExecutorOptions, type Settling } from "./executor.ts";
import { Link, type LinkOptions } from "./link.ts";
import { Observation } from "./observation.ts";
import type { SocketConstructor } from "./socket.ts";

export { HostRefused } from "./error.ts";
export {
  type Executor,
  type ExecutorContext,
  type ExecutorOptions,
  type ExecutorTool,
  ToolRefused,
} from "./executor.ts";
export { moverOver } from "./mover.ts";
export { type Observed } from "./observation.ts";
export { type SocketConstructor, type SocketLike } from "./socket.ts";

export interface ClientOptions extends Pick<LinkOptions, "url" | "token"> {
  /** The platform's own, unless another one is given. */
  readonly socket?: SocketConstructor;
  /** The pause before another connection is tried: it doubles up to the longest. */
  readonly backoff?: { readonly minMs: number; readonly maxMs: number };
}

interface Deciding {
  /** Of the arguments that were decided on. */
  readonly hash: string;
  readonly sticky?: Stickiness;
}

export interface CallOptions {
  readonly executionScope?: string;
  /** The replies stay with the host until `acknowledge`; else they are acknowledged as they come. */
  readonly keep?: boolean;
}

type WithoutId<A> = A extends { readonly id: number } ? Omit<A, "id"> : never;

const unexpected = (frame: HostFrame, wanted: string): HostRefused =>
  new HostRefused("unexpected_answer", `expected ${wanted}, found ${frame.type}`);

export class Client {
  readonly #link: Link;
  readonly #asking: Asking;
  readonly #observations = new Map<
    number,
    { readonly of: Observation; readonly scope: string; readonly window: number }
  >();
  readonly #executors: Executor[] = [];
  #ids = 0;
  #ended: HostRefused | undefined;

  constructor({ url, token, socket = WebSocket, backoff = { minMs: 100, maxMs: 10_000 } }: ClientOptions) {
    this.#asking = new Asking((frame) => this.#link.send(frame));
    this.#link = new Link(
      { url, token, socket, backoff },
      {
        opened: () => this.#resume(),
        heard: (frame) => this.#heard(frame),
        lost: () => this.#asking.lost(),
        ended: (error) => this.#end(error),
      },
    );
  }

  /** Runs tools for the host, until the client is closed. */
  execute(options: ExecutorOptions): Executor {
    const executor: Executor = new Executor(options, (settling) => this.#settle(executor.id, settling));
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
    this.#ids += 1;
    const id = this.#ids;
    const left = (): void => {
      this.#observations.delete(id);
      this.#link.send({ type: "unobserve", id });
    };
    const seen = (cursor: number): void => this.#link.send({ type: "seen", id, cursor });
    const of = new Observation(after, window, seen, left);
    if (this.#ended !== undefined) of.end(this.#ended);
    else this.#observations.set(id, { of, scope, window });
    this.#observe(id);
    return of;
  }

  #observe(id: number): void {
    const observation = this.#observations.get(id);
    if (observation === undefined) return;
    const { of, scope, window } = observation;
    this.#link.send({ type: "observe", id, scope, after: of.cursor, window });
  }

  #resume(): void {
    for (const executor of this.#executors) this.#register(executor);
    this.#asking.again();
    for (const id of this.#observations.keys()) this.#observe(id);
  }

  #heard(frame: HostFrame): void {
    if (frame.type === "observed") return this.#observations.get(frame.id)?.of.heard(frame);
    if (frame.type === "offer" || frame.type === "cancelled") return this.#told(frame);
    if (!("id" in frame) || frame.id === undefined) return;
    if (!this.#asking.answered(frame.id, frame)) this.#observed(frame.id, frame);
  }

  #told(frame: Extract<HostFrame, { readonly type: "offer" | "cancelled" }>): void {
    const executor = this.#executors.find(({ id }) => id === frame.executor);
    if (frame.type === "offer") executor?.offered(frame);
    else executor?.cancelled(frame);
  }

  /** A subscription is over: begun again where that may help. */
  #observed(id: number, frame: HostFrame): void {
    if (frame.type === "error" && frame.retry_after_ms !== undefined) {
      setTimeout(() => this.#observe(id), frame.retry_after_ms);
      return;
    }
    const error = frame.type === "error" ? refusalOf(frame) : undefined;
    this.#observations.get(id)?.of.end(error);
    this.#observations.delete(id);
  }

  #end(error: HostRefused): void {
    this.#ended ??= error;
    this.#asking.end(error);
    for (const { of } of this.#observations.values()) of.end(error);
    this.#observations.clear();
  }
}

/** What a client asks of one session. */
export class SessionClient {
  readonly #client: Client;
  readonly scope: string;

  constructor(client: Client, scope: string) {
    this.#client = client;
    this.scope = scope;
  }

  async #done(question: WithoutId<Asked>): Promise<void> {
    const frame = await this.#client.ask(question);
    if (frame.type !== "done") throw unexpected(frame, "done");
  }

  async #replied(question: WithoutId<Asked> & { readonly request: string }, keep: boolean): Promise<readonly Reply[]> {
    const frame = await this.#client.ask(question);
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
    const { executionScope, keep = false } = options;
    const { scope } = this;
    const given = executionScope === undefined ? {} : { execution_scope: executionScope };
    return this.#replied({ type: "call", scope, request, calls, ...given }, keep);
  }

  /** The replies of a request that was submitted before. */
  replies(request: string, { keep = false }: Pick<CallOptions, "keep"> = {}): Promise<readonly Reply[]> {
    return this.#replied({ type: "replies", scope: this.scope, request }, keep);
  }

  acknowledge(request: string): Promise<void> {
    return this.#done({ type: "acknowledge", scope: this.scope, request });
  }

  resolve(token: string, resolution: Resolution): Promise<Resolved> {
    return this.#resolved({ type: "resolve", scope: this.scope, token, resolution });
  }

  resolveById(key: string, resolution: Resolution): Promise<Resolved> {
    return this.#resolved({ type: "resolve_by_id", scope: this.scope, key, resolution });
  }

  approve(call: string, approval: Deciding & { readonly args?: Json }): Promise<void> {
    return this.#done({ type: "approve", scope: this.scope, call, ...approval });
  }

  reject(call: string, rejecting: Deciding & { readonly reason: string }): Promise<void> {
    return this.#done({ type: "reject", scope: this.scope, call, ...rejecting });
  }

  cancel(target: { readonly request: string } | { readonly call: string }): Promise<void> {
    const { scope } = this;
    return this.#done(
      "call" in target
        ? { type: "cancel_call", scope, call: target.call }
        : { type: "cancel_request", scope, request: target.request },
    );
  }

  /** Events after a cursor, and on; at most `window` of them ahead of whoever reads. */
  observe({ after = 0, window = 256 }: { readonly after?: number; readonly window?: number } = {}): Observation {
    return this.#client.observe(this.scope, after, window);
  }
}
