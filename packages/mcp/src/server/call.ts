/**
 * `tools/call`: a request of the caller's session, submitted before anything is answered.
 *
 *   submitted ─▶ ended in time ───────────────▶ the result
 *        │  ─▶ has a question ───▶ asked here ─▶ `input_required`, with a state that finds the request again
 *        │                  └───▶ or by a task ─▶ the handle
 *        └──▶ takes longer ──▶ a client with tasks ─▶ the handle; without, it waits and hears of progress
 *
 * A handle is answered once the submission is durable and no sooner. A call that is repeated after its answer was lost joins
 * the first one, where its client has named it by an idempotency key.
 */
import {
  type CallToolResult,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
} from "@modelcontextprotocol/server";
import type { Replies, Session } from "@pawl/runtime";
import { type Json, isObject, stableHash } from "@pawl/tool-value";
import { endedOf, resultOfEnd } from "./content.ts";
import { type ToolPolicy, sessionOf, shownTo } from "./options.ts";
import {
  type Client,
  type RequestPlace,
  type ServerPort,
  acknowledge,
  admit,
  contentPort,
  mayApprove,
  schemaOf,
} from "./port.ts";
import { type InputQuestion, canAnswer, questionsOf, requestsOf, takeAnswers } from "./question.ts";
import { type TaskHandle, handleOf } from "./task-view.ts";
import { argsOf, hasOutputSchema, type ShownTool } from "./tool-list.ts";
import type { ProgressReport } from "./watch.ts";
import { tasksExtension } from "./wire.ts";

/** A call as a client makes it. */
export interface AskedCall {
  readonly client: Client;
  readonly name: string;
  readonly args: Json;
  /** Names the call over repetitions. */
  readonly key?: string | undefined;
  /** The state of a call that has asked for input before. */
  readonly state?: string | undefined;
  readonly answers: ReadonlyMap<string, Json>;
  readonly signal: AbortSignal;
  readonly progress?: ((report: ProgressReport) => void) | undefined;
}

export type CallAnswer =
  | (CallToolResult & { readonly resultType?: "complete" })
  | { readonly resultType: "input_required"; readonly inputRequests: object; readonly requestState: string }
  | TaskHandle;

const tasksNeeded: ClientCapabilities = { extensions: { [tasksExtension]: {} } };

const missingOf = (needs: ClientCapabilities, declared: ClientCapabilities): ClientCapabilities | undefined => {
  const missing = Object.entries(needs).filter(
    ([name]) => !isObject(declared[name as keyof ClientCapabilities] as Json),
  );
  return missing.length === 0 ? undefined : (Object.fromEntries(missing) as ClientCapabilities);
};

const admitClient = ({ task, needs = {} }: ToolPolicy, { capabilities, hasTasks }: Client): void => {
  const requiredCapabilities =
    missingOf(needs, capabilities) ?? (task === "required" && !hasTasks ? tasksNeeded : undefined);
  if (requiredCapabilities !== undefined) throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
};

/** One call until it is answered. */
class CallInProgress {
  readonly #port: ServerPort;
  readonly #asked: AskedCall;
  readonly #policy: ToolPolicy;
  readonly #place: RequestPlace;
  readonly #answers: Map<string, Json>;
  #wake: () => void = () => undefined;
  #news = Promise.resolve();
  #replies: Replies | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #isSubmitted = false;

  constructor(port: ServerPort, asked: AskedCall, policy: ToolPolicy, place: RequestPlace) {
    this.#port = port;
    this.#asked = asked;
    this.#policy = policy;
    this.#place = place;
    this.#answers = new Map(asked.answers);
    this.#rearm();
  }

