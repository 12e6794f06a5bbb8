/** Questions that the core asks around a call, of its tool and of the host. Each is answered by an event. */
import type { Command, CommandOf, Event, State } from "@pawl/sansio-core";
import { type BodyState, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import { type HostAsked, type HostSide, hostAsked, placeOf, report } from "./host.ts";
import { type ExternalPort, type HostRequest, answerOf, cancelExternal } from "./host-request.ts";
import { type HookPort, runHooks } from "./hook.ts";
import { type ResolverPort, hidden, projectResult, resolveOutcome } from "./outcome.ts";
import { type PreparePort, checkCall, outputOf, prepareCall, uncheckable } from "./prepare.ts";
import { problemOfEvent } from "../scope/access.ts";
import type { Observers } from "../session/observe/observer.ts";
import type { Session } from "../session/session.ts";
import { storeAnswer } from "./about.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import type { Instance } from "../session/instance.ts";

const questionTypes = [
  "args.check",
  "tool.prepare",
  "hook.run",
  "result.project",
  "outcome.resolve",
  "external.cancel",
  "host.request",
] as const;
export type Question = CommandOf<(typeof questionTypes)[number]>;

const questions: ReadonlySet<string> = new Set(questionTypes);
export const isQuestion = (command: Command): command is Question => questions.has(command.type);

export type HostWork = HookPort &
  PreparePort &
  ResolverPort &
  ExternalPort & { readonly waiting?: HostAsked["waiting"] };

/** Collects what questions about one scope are answered with. */
export const hostWork = (
  { platform }: Instance,
  { values }: ScopeStore,
  { host, tool }: HostSide,
  observers: Observers,
  session: Session,
): HostWork => ({
  host,
  values,
  platform,
  tool,
  emit: (observation) => observers.tell(observation, session.runner),
  submit: (request, calls) => session.request(request, calls),
  isAbandoned: () => session.runner.isAbandoned,
});

const answered = async (question: Question, work: HostWork, state: State): Promise<Event | undefined> => {
  switch (question.type) {
    case "args.check":
      return checkCall(work, state, question);
    case "tool.prepare":
      return prepareCall(work, state, question);
    case "hook.run":
      return runHooks(work, placeOf(state, question.call), question);
    case "result.project":
      return projectResult(work, state, question);
    case "outcome.resolve":
      return resolveOutcome(work, state, question);
    case "external.cancel":
      return (await cancelExternal(work, state, question))
        ? { type: "external.cancel_acked", key: question.key }
        : undefined;
    case "host.request":
      return answerOfRequest(question, work, state);
  }
};

/** Answers a request of a body: what pawl keeps itself without the host. */
const answerOfRequest = async (request: HostRequest, work: HostWork, state: State): Promise<Event> => {
  const stored = await storeAnswer(state, work.values, request);
  const place = placeOf(state, request.call);
  if (stored === undefined) return answerOf(work.host, request, place, hostAsked(place, work.waiting));
  return { type: "host.answered", call: request.call, key: request.key, ...stored };
};

/** Returns a stand-in for an answer that the log could not give back; undefined leaves the question open. */
const insteadOf = (question: Question, why: string): Event | undefined => {
  const { call } = question;
  switch (question.type) {
    case "args.check":
      return { type: "args.checked", call, verdict: uncheckable };
    case "tool.prepare":
      return { type: "call.prepared", call, preparation: { type: "finished", output: outputOf(hidden) } };
    case "hook.run":
      return { type: "hook.ran", call, phase: question.phase, outcome: { status: "err", message: why } };
    case "result.project":
      return { type: "result.projected", call, parts: [{ type: "text", text: why }] };
    case "outcome.resolve":
    case "external.cancel":
    case "host.request":
      return undefined;
  }
};

/**
 * Answers a question with an event that the log can give back. Undefined means that a person has to answer it, or that the
 * scope was lost before.
 */
const answerTo = async (question: Question, work: HostWork, state: State): Promise<Event | undefined> => {
  const answer = await answered(question, work, state);
  const problem = answer === undefined ? undefined : problemOfEvent(answer);
  if (problem === undefined) return answer;
  const why = `the answer to \`${question.type}\` does not fit: ${problem}`;
  report(work.host, placeOf(state, question.call), new TypeError(why));
  return insteadOf(question, why);
};

type OpenEffect = BodyState["open"][number];
type Asked = Pick<HostRequest, "call" | "key">;

/** A request of a body, and the event that asked for it. */
export interface AskedAt extends Asked {
  readonly seq: number;
}

const openAt = (state: State, { call, key }: Asked): OpenEffect | undefined => {
  const row = state.calls.at(call);
  return row && bodyOf(row)?.open.find((open) => open.key === key);
};

/** Returns false once the body has begun anew, and asks for the same at another place. */
const isOpen = (state: State, asked: AskedAt): boolean => openAt(state, asked)?.seq === asked.seq;

/** Names the request in its answer. An answer that comes once the body has begun anew is dropped. */
export const named = (state: State, asked: AskedAt, answer: Event | undefined): Event | undefined => {
  const open = openAt(state, asked);
  if (open?.seq !== asked.seq || answer?.type !== "host.answered") return undefined;
  const isNamed = hasRule(state.scope.protocol, "host_answer_names_request");
  return isNamed ? { ...answer, seq: open.seq, hash: open.hash } : answer;
};

/** Answers the questions of one scope. A request of a body is never with its host twice at a time. */
export class Questions {
  readonly #work: () => HostWork;
  readonly #runner: Pick<ScopeRunner, "state" | "isAbandoned">;
  readonly #instance: Instance;

  constructor(work: () => HostWork, runner: Pick<ScopeRunner, "state" | "isAbandoned">, instance: Instance) {
    this.#work = work;
    this.#runner = runner;
    this.#instance = instance;
  }

  /**
   * Resolves to the event that answers it. `seq` is the event that asked; by default that of the body's open request. Whoever
   * opens an abandoned scope next asks anew: what is still on its way to be asked here would be in the way.
   */
  ask(question: Question, seq?: number): Promise<Event | undefined> {
    if (this.#runner.isAbandoned) return Promise.resolve(undefined);
    if (question.type !== "host.request") return answerTo(question, this.#work(), this.#runner.state);
    const place = seq ?? openAt(this.#runner.state, question)?.seq;
    return place === undefined ? Promise.resolve(undefined) : this.#askHost(question, place);
  }

  /**
   * Asks the host, unless it is at it. Resolves to the answer; or, as soon as the host says that it asks a person, to the
   * event that says so: the scope may leave memory then, and the answer is brought to it later.
   */
  async #askHost(request: HostRequest, seq: number): Promise<Event | undefined> {
    const state = this.#runner.state;
    const end = this.#instance.hostRequests.begin(state.scope.id, seq);
    if (end === undefined) return undefined;
    const asked = { call: request.call, key: request.key, seq };
    const { promise: asksPerson, resolve } = Promise.withResolvers<"waiting">();
    const waiting = (): void => {
      if (hasRule(this.#runner.state.scope.protocol, "suspends_every_wait")) resolve("waiting");
    };
    const answer = answerTo(request, { ...this.#work(), waiting }, state);
    const first = await Promise.race([answer, asksPerson]);
    if (first !== "waiting") return end() ? named(this.#runner.state, asked, first) : undefined;
    void this.#answerLater(answer, end, asked);
    const isNews = isOpen(this.#runner.state, asked) && openAt(this.#runner.state, asked)?.waiting === undefined;
    return isNews ? { type: "host.waiting", ...asked, name: request.name, input: request.input } : undefined;
  }

  /** Brings the answer to the session that is in memory when it comes. A scope that was lost meanwhile asks again. */
  async #answerLater(answer: Promise<Event | undefined>, end: () => boolean, asked: AskedAt): Promise<void> {
    const { open, shutdown } = this.#instance;
    const event = await answer;
    if (!end() || event === undefined || shutdown.refusal !== undefined) return;
    try {
      (await open(this.#runner.state.scope.id)).answered(event, asked);
    } catch (thrown) {
      const { host } = this.#work();
      report(host, placeOf(this.#runner.state, asked.call), thrown);
    }
  }
}
