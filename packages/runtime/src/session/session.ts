/** One scope with its bodies: performs what the core asks for, and tells it what happened. */
import type { Command, Event, Finished, Recorded, Reply, RequestedCall, State, Tool } from "@pawl/sansio-core";
import type { FlowEnd } from "@pawl/sansio-core/driver";
import type { Resolution } from "@pawl/tool-value";
import { Bodies } from "../body/bodies.ts";
import { type Access, record } from "../scope/access.ts";
import { type ApprovalWanted, approvalsIn } from "./approval.ts";
import type { BlobReader } from "../journal/blob.ts";
import { type Target, cancel } from "./cancel.ts";
import { type ConnectionAnswer, answerOfHost } from "../host/connection.ts";
import { type Approval, type Rejecting, approve, reject } from "./approval-decision.ts";
import { ApprovalEdits } from "./approval-edit.ts";
import { ScopeLost, stackOf } from "../error.ts";
import { type FlowSubmission, lambdaApplied } from "./flow.ts";
import { follow, held } from "./follow.ts";
import { Leaving } from "../move/quiesce.ts";
import { FinishedIndex } from "../scope/finished.ts";
import { ScopeLinks } from "../process/scope-links.ts";
import { publish } from "./catalog.ts";
import { Questions, hostWork, isQuestion } from "../host/question.ts";
import { type ObserveOptions, Observers, type Subscription } from "./observe/observer.ts";
import { Offers } from "./executor/offer.ts";
import { type Cause, ScopeRunner } from "../scope/runner.ts";
import { type CallOptions, type Callers, Requests, type Waiting } from "./request.ts";
import { type Resolved, resolveKey, resolveToken } from "./resolve.ts";
import type { SessionPort } from "./session-port.ts";
import { inlining } from "../scope/inline.ts";
import { Snapshots } from "../scope/snapshots.ts";
import { UnderWay, endedIn, isAtRest, isClientSide, isOffered } from "./under-way.ts";

/** A scope, as its host works with it: a session, or a process. */
export class Session {
  readonly #port: SessionPort;
  readonly #runner: ScopeRunner;
  readonly #bodies: Bodies;
  readonly #finished: FinishedIndex;
  readonly #access: Access;
  readonly #requests: Requests;
  /** The calls of it that executors run. @internal */
  readonly offers: Offers;
  readonly #approvalEdits = new ApprovalEdits();
  readonly #questions = new Questions(
    () => hostWork(this.#port, this.#observers, this),
    () => this.state,
  );
  /** How it leaves for another host. @internal */
  readonly leaving: Leaving;
  readonly #observers: Observers;
  /** What it has to do with other scopes, and with processes. @internal */
  readonly scopeLinks: ScopeLinks;
  /** Where the large values are that its log names; undefined where they stay in it. */
  readonly blobs: BlobReader | undefined;
  readonly #snapshots: Snapshots;
  readonly #underWay = new UnderWay(() => this.#runner.schedule());
  #hasLeft = false;
  #isClosing = false;

