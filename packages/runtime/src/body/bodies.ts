/** The bodies of a scope: started, fed with answers, and ended with their calls. */
import type { CommandOf, CallRef, Command, Event, State } from "@pawl/sansio-core";
import { bodyOf, hasRule, refusalIn, type CallIn } from "@pawl/sansio-core/driver";
import { stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { BodyRun } from "./body-run.ts";
import { type RunTerms, leftBy, recordEnd } from "./body-end.ts";
import { type BodyPort, bodyPort } from "./body-port.ts";
import { type Answer, type RunId, RequestQueue, withPatches } from "./record.ts";
import { divergedEvent } from "./divergence.ts";
import { secretFor, secretsAt } from "../host/secret.ts";
import { type HostSide, completionKeyId, placeOf, reportUnheard } from "../host/host.ts";
import { answeredConnection, ParkedCalls } from "../host/connection.ts";
import { toolContext } from "./facet/context.ts";
import type { CallFacts } from "./facet/facet.ts";
import type { HostRequest } from "../host/host-request.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import { type News, type RecordedRun, type RecordedRunPort, recordedRunOf, shownEventAt } from "./replay.ts";
import { type InContext, anyContext } from "../platform.ts";
import { resolvedIn, resultIn } from "./recorded-result.ts";
import type { Ending } from "../host/outcome.ts";
import { type ScopeOfCall, bodyResult, callFacts, runTool } from "./run-tool.ts";
import type { Cause, ScopeRunner } from "../scope/runner.ts";
import type { Instance } from "../session/instance.ts";
import type { ScopeStore } from "../scope/scope-store.ts";

type RunningRow = CallIn<"running">;
/** The parts of a scope that its bodies work with. */
export interface BodiesScope extends ScopeOfCall {
  /** Asks the host for what a body waits for, unless it is at it. */
  readonly askHost: (request: HostRequest) => void;
  /** Returns the async context in which a request was made, while its maker waits here. */
  readonly contextOf: (request: string) => InContext | undefined;
}

export class Bodies {
  readonly #instance: Instance;
  readonly #store: ScopeStore;
  readonly #side: HostSide;
  readonly #scope: BodiesScope;
  readonly #runner: ScopeRunner;
  readonly #bodyPort: BodyPort;
  readonly #runs = new Map<CallRef, BodyRun>();
  readonly #requests = new RequestQueue();
  /** Runs whose record is being read. */
  readonly #starting = new Set<Command>();
  /** The calls as they were when runs were asked last to leave memory. */
  #restedWith: State["calls"] | undefined;

  constructor(instance: Instance, store: ScopeStore, side: HostSide, scope: BodiesScope) {
    this.#instance = instance;
    this.#store = store;
    this.#side = side;
    this.#scope = scope;
    this.#runner = scope.runner;
    const suspend = (id: RunId): boolean => this.#suspend(id);
    const diverged = (...of: Parameters<BodyPort["diverge"]>): Promise<Event> =>
      divergedEvent(this.#recordedRunPort, side.versions, ...of);
    this.#bodyPort = bodyPort(instance, { ...scope, requests: this.#requests, suspend, diverged });
  }

  get #parked(): ParkedCalls {
    const eventAt = (seq: number): Promise<Event> => shownEventAt(this.#recordedRunPort, seq);
    return new ParkedCalls(this.#runner, this.#instance.owner, this.#side.host, eventAt);
  }

  /** Tells the host which connections calls are parked for. */
  askParked(): void {
    this.#parked.askAll();
  }

  get #recordedRunPort(): RecordedRunPort {
    const { readLines, values } = this.#store;
    return { runner: this.#runner, readLines, values };
  }

  get #state(): State {
    return this.#runner.state;
  }
  at(call: CallRef): BodyRun | undefined {
    return this.#runs.get(call);
  }

  /** True if none runs, and none is about to. */
  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.#starting.size === 0;
  }

  /** Delivers one answer to each body that has one due. */
  deliverNext(): boolean {
    let delivered = false;
    for (const run of this.#runs.values()) if (run.deliverNext()) delivered = true;
    return delivered;
  }

  /** Tells what `deliverNext` would deliver. */
  get news(): News {
    for (const { news } of this.#runs.values()) if (news !== "none") return this.#runs.size > 1 ? "some" : news;
    return "none";
  }

  end(call: CallRef): void {
    this.#runs.get(call)?.end();
    this.#runs.delete(call);
    this.#requests.forget(call);
  }

  endAll(): void {
    for (const run of this.#runs.values()) run.end();
    this.#runs.clear();
    this.#requests.forgetAll();
  }

  /** Begins the run that a command asks for. A later run is recorded before it starts. */
  async execute(command: CommandOf<"tool.execute">): Promise<void> {
    this.#starting.add(command);
    try {
      await this.#execute(command);
    } finally {
      this.#starting.delete(command);
    }
  }

  async #execute(command: CommandOf<"tool.execute">): Promise<void> {
    const { call, attempt, run, cause, tool_id: toolId } = command;
    const begins = this.#scope.processApi.begins(command);
    if (begins !== undefined && !(await begins)) return;
    const connection = answeredConnection(this.#state.calls.at(call));
    if (connection !== undefined) return this.#parked.resume(command, connection);
    if (cause !== undefined) {
      const version = this.#side.versions.ofRun(this.#state, toolId);
      this.#runner.apply({ type: "call.resumed", call, attempt, run, cause, owner: this.#instance.owner, ...version });
      await this.#runner.whenDurable();
    }
    const tool = this.#side.tool(toolId);
    if (tool === undefined) return void this.#runner.apply({ type: "call.executor_missing", call, attempt, run });
    if (command.recovery === "externally_owned") {
      this.#handOut({ call, attempt, run }, completionKeyId(this.#facts(command)));
      await this.#runner.whenDurable(); // Were its owner lost, the call would be parked on this key.
    }
    await this.#begin(command, tool);
  }

  #handOut(run: RunId, key: string): void {
    const row = this.#state.calls.at(run.call);
    if (row?.phase === "running" && row.key === key) return;
    this.#runner.apply({ type: "call.dispatched", ...run, owner: this.#instance.owner, key });
  }

  /** Reads the record of the run, and reads it again if an effect settled meanwhile. */
  async #begin(command: CommandOf<"tool.execute">, tool: LiveTool): Promise<void> {
    const begunAt = this.#instance.platform.monotonic();
    const before = this.#current(command);
    const past = await recordedRunOf(this.#recordedRunPort, command.call, command.attempt);
    const now = this.#current(command);
    if (now === undefined) return;
    if (now.body !== before?.body) return this.#begin(command, tool);
    const maySuspend = command.recovery === "rerunnable" && tool.manifest.suspend;
    await this.#run(command, tool, past, { begunAt, maySuspend, inContext: this.#contextOf(command.call) });
  }

  /** Returns the row of a run, while it is the current one of its call, and the scope is not lost. */
  #current({ call, attempt, run }: CommandOf<"tool.execute">): RunningRow | undefined {
    const row = this.#runner.isAbandoned ? undefined : this.#state.calls.at(call);
    return row?.phase === "running" && row.body.attempt === attempt && row.body.run === run ? row : undefined;
  }

  async #run(command: CommandOf<"tool.execute">, tool: LiveTool, past: RecordedRun, terms: RunTerms): Promise<void> {
    const { call, attempt, run } = command;
    this.#starting.delete(command);
    this.end(call);
    const body = new BodyRun({ call, attempt, run }, this.#bodyPort, past, terms);
    this.#runs.set(call, body);
    const cancelled = this.#current(command)?.cancelled;
    if (cancelled !== undefined) body.enqueueCancel({ seq: cancelled.seq, index: -1 });
    this.#runner.schedule();
    const facts = this.#facts(command);
    const startedAt = this.#instance.platform.monotonic();
    const context = toolContext(body, facts);
    const ending = await runTool(
      this.#side,
      { ...placeOf(this.#state, call), args: command.args },
      () => terms.inContext(() => this.#scope.processApi.execute(tool, command, context, body)),
      body,
      facts.failures,
    );
    if (body.isCancelled) await body.cleanUps.over();
    await body.ended();
    const duration_ms = Math.max(0, Math.round(this.#instance.platform.monotonic() - startedAt));
    if (body.isOver) return this.#overWithout(body, ending, duration_ms);
    const left = this.#leave(call, facts);
    if (ending.type === "connection") return this.#parked.park(command, facts, ending.provider);
    const result = bodyResult(body, facts, ending.result);
    const settled = { type: "call.settled", call, attempt, run, result, duration_ms, ...left } as const;
    await recordEnd(this.#runner, withPatches(settled, body.patches.take()));
  }

  /** Returns the context of whoever made the request of a call; with nobody here, one that has nothing of any request. */
  #contextOf(call: CallRef): InContext {
    const { request = "" } = this.#state.calls.at(call)?.call ?? {};
    return this.#scope.contextOf(request) ?? this.#instance.platform.contexts?.root ?? anyContext;
  }

  /** Ends the run of a body that has ended. Names what it leaves, and tells the host of failures that it never looked at. */
  #leave(call: CallRef, { failures }: CallFacts): { readonly left?: readonly string[] } {
    const left = leftBy(this.#state, call);
    if (left !== undefined) reportUnheard(this.#side.host, placeOf(this.#state, call), failures.unheard);
    this.end(call);
    return left === undefined || left.length === 0 ? {} : { left };
  }

  /** Tells bodies whose functions have ended to look whether they may end now. */
  review(): void {
    for (const end of this.#bodyPort.ending) end.review();
  }

  /** Drops the outcome of a run that was ended. One that came after the grace of a cancel is shown to observers. */
  #overWithout({ id, isCancelled }: BodyRun, ending: Ending, duration_ms: number): void {
    const phase = this.#state.calls.at(id.call)?.phase;
    const isLate = isCancelled && (phase === "completed" || phase === "finishing") && !this.#runner.isAbandoned;
    if (!isLate || ending.type !== "result" || ending.result.type !== "done") return;
    this.#runner.apply({ type: "call.settled_late", ...id, output: ending.result.output, duration_ms });
  }

  #facts(command: CommandOf<"tool.execute">): CallFacts {
    const { call, attempt, run } = command;
    const facts: CallFacts = callFacts(this.#side, this.#scope, command, {
      secret: (name) => secretFor(this.#state, secretsAt(this.#side, this.#store), name, this.#instance.open),
      handOut: (key) => this.#handOut({ call, attempt, run }, key),
      continueAs: (args, signals) => {
        const left = this.#leave(call, facts);
        const hasLives = hasRule(this.#state.scope.protocol, "lives");
        const life = hasLives ? { args_hash: stableHash(args), signals } : {};
        void recordEnd(this.#runner, { type: "call.continued", call, attempt, run, args, ...life, ...left });
      },
    });
    return facts;
  }

  /** Tries again the requests that found their link full. */
  askAgain(): void {
    this.#requests.again();
  }

  /** Suspends a run if the core finds that it waits for records alone. A value that is being read may be its answer. */
  #suspend({ call, ...run }: RunId): boolean {
    if (!this.#store.values.isEmpty) {
      this.#restedWith = undefined; // Tried again at the next rest.
      return false;
    }
    const link = this.#requests.linkOf(call);
    const room = link === undefined ? {} : { link };
    if (E.isLeft(this.#runner.apply({ type: "call.suspended", call, ...run, ...room }))) return false;
    this.end(call as CallRef);
    this.#scope.processApi.suspended(call as CallRef);
    return true;
  }

  /**
   * Suspends what had to stay when it was quiet, and may leave now. Called whenever the scope is at rest: of a chain of
   * callers the lowest leaves first, and with that the next one may.
   */
  retryRest(): void {
    const { calls } = this.#state;
    if (calls === this.#restedWith) return;
    this.#restedWith = calls;
    this.#requests.again();
    for (const run of this.#runs.values()) run.rest.retry();
  }

  /**
   * Returns the answer to a body that runs. The value is the one that the event was applied with; that of a wait may stand
   * in its row alone, and is then in its stored form (`isRecorded`).
   */
  answerOf(
    { call, key, seq, index, value }: CommandOf<"step.answer">,
    cause: Cause,
  ): { readonly answer: Answer; readonly isRecorded: boolean } | undefined {
    const run = this.#runs.get(call);
    const row = this.#state.calls.at(call);
    const body = row === undefined ? undefined : bodyOf(row);
    const effect = body?.settled.get(key);
    if (run === undefined || effect === undefined) return undefined;
    const { process, scope } = this.#state;
    const isNew = value === cause.seq;
    const refused = refusalIn(scope.protocol, body?.life);
    const earlier = isNew ? undefined : run.earlier(key);
    const told = isNew ? resultIn(cause.event, key, effect, process, refused) : earlier?.result;
    const result = told ?? resolvedIn(this.#state, key, effect);
    const at = effect.first === undefined ? cause.at : (earlier?.at ?? cause.at);
    const answer = { key, seq, index, at, result, winner: effect.winner, chunks: earlier?.chunks };
    return { answer, isRecorded: told === undefined };
  }
}
