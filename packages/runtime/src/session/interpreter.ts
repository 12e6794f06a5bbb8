/**
 * Interprets the commands of one scope in memory: each goes to the part that performs it, and what comes of it goes back
 * into the log as an event. Parts know the runner and not each other.
 *
 *    command                               part            answer
 *    tool.execute, step.run, step.answer   bodies          events of the body, `call.settled`
 *      of a `client_side` tool             offers          `call.dispatched`, `call.settled` by the executor
 *    args.check, tool.prepare, hook.run,
 *    host.request, ...                     questions       the event that answers the question
 *    reply                                 requests        `reply.acked`
 *    place.take                            places          `place.granted`
 *    observe, flow.observe                 the host        none
 *    model.ask, agent.load, ...            turns           `model.answered`, `agent.published`, ...
 *    send, engine.run, permit.take, ...    scope links     messages, events of processes and runs
 *
 * Two orders matter. What bodies hear and what is performed comes in the order of the log: a command whose large values
 * are still being read holds up those behind it (`Values.inOrder`). And a body is ended by `stepped`, before the commands
 * of the same event, so that no answer reaches a body whose call is over.
 *
 * While the session closes, and once the scope has said that it moves, only replies and observations are performed:
 * everything else is the next owner's, who is asked for it again.
 */
import type { CallRef, CommandOf, Command, Event, Finished, State, Tool } from "@pawl/sansio-core";
import { endedIn, isAtRest, isClientSide, isOffered, UnderWay } from "../lifecycle/eviction.ts";
import { ApprovalEdits } from "./approval.ts";
import { publish } from "./catalog.ts";
import { Offers } from "./executor/offer.ts";
import { lambdaApplied } from "./flow.ts";
import type { HostSide } from "../host/host.ts";
import type { Instance } from "./instance.ts";
import { NewestEvents } from "./newest-event.ts";
import { Observers } from "./observe/observer.ts";
import { type Callers, telling } from "./callers.ts";
import { Requests } from "./request.ts";
import type { Session } from "./session.ts";
import { Bodies } from "../body/bodies.ts";
import type { Answer } from "../body/record.ts";
import type { News } from "../body/replay.ts";
import { saidOf } from "../body/stream-replay.ts";
import { ScopeLost, stackOf } from "../error.ts";
import { type AskedAt, hostWork, isQuestion, named, Questions } from "../host/question.ts";
import { Leaving } from "../move/quiesce.ts";
import { ScopeLinks } from "../process/scope-links.ts";
import type { Access } from "../scope/access.ts";
import { FinishedIndex } from "../scope/history.ts";
import { isMadeByFlow } from "../scope/offload.ts";
import { type Cause, ScopeRunner } from "../scope/runner.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import { Snapshots } from "../scope/snapshots.ts";
import type { Interpreter } from "../scope/perform-queue.ts";
import { ScopeStreams } from "../stream/streams.ts";
import { Turns, isOfTurn } from "../turn/turns.ts";

/** Returns the event of a body's request. One that is asked again after an opening has it in its row. */
const askedBy = ({ seq, event }: Cause): number | undefined => (event.type === "effect.requested" ? seq : undefined);

export class ScopeInterpreter implements Interpreter {
  readonly #session: Session;
  readonly #instance: Instance;
  readonly #store: ScopeStore;
  readonly side: HostSide;
  readonly runner: ScopeRunner;
  readonly access: Access;
  readonly bodies: Bodies;
  readonly finished: FinishedIndex;
  readonly requests: Requests;
  readonly offers: Offers;
  readonly turns: Turns;
  readonly observers: Observers;
  readonly scopeLinks: ScopeLinks;
  readonly streams: ScopeStreams;
  readonly leaving: Leaving;
  readonly approvalEdits = new ApprovalEdits();
  readonly underWay: UnderWay;
  readonly #questions: Questions;
  readonly #snapshots: Snapshots;
  #isClosing = false;