  /** @internal */ constructor(state: State, epoch: number, port: SessionPort) {
    this.#port = port;
    this.blobs = port.values.blobs;
    this.#observers = new Observers(state.scope.id, port, () => this.#runner.schedule());
    this.#bodies = new Bodies(
      { ...port, askHost: (request) => this.#answer(this.#questions.ask(request)) },
      () => this.#runner,
      () => this.scopeLinks.processApi,
      this.#observers,
    );
    this.#runner = new ScopeRunner(state, epoch, {
      ...port,
      durable: (state_, characters) => this.#snapshots.note(state_, characters),
      rest: () => port.rest(this),
      deliver: () => this.leaving.turn(() => this.#bodies.deliverNext()),
      news: () => this.#bodies.news,
      stepped: (cause, commands, finished) => this.#stepped(cause, commands, finished),
      perform: inlining({
        values: port.values,
        state: () => this.state,
        bodies: this.#bodies,
        perform: (command, cause) => this.#perform(command, cause),
        schedule: () => this.#runner.schedule(),
        fail: this.#fail,
      }),
      lost: (why) => this.#lost(why),
    });
    const find = this.#underWay.counted(port.find);
    this.#finished = new FinishedIndex(find, () => this.#runner.durable.seq, { isNew: state.seq === 0 });
    this.leaving = new Leaving(this.#runner, port);
    const readLines = this.#underWay.counted(port.readLines);
    this.#access = { ...port, runner: this.#runner, finished: this.#finished, readLines };
    this.#requests = new Requests(this.#access, port.callers, port.admission);
    this.offers = new Offers(this.#access, this.#observers, port);
    this.scopeLinks = new ScopeLinks(this.#access, port, () => this.#bodies.askAgain(), this.#observers);
    this.#snapshots = new Snapshots({ ...port, ...port.snapshots, taken: () => this.#runner.schedule() }, port.opened);
  }

  /** @internal */ get runner(): ScopeRunner {
    return this.#runner;
  }
  get state(): State {
    return this.#runner.state;
  }

  /** Whether memory holds nothing of the scope but what its log says, and those who wait for replies. @internal */
  get isIdle(): boolean {
    const { isAbandoned, isAwaited, isDurable } = this.#runner;
    const { values } = this.#port;
    const parts = [this.#bodies, this.#approvalEdits, this.scopeLinks, this.#observers, values, this.#snapshots];
    if (isAbandoned || isAwaited || !isDurable || !this.#underWay.isEmpty) return false;
    return parts.every(({ isEmpty }) => isEmpty) && isAtRest(this.state);
  }

  /** Leaves memory; who waits for replies waits on. @internal */
  leave(): Callers {
    this.#hasLeft = true;
    this.#runner.leave();
    this.#snapshots.stop();
    return this.#requests.leave();
  }

  /** Ends all bodies, with nothing recorded of it; resolves when all that was stepped is durable. @internal */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#bodies.endAll();
    if (!this.#hasLeft) await this.#runner.close();
  }

  /** In this session, or if it has left memory, in the one that has come after it. */
  #live<A>(act: (session: Session) => Promise<A>): Promise<A> {
    return this.#hasLeft ? this.#port.reopen().then(act) : act(this);
  }

  /** Does something with the scope that a host asks for. */
  #with<A>(act: (session: Session) => Promise<A>): Promise<A> {
    const { refusal } = this.#port.shutdown;
    return refusal === undefined ? this.#live(act) : Promise.reject(refusal);
  }

  /** Tells an event of the host's, and waits until it is durable. */
  report(event: Event): Promise<void> {
    return this.#with((live) => record(live.#access, event));
  }

  /** Submits calls and waits for their replies. The same request again joins it, or is answered as it was. */
  call(request: string, calls: readonly RequestedCall[], how: CallOptions = {}): Promise<readonly Reply[]> {
    return this.#with((live) => live.leaving.refusal ?? live.#requests.submit({ ...how, request, calls }, how));
  }

  /** Submits a flow and waits for its end. The same flow again joins it, or is answered as it was. */
  flow(given: FlowSubmission, waiting: Waiting = {}): Promise<FlowEnd> {
    return this.#with((live) => live.leaving.refusal ?? live.#requests.flow(live.#port, given, waiting));
  }

  /** The replies of a request that was submitted before. */
  replies(request: string, waiting: Waiting = {}): Promise<readonly Reply[]> {
    return this.#with((live) => live.#requests.replies(request, waiting));
  }

  /** Whoever took a request's replies, and wanted them kept, has them for good. */
  acknowledge(request: string): Promise<void> {
    return this.#with((live) => live.#requests.acknowledge(request));
  }

  /** Resolves the key that a token was made for. */
  resolve(token: string, resolution: Resolution, by?: string, id?: string): Promise<Resolved> {
    return this.#with((live) => resolveToken(live.#access, live.#port, token, { resolution, by, id }));
  }

  /** An operator resolves a key that is waited for. */
  resolveById(key: string, resolution: Resolution, by: string, id?: string): Promise<Resolved> {
    return this.#with((live) => resolveKey(live.#access, { key, resolution, by, id }, false));
  }

  /** The log after a cursor, and on as it grows. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
    yield* await this.#with(async (live) => held(live.#underWay, follow(live.#access, after, signal), signal));
  }

  /** The calls that wait for a person's word, oldest first. */
  approvals(): Promise<readonly ApprovalWanted[]> {
    return this.#with((live) => approvalsIn(live.#access));
  }

  approve(call: string, approval: Approval): Promise<void> {
    return this.#with((live) => approve(live.#access, live.#approvalEdits, call, approval));
  }

  reject(call: string, rejecting: Rejecting): Promise<void> {
    return this.#with((live) => reject(live.#access, live.#approvalEdits, call, rejecting));
  }

  cancel(target: Target, by?: string, again = false): Promise<void> {
    return this.#with((live) => cancel(live.#access, target, by, again));
  }

  #stepped(cause: Cause, commands: readonly Command[], finished: readonly Finished[]): void {
    this.#finished.note(finished, cause.seq);
    this.#approvalEdits.stepped(this.state, cause.event);
    for (const call of endedIn(commands)) {
      this.#bodies.end(call);
      this.offers.ended(call);
    }
    this.#observers.stepped(cause, commands, this.#runner);
  }

  #lost(why: string): void {
    this.leaving.abandon(why);
    this.#bodies.endAll();
    this.#snapshots.stop();
    this.#requests.abandon(new ScopeLost(why));
    this.#approvalEdits.abandon(why);
    this.#port.executors.forget(this.#runner.id);
    this.scopeLinks.abandon(why);
    this.#observers.end(new ScopeLost(`scope ${this.#runner.id} was lost: ${why}`));
    this.#port.lost();
  }

