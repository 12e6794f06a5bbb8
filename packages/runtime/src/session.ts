/** One scope with its bodies: performs what the core asks for, and tells it what happened. */
import {
  type Command,
  type Event,
  type Finished,
  type Recorded,
  type Rejection,
  type Reply,
  type RequestedCall,
  type State,
} from "@pawl/sansio-core";
import { type Json, type Resolution, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Bodies } from "./bodies.ts";
import type { Patience } from "./body.ts";
import { type Access, record } from "./access.ts";
import { type Target, cancel } from "./cancel.ts";
import { type Approval, Edits, type Rejecting, approve, reject } from "./decide.ts";
import { ScopeLost } from "./error.ts";
import { follow } from "./follow.ts";
import type { Executors } from "./executor.ts";
import { FinishedIndex } from "./finished.ts";
import { type AmongHost, AmongScopes } from "./among.ts";
import type { Post } from "./link-post.ts";
import type { JournalLine } from "./journal.ts";
import { Offers } from "./offer.ts";
import type { Platform } from "./platform.ts";
import { type Cause, ScopeRunner } from "./scope.ts";
import { Requests, type Submission, type Waiting } from "./request.ts";
import { type Resolved, resolveKey } from "./resolve.ts";
import { type Roots, idOfToken } from "./token.ts";
import { type ToolDefinition, checkArgs } from "./tool.ts";
import type { Member } from "./turn-loop.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** What a host fills in. */
export interface HostPort extends AmongHost {
  /** Answers a host request; what it throws is the body's error. */
  readonly request?: (name: string, input: Json, key: string) => Promise<Json>;
  readonly observe?: (scope: string, command: Of<"observe">) => void;
}

export interface SessionPort {
  readonly platform: Platform;
  readonly owner: string;
  readonly roots: Roots;
  readonly executors: Executors;
  readonly patience: Patience;
  readonly host: HostPort;
  readonly tool: (id: string) => ToolDefinition | undefined;
  readonly stir: (member: Member) => void;
  readonly isLeased: () => boolean;
  readonly readLines: (from: number, to?: number) => Promise<readonly JournalLine[]>;
  readonly post: Post;
  readonly find: (kind: Finished["kind"], id: string) => Promise<number | undefined>;
  readonly lost: () => void;
}

const errorOf = (thrown: unknown): { readonly code: string; readonly message: string } => {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code =
    thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
      ? thrown.code
      : "host_request_failed";
  return { code, message: message.toWellFormed() };
};

export class Session {
  readonly #port: SessionPort;
  readonly #runner: ScopeRunner;
  readonly #bodies: Bodies;
  readonly #finished: FinishedIndex;
  readonly #access: Access;
  readonly #requests: Requests;
  readonly #offers: Offers;
  readonly #edits = new Edits();
  /** What it has to do with other scopes, and with processes. */
  readonly among: AmongScopes;