  /** Its questions are asked by the call itself, which has not asked any yet. */
  get #asksFirst(): boolean {
    return this.#policy.ask === "call" && this.#asked.state === undefined;
  }

  /** Says whether a call that is always a task has its handle due, however soon it ends: once it took what it brought. */
  #isHandleDue(isOver: boolean): boolean {
    const { task } = this.#policy;
    const isAlways = this.#asked.client.hasTasks && (task === "always" || task === "required");
    return isAlways && (isOver || (!this.#asksFirst && this.#answers.size === 0));
  }

  #rearm(): void {
    this.#news = new Promise((resolve) => (this.#wake = resolve));
  }

  /** Submits the call, or joins it, and answers it. */
  async run(args: Json, tool: ShownTool | undefined): Promise<CallAnswer> {
    const { session, request } = this.#place;
    const { progress } = this.#asked;
    const stop = await this.#port.watches.watch(session, request, (news) => {
      if (news.type === "progress") progress?.(news.progress);
      else this.#wake();
    });
    const waiting = new AbortController();
    try {
      this.#wait(await this.#port.runtime.session(session), args, waiting.signal);
      return await this.#answer(tool);
    } finally {
      waiting.abort();
      stop();
    }
  }

  #wait(session: Session, args: Json, signal: AbortSignal): void {
    const { request, tool } = this.#place;
    const { state, client } = this.#asked;
    const submitted = (): void => {
      this.#isSubmitted = true;
      this.#wake();
    };
    const how = { keep: true, signal, submitted };
    const replies =
      state === undefined
        ? session.request(request, [{ tool, args }], { ...how, by: client.caller.by })
        : session.replies(request, how);
    if (state !== undefined) submitted();
    replies.then(
      (replied) => {
        this.#replies = replied;
        this.#wake();
      },
      (thrown: unknown) => {
        this.#failure = { thrown };
        this.#wake();
      },
    );
  }

  async #answer(tool: ShownTool | undefined): Promise<CallAnswer> {
    const isOver = this.#timer();
    for (;;) {
      this.#rearm();
      const news = this.#news;
      if (this.#asked.signal.aborted) return this.#abandoned();
      if (this.#failure !== undefined) throw this.#failure.thrown;
      if (this.#isSubmitted && this.#isHandleDue(isOver.now)) return this.#handle();
      if (this.#replies !== undefined) return this.#result(this.#replies, tool);
      const answer = this.#isSubmitted ? await this.#unfinished(isOver.now) : undefined;
      if (answer !== undefined && this.#replies === undefined) return answer;
      if (answer === undefined) await news;
    }
  }

  /** Wakes the call when it has taken as long as a call may take that is answered at once. */
  #timer(): { now: boolean } {
    const isOver = { now: false };
    const timer = setTimeout(() => {
      isOver.now = true;
      this.#wake();
    }, this.#port.settings.immediateMs);
    timer.unref?.();
    const stop = (): void => {
      clearTimeout(timer);
      this.#wake();
    };
    this.#asked.signal.addEventListener("abort", stop, { once: true });
    return isOver;
  }

  /** Answers a call that has not ended: with a question, or with a handle; undefined where it is waited for. */
  async #unfinished(isOver: boolean): Promise<CallAnswer | undefined> {
    const { client } = this.#asked;
    const hasTask = client.hasTasks && this.#policy.task !== "never";
    const questions = await this.#questions();
    if (questions.length > 0 && (!hasTask || this.#asksFirst)) return this.#input(questions);
    return hasTask && (isOver || questions.length > 0 || this.#isHandleDue(isOver)) ? this.#handle() : undefined;
  }

  /** Lists what the client may be asked, once the answers that it brought are taken. */
  async #questions(): Promise<readonly InputQuestion[]> {
    const { client } = this.#asked;
    const { session: name, request } = this.#place;
    const session = await this.#port.runtime.session(name);
    if (!mayApprove(client.caller, name)) return [];
    const all = await questionsOf(session, request, schemaOf(this.#port.runtime));
    const { taken, problems } = await takeAnswers(all, this.#answers, client.caller.by);
    for (const key of this.#answers.keys()) if (all.some((one) => one.key === key)) this.#answers.delete(key);
    if (problems.length > 0) throw new ProtocolError(ProtocolErrorCode.InvalidParams, problems.join("; "));
    return all.filter((one) => !taken.includes(one.key) && canAnswer(one, client.capabilities));
  }

  /** Asks the client, with a state that is another one for each round. */
  #input(questions: readonly InputQuestion[]): CallAnswer {
    const { session, request, tool } = this.#place;
    const round = stableHash(questions.map(({ key }) => key)).slice(0, 12);
    const requestState = this.#port.tokens.sign("state", this.#asked.client.caller.by, [session, request, tool, round]);
    return { resultType: "input_required", inputRequests: requestsOf(questions), requestState };
  }

  async #handle(): Promise<CallAnswer> {
    return handleOf(this.#port, this.#asked.client, this.#place);
  }

  async #result(replies: Replies, tool: ShownTool | undefined): Promise<CallAnswer> {
    const [reply] = replies;
    if (reply === undefined) throw new Error(`request ${this.#place.request} has no reply`);
    const { client } = this.#asked;
    const isStructured = tool !== undefined && hasOutputSchema(tool, client.isModern);
    const ended = await endedOf(reply, contentPort(this.#port, client.caller), isStructured);
    acknowledge(this.#port, this.#place);
    return resultOfEnd(ended);
  }

  /**
   * Ends for a client that wants no answer any more. A call without a key, to which nobody can come back, is cancelled. A
   * connection that broke says nothing of what its client wants: the call goes on.
   */
  async #abandoned(): Promise<never> {
    const { session: name, request } = this.#place;
    const { client, key, signal } = this.#asked;
    const { by } = client.caller;
    const isBroken = signal.reason instanceof SdkError && signal.reason.code === SdkErrorCode.ConnectionClosed;
    if (key === undefined && !isBroken && this.#isSubmitted && this.#replies === undefined) {
      const session = await this.#port.runtime.session(name);
      if (session.state.requests.at(request)?.phase === "running") await session.cancel({ request }, by);
    }
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, "the client has gone");
  }
}

const unknownTool = (name: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);

/** Names a new request, or the one that a key stands for. */
const placeOf = ({ settings }: ServerPort, { client: { caller }, name, key }: AskedCall): RequestPlace => ({
  session: sessionOf(settings, caller),
  request: key === undefined ? `mcp-${crypto.randomUUID()}` : `mcp-${stableHash([caller.by, key]).slice(0, 32)}`,
  tool: name,
});

/** Finds the request that a state names. */
const placeOfState = ({ tokens }: ServerPort, { client, name }: AskedCall, state: string): RequestPlace => {
  const [session, request, tool] = tokens.read("state", client.caller.by, state) ?? [];
  if (session !== undefined && request !== undefined && tool === name) return { session, request, tool };
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "requestState: expected the state that this server has given to this caller",
  );
};

/** Calls a tool for a client. */
export const callTool = async (port: ServerPort, asked: AskedCall): Promise<CallAnswer> => {
  const { client, name, state, args } = asked;
  const tool = shownTo(port.runtime, port.settings, client.caller).find((shown) => shown.name === name);
  if (tool === undefined) throw unknownTool(name);
  const { [name]: policy = {} } = port.settings.tools ?? {};
  admitClient(policy, client);
  const place = state === undefined ? placeOf(port, asked) : placeOfState(port, asked, state);
  admit(client.caller, "call", place.session);
  return new CallInProgress(port, asked, policy, place).run(argsOf(tool, args), tool);
};