  constructor(state: State, session: Session, instance: Instance, store: ScopeStore, side: HostSide, callers: Callers) {
    this.#session = session;
    this.#instance = instance;
    this.#store = store;
    this.side = side;
    const runner = new ScopeRunner(state, instance, store, this);
    const schedule = (): void => runner.schedule();
    this.runner = runner;
    this.underWay = new UnderWay(schedule);
    this.finished = new FinishedIndex(this.underWay.counted(store.find), () => runner.durable.seq, {
      isNew: state.seq === 0,
    });
    this.access = this.#accessOf(runner);
    this.observers = new Observers(store, instance.telemetry, schedule);
    this.#questions = new Questions(() => hostWork(instance, store, side, this.observers, session), runner, instance);
    this.scopeLinks = new ScopeLinks(this.access, instance, store, side, this.observers, () => this.bodies.askAgain());
    this.streams = new ScopeStreams(instance.platform);
    this.bodies = new Bodies(instance, store, side, {
      runner,
      observers: this.observers,
      processApi: telling(callers, this.scopeLinks.processApi),
      streams: this.streams,
      contextOf: (request) => callers.contextOf(request),
      askHost: (request) => this.#answer(this.#questions.ask(request)),
    });
    this.leaving = new Leaving(runner, instance);
    this.requests = new Requests(this.access, callers, instance.admission);
    this.offers = new Offers(this.access, this.observers, instance, side);
    // A sub-agent has the tools of the runtime, as a session has; its agent says which of them.
    const publishTools = async (): Promise<void> => {
      if (this.state.process?.run === "turn") await publish(this.access, side.tools(), side.versions);
    };
    this.turns = new Turns(this.access, side, instance.models, (answer) => this.#answer(answer), publishTools);
    this.#snapshots = new Snapshots(store, instance.platform, schedule);
  }

  #accessOf(runner: ScopeRunner): Access {
    const { platform, telemetry, pages } = this.#instance;
    const { begun, values, fault } = this.#store;
    const [newest, { finished }] = [new NewestEvents(), this];
    const readLines = this.underWay.counted(this.#store.readLines);
    const report: Access["report"] = (what, thrown) => this.side.host.internalError?.(what, thrown);
    return { runner, finished, readLines, newest, pages, platform, telemetry, begun, values, fault, report };
  }

  get state(): State {
    return this.runner.state;
  }
  /** Says whether memory holds nothing of the scope but what its log says, and those who wait for replies. */
  get isIdle(): boolean {
    const { isAbandoned, isAwaited, isDurable } = this.runner;
    if (isAbandoned || isAwaited || !isDurable) return false;
    const { bodies, approvalEdits, scopeLinks, observers, underWay } = this;
    const parts = [underWay, bodies, approvalEdits, scopeLinks, observers, this.#store.values, this.#snapshots];
    return parts.every(({ isEmpty }) => isEmpty) && isAtRest(this.state);
  }

  /** Opens the scope in its log, and goes on with what was under way. A process loads its tools itself. */
  async open(opening: readonly Event[], tools: readonly Tool[] | undefined): Promise<void> {
    this.runner.open(opening);
    if (this.state.calls.some(isOffered)) this.offers.opened();
    await (tools === undefined ? this.runner.whenDurable() : publish(this.access, tools, this.side.versions));
    this.bodies.askParked();
  }

  /** Leaves memory, with nothing lost. Returns those who wait for replies: they wait on. */
  leave(): Callers {
    this.runner.leave();
    this.#snapshots.stop();
    return this.requests.leave();
  }

  /** Ends all bodies, with nothing recorded of it. From now on only replies and observations are performed. */
  close(): void {
    this.#isClosing = true;
    this.turns.endAll(new ScopeLost(`scope ${this.runner.id} is closed`));
    this.bodies.endAll();
  }

  stepped(cause: Cause, commands: readonly Command[], finished: readonly Finished[]): void {
    this.finished.note(finished, cause.seq);
    this.approvalEdits.stepped(this.state, cause.event);
    for (const call of endedIn(commands)) {
      this.bodies.end(call);
      this.offers.ended(call);
    }
    this.bodies.review();
    this.observers.stepped(cause, commands, this.runner);
    this.streams.stepped(cause.event, finished, this.runner);
    this.#instance.crashTurns.stepped(this.state);
    this.#instance.queues.stepped(this.state);
  }

  deliverNext(): boolean {
    return this.leaving.turn(() => this.bodies.deliverNext());
  }

  get pendingAnswers(): News {
    return this.bodies.news;
  }

  becameDurable(state: State, characters: number): void {
    this.#snapshots.note(state, characters);
  }

  atRest(): void {
    this.bodies.retryRest();
    this.#instance.atRest(this.#session);
  }

  abandoned(why: string): void {
    const { id } = this.runner;
    this.#store.values.end();
    this.leaving.abandon(why);
    this.bodies.endAll();
    this.#snapshots.stop();
    this.requests.abandon(new ScopeLost(why));
    this.approvalEdits.abandon(why);
    this.#instance.executors.forget(id);
    this.#instance.hostRequests.forget(id);
    this.scopeLinks.abandon(why);
    const lost = new ScopeLost(`scope ${id} was lost: ${why}`);
    for (const readers of [this.observers, this.streams]) readers.end(lost);
    this.turns.endAll(lost);
    this.#instance.lost(this.#session);
  }

  isGrounded(command: Command): boolean {
    return command.type === "step.run" && (this.bodies.at(command.call)?.heardUpTo ?? 0) <= this.runner.durable.seq;
  }

  /** Performs a command with large values in the place of references, after those before it. */
  perform(command: Command, cause: Cause): void {
    const { values } = this.#store;
    if (isMadeByFlow(this.state, command)) return this.#perform(command, cause);
    if (command.type === "step.answer") return this.#answerBody(command, cause);
    if (command.type === "stream.answer") return this.#enqueue(command.call, saidOf(command.key, cause));
    const performed = command.type === "step.run" ? undefined : command; // Its body has the work: it keeps its place only.
    values.inOrder(performed, (inlined) => this.#perform(inlined ?? command, cause), this.#fail);
  }

  /** Enqueues an answer for a body. A wait's is read from the state as recorded; every other is as it was told. */
  #answerBody(command: CommandOf<"step.answer">, cause: Cause): void {
    const answered = this.bodies.answerOf(command, cause);
    if (answered !== undefined) this.#enqueue(command.call, answered.answer, answered.isRecorded);
  }

  /** Enqueues an answer behind those whose large values are being read. */
  #enqueue(call: CallRef, answer: Answer | undefined, isRecorded = false): void {
    const run = this.bodies.at(call);
    const enqueue = (inlined: Answer | undefined): void => {
      if (answer !== undefined) run?.enqueueAnswer(inlined ?? answer);
      this.runner.schedule();
    };
    this.#store.values.inOrder(isRecorded ? answer : undefined, enqueue, this.#fail);
  }

  #perform(command: Command, cause: Cause): void {
    const isNextOwners = this.#isClosing || this.state.scope.status.type !== "open";
    if (isNextOwners && command.type !== "reply" && command.type !== "observe") return;
    const { host } = this.side;
    switch (command.type) {
      case "tool.execute": {
        const of = isClientSide(this.state, command) ? this.offers : this.bodies;
        const { crashTurns, queues } = this.#instance;
        const begin = (): Promise<void> => queues.start(this, command, () => of.execute(command));
        return this.#guard(crashTurns.start(this.runner, command, begin));
      }
      case "place.take":
        return this.#guard(this.#instance.queues.take(this, command));
      case "tool.cancel":
        this.offers.cancel({ call: command.call, attempt: command.attempt, run: command.run });
        this.bodies.at(command.call)?.enqueueCancel({ seq: cause.seq, index: -1 });
        return this.runner.schedule();
      case "step.run":
        return this.bodies.at(command.call)?.perform(command.key, command.try);
      case "step.answer":
      case "stream.answer":
        return; // `perform` has enqueued it.
      case "replies.record":
        return this.#answer(Promise.resolve({ ...command, type: "replies.recorded" }));
      case "reply":
        return this.requests.take(command);
      case "lambda.apply":
        return this.#answer(lambdaApplied(host.flow, command));
      case "flow.observe":
        return host.flow?.observe?.(this.runner.id, command.request, command.event);
      case "observe":
        return host.observe?.(this.runner.id, command);
      default:
        if (isOfTurn(command)) return this.turns.perform(command);
        if (isQuestion(command)) return this.#answer(this.#questions.ask(command, askedBy(cause)));
        return this.#begin(() => this.scopeLinks.perform(command));
    }
  }

  /** Applies the answer of a person to a request that was put to one, if the body still asks for it. */
  answered(event: Event, asked: AskedAt): void {
    const answer = named(this.state, asked, event);
    if (answer !== undefined) this.runner.apply(answer);
  }

  /** Applies the event that answers a command. */
  #answer(answer: Promise<Event | undefined>): void {
    this.#begin(async () => {
      const event = await answer;
      if (event !== undefined) this.runner.apply(event);
    });
  }

  /** Begins work that takes its time; the scope stays in memory until it is over. */
  #begin(work: () => Promise<void>): void {
    this.#guard(this.underWay.during(work()));
  }

  /** Abandons the scope when the work throws: then the interpreter itself has failed. */
  #guard(work: Promise<void>): void {
    void work.catch(this.#fail);
  }

  readonly #fail = (thrown: unknown): void => this.runner.abandon(stackOf(thrown));
}