  constructor(state: State, epoch: number, port: SessionPort) {
    this.#port = port;
    this.#bodies = new Bodies(
      port,
      () => this.#runner,
      () => this.among.reach,
    );
    this.#runner = new ScopeRunner(state, epoch, {
      platform: port.platform,
      stir: port.stir,
      isLeased: port.isLeased,
      rest: () => undefined,
      deliver: () => this.#bodies.deliver(),
      stepped: (cause, commands, finished) => this.#stepped(cause, commands, finished),
      perform: (command, cause) => this.#perform(command, cause),
      lost: (why) => this.#lost(why),
    });
    this.#finished = new FinishedIndex(port.find, () => this.#runner.durable.seq);
    const { platform, readLines } = port;
    this.#access = { runner: this.#runner, finished: this.#finished, platform, readLines };
    this.#requests = new Requests(this.#access);
    this.#offers = new Offers(this.#access, port.executors, port.owner);
    this.among = new AmongScopes(this.#access, port, () => this.#bodies.askAgain());
  }

  /** What executors do here. */
  get offers(): Offers {
    return this.#offers;
  }
  get runner(): ScopeRunner {
    return this.#runner;
  }
  get state(): State {
    return this.#runner.state;
  }

  /** An event that must fit. */
  #tell(event: Event): E.Either<Rejection, unknown> {
    return this.#runner.tell(event);
  }

  /** Tells an event of the host's, and waits until it is durable. */
  report(event: Event): Promise<void> {
    return record(this.#access, event);
  }

  /** Submits calls and waits for their replies. The same request again joins it, or is answered as it was. */
  call(
    request: string,
    calls: readonly RequestedCall[],
    how: Omit<Submission, "request" | "calls"> & Waiting = {},
  ): Promise<readonly Reply[]> {
    return this.#requests.submit({ ...how, request, calls }, how);
  }

  /** The replies of a request that was submitted before. */
  replies(request: string, waiting: Waiting = {}): Promise<readonly Reply[]> {
    return this.#requests.replies(request, waiting);
  }

  /** Whoever took a request's replies, and wanted them kept, has them for good. */
  acknowledge(request: string): Promise<void> {
    return this.#requests.acknowledge(request);
  }

  /** Resolves the key that a token was made for. */
  async resolve(token: string, resolution: Resolution, by?: string): Promise<Resolved> {
    const key = idOfToken(this.#port.roots, this.#runner.id, token);
    if (key === undefined) return { status: "unknown_or_revoked" };
    return resolveKey(this.#access, { key, resolution, by }, true);
  }

  /** An operator resolves a key that is waited for. */
  resolveById(key: string, resolution: Resolution, by: string): Promise<Resolved> {
    return resolveKey(this.#access, { key, resolution, by }, false);
  }

  /** The log after a cursor, and on as it grows. */
  follow(after: number, signal: AbortSignal): AsyncIterable<Recorded> {
    return follow(this.#access, after, signal);
  }

  approve(call: string, approval: Approval): Promise<void> {
    return approve(this.#access, this.#edits, call, approval);
  }

  reject(call: string, rejecting: Rejecting): Promise<void> {
    return reject(this.#access, this.#edits, call, rejecting);
  }

  cancel(target: Target, by?: string): Promise<void> {
    return cancel(this.#access, target, by);
  }

  #stepped({ seq, event }: Cause, commands: readonly Command[], finished: readonly Finished[]): void {
    this.#finished.note(finished, seq);
    this.#edits.stepped(this.state, event);
    this.#endBodies(commands);
  }

  #endBodies(commands: readonly Command[]): void {
    for (const command of commands) {
      const isEnd = command.type === "observe" && command.what === "call_completed";
      if (!isEnd && command.type !== "tool.execute") continue;
      this.#bodies.end(command.call);
      this.#offers.ended(command.call);
    }
  }

  #lost(why: string): void {
    this.#bodies.endAll();
    this.#requests.lose(new ScopeLost(why));
    this.#edits.lose(why);
    this.#port.executors.forget(this.#runner.id);
    this.among.lose(why);
    this.#port.lost();
  }

  /** Work that takes its time: what goes wrong in it is the interpreter's fault, and costs the scope. */
  #begin(work: () => Promise<void>): void {
    void work().catch((thrown: unknown) => {
      if (!this.#runner.isLost)
        this.#runner.lose(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
    });
  }

  #perform(command: Command, cause: Cause): void {
    switch (command.type) {
      case "args.check":
        return this.#begin(() => this.#check(command));
      case "tool.prepare":
        return this.#begin(() => this.#prepare(command));
      case "tool.execute":
        return this.#begin(() => this.#execute(command));
      case "tool.cancel":
        this.#offers.cancel({ call: command.call, attempt: command.attempt, run: command.run });
        this.#bodies.at(command.call)?.hearCancel({ seq: cause.seq, index: -1 });
        return this.#runner.stir();
      case "step.run":
        return this.#bodies.at(command.call)?.perform(command.key);
      case "step.answer":
        this.#bodies.answer(command, cause);
        return this.#runner.stir();
      case "host.request":
        return this.#begin(() => this.#askHost(command));
      case "replies.record": {
        const { call, key, replies, triggers } = command;
        return this.#begin(async () => void this.#tell({ type: "replies.recorded", call, key, replies, triggers }));
      }
      case "reply":
        return this.#requests.take(command);
      case "observe":
        return this.#port.host.observe?.(this.#runner.id, command);
      case "send":
      case "message.answer":
      case "wake.deliver":
      case "env.load":
      case "engine.run":
      case "engine.cancel":
      case "process.observe":
      case "deletion.report":
        return this.#begin(() => this.among.perform(command));
      default:
        return this.#runner.lose(`this runtime can not perform ${command.type} yet`);
    }
  }

  #execute(command: Of<"tool.execute">): Promise<void> {
    return this.#offers.isClientSide(command) ? this.#offers.execute(command) : this.#bodies.execute(command);
  }

  async #check({ call, tool_id: toolId, args }: Of<"args.check">): Promise<void> {
    const tool = this.#port.tool(toolId);
    if (tool === undefined) return void this.#tell({ type: "args.checked", call, verdict: { verdict: "no_contract" } });
    const checked = await checkArgs(tool, args);
    const args_hash = stableHash(args);
    const verdict = E.isRight(checked)
      ? { verdict: "valid" as const }
      : { verdict: "invalid" as const, message: checked.left };
    this.#tell({ type: "args.checked", call, args_hash, verdict });
  }

  async #prepare({ call, tool_id, args }: Of<"tool.prepare">): Promise<void> {
    const tool = this.#port.tool(tool_id);
    const checked = tool === undefined ? E.left("gone") : await checkArgs(tool, args);
    const payload = E.isRight(checked) ? ((await tool?.prepare?.(checked.right)) ?? null) : null;
    this.#tell({
      type: "call.prepared",
      call,
      preparation: { type: "prepared", tool_id, args, args_hash: stableHash(args), payload },
    });
  }

  async #askHost({ call, key, name, input }: Of<"host.request">): Promise<void> {
    const { request } = this.#port.host;
    const unhandled = { code: "host_request_unhandled", message: `the host answers no requests \`${name}\`` };
    if (request === undefined) {
      return void this.#tell({ type: "host.answered", call, key, result: { status: "err", error: unhandled } });
    }
    try {
      const value = await request(name, input, `${call}:${key}`);
      this.#tell({ type: "host.answered", call, key, result: { status: "ok", value } });
    } catch (thrown) {
      this.#tell({ type: "host.answered", call, key, result: { status: "err", error: errorOf(thrown) } });
    }
  }

  /** Opens the scope in its log, and goes on with what was under way. A process loads its tools itself. */
  async open(opened: Event, catalog: Event): Promise<void> {
    this.#runner.open(opened);
    this.#offers.opened();
    if (this.#runner.id.startsWith("process:")) return this.#runner.settled();
    await this.report(catalog);
  }
}