  /** Work that takes its time, and for which the scope stays in memory. */
  #begin(work: () => Promise<void>): void {
    this.#guard(this.#underWay.during(work()));
  }

  /** What goes wrong in it is the interpreter's fault, and costs the scope. */
  #guard(work: Promise<void>): void {
    void work.catch(this.#fail);
  }

  readonly #fail = (thrown: unknown): void => this.#runner.abandon(stackOf(thrown));

  #perform(command: Command, cause: Cause): void {
    const isStill = this.#isClosing || this.state.scope.status.type !== "open"; // Its next owner is asked again.
    if (isStill && command.type !== "reply" && command.type !== "observe") return;
    switch (command.type) {
      case "tool.execute": {
        const isElsewhere = isClientSide(this.state, command);
        return this.#guard(isElsewhere ? this.offers.execute(command) : this.#bodies.execute(command));
      }
      case "tool.cancel":
        this.offers.cancel({ call: command.call, attempt: command.attempt, run: command.run });
        this.#bodies.at(command.call)?.enqueueCancel({ seq: cause.seq, index: -1 });
        return this.#runner.schedule();
      case "step.run":
        return this.#bodies.at(command.call)?.perform(command.key);
      case "step.answer":
        return; // The body has heard it, with its values.
      case "replies.record":
        return this.#answer(Promise.resolve({ ...command, type: "replies.recorded" }));
      case "reply":
        return this.#requests.take(command);
      case "lambda.apply":
        return this.#answer(lambdaApplied(this.#port.host.flow, command));
      case "flow.observe":
        return this.#port.host.flow?.observe?.(this.#runner.id, command.request, command.event);
      case "observe":
        return this.#port.host.observe?.(this.#runner.id, command);
      default:
        if (isQuestion(command)) return this.#answer(this.#questions.ask(command, cause.seq));
        return this.#begin(() => this.scopeLinks.perform(command));
    }
  }

  /** What somebody says of it goes into the log. */
  #answer(answer: Promise<Event | undefined>): void {
    this.#begin(async () => {
      const event = await answer;
      if (event !== undefined) this.#runner.apply(event);
    });
  }

  /** Opens the scope in its log, and goes on with what was under way. A process loads its tools itself. @internal */
  async open(opened: Event, tools: readonly Tool[]): Promise<void> {
    this.#runner.open(opened);
    if (this.state.calls.some(isOffered)) this.offers.opened();
    await (this.#runner.id.startsWith("process:") ? this.#runner.whenDurable() : this.publish(tools));
    this.#bodies.askParked();
  }

  /** Says which tools there are, where it is news; calls whose tool is back go on. @internal */
  publish(tools: readonly Tool[]): Promise<void> {
    return this.#live((live) => publish(live.#access, tools));
  }

  /** What happens in this scope: from the cursor that was seen last, or from now on. Leave it by `return()` or `break`. */
  observe(options: ObserveOptions = {}): Subscription {
    this.#port.shutdown.pass();
    const { id, isAbandoned } = this.#runner;
    const gone = this.#hasLeft ? "has left memory" : "was lost";
    if (isAbandoned) throw new ScopeLost(`scope ${id} ${gone}: ask the runtime for it again`);
    return this.#observers.watch(this.#access, options);
  }

  /** The host's answer to a call that is parked for a connection. */
  connect(call: string, answer: ConnectionAnswer, by?: string): Promise<void> {
    return this.#with(async (live) => record(live.#access, answerOfHost(live.state, call, answer, by)));
  }
}
