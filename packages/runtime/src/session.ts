/** One scope with its bodies: performs what the core asks for, and tells it what happened. */
import {
  type Command,
  type Event,
  type Finished,
  type Rejection,
  type Reply,
  type RequestedCall,
  type State,
} from "@pawl/sansio-core";
import { type Json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Bodies } from "./bodies.ts";
import type { Patience } from "./body.ts";
import { Refused } from "./error.ts";
import type { Append, AppendResult, JournalLine } from "./journal.ts";
import type { Platform } from "./platform.ts";
import { type Cause, ScopeRunner } from "./scope.ts";
import type { Roots } from "./token.ts";
import { type ToolDefinition, checkArgs } from "./tool.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** What a host fills in. */
export interface HostPort {
  /** Answers a host request; what it throws is the body's error. */
  readonly request?: (name: string, input: Json, key: string) => Promise<Json>;
  readonly observe?: (scope: string, command: Of<"observe">) => void;
  /** What went wrong inside a tool, which no model is shown. */
  readonly internalError?: (call: string, thrown: unknown) => void;
}

export interface SessionPort {
  readonly platform: Platform;
  readonly owner: string;
  readonly roots: Roots;
  readonly patience: Patience;
  readonly host: HostPort;
  readonly tool: (id: string) => ToolDefinition | undefined;
  readonly append: (append: Append) => Promise<AppendResult>;
  readonly readLines: (from: number) => Promise<readonly JournalLine[]>;
  readonly find: (kind: Finished["kind"], id: string) => Promise<number | undefined>;
  readonly lost: () => void;
}

interface Pending {
  readonly resolve: (replies: readonly Reply[]) => void;
  readonly reject: (error: Error) => void;
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
  readonly #callers = new Map<string, Pending[]>();

  constructor(state: State, epoch: number, port: SessionPort) {
    this.#port = port;
    this.#bodies = new Bodies(port, () => this.#runner);
    this.#runner = new ScopeRunner(state, epoch, {
      platform: port.platform,
      append: port.append,
      deliver: () => this.#bodies.deliver(),
      stepped: (commands) => this.#endBodies(commands),
      perform: (command, cause) => this.#perform(command, cause),
      lost: (why) => this.#lost(why),
    });
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
  async report(event: Event): Promise<void> {
    const result = this.#tell(event);
    await this.#runner.settled();
    if (E.isLeft(result)) throw new Refused(result.left.code, result.left.message);
  }

  /** Submits calls and waits for their replies. The same request again joins it, or is answered from its reply. */
  async call(request: string, calls: readonly RequestedCall[]): Promise<readonly Reply[]> {
    const replies = this.#replies(request);
    const known = await this.#port.find("request", request);
    if (known !== undefined) throw new Refused("gone", `request \`${request}\` was finished by event ${known}`);
    const result = this.#tell({
      type: "request.submitted",
      request,
      hash: stableHash(calls as unknown as Json),
      calls,
    });
    if (E.isLeft(result) && result.left.code !== "request_exists")
      throw new Refused(result.left.code, result.left.message);
    const row = this.state.requests.at(request);
    if (row?.phase === "replying") {
      await this.#runner.settled();
      this.#reply({ type: "reply", request, replies: row.replies, triggers: row.triggers });
    }
    return replies;
  }

  #replies(request: string): Promise<readonly Reply[]> {
    const promise = new Promise<readonly Reply[]>((resolve, reject) => {
      this.#callers.set(request, [...(this.#callers.get(request) ?? []), { resolve, reject }]);
    });
    promise.catch(() => undefined); // A caller that was refused before it waits hears of it by the refusal.
    return promise;
  }

  /** A reply that somebody took is acknowledged; one that nobody waits for stays until it is asked for. */
  #reply({ request, replies }: Of<"reply">): void {
    const callers = this.#callers.get(request) ?? [];
    this.#callers.delete(request);
    for (const { resolve } of callers) resolve(replies);
    if (callers.length > 0 && this.state.requests.at(request)?.phase === "replying")
      this.#tell({ type: "reply.acked", request });
  }

  #endBodies(commands: readonly Command[]): void {
    for (const command of commands) {
      const isEnd = command.type === "observe" && command.what === "call_completed";
      if (isEnd || command.type === "tool.execute") this.#bodies.end(command.call);
    }
  }

  #lost(why: string): void {
    this.#bodies.endAll();
    for (const callers of this.#callers.values())
      for (const { reject } of callers) reject(new Refused("scope_lost", why));
    this.#callers.clear();
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
        return this.#begin(() => this.#bodies.execute(command));
      case "tool.cancel":
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
        return this.#reply(command);
      case "observe":
        return this.#port.host.observe?.(this.#runner.id, command);
      default:
        return this.#runner.lose(`this runtime can not perform ${command.type} yet`);
    }
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

  /** Opens the scope in its log, and goes on with what was under way. */
  async open(opened: Event, catalog: Event): Promise<void> {
    this.#runner.open(opened);
    await this.report(catalog);
  }
}
