/** Questions that the core asks around a call, of its tool and of the host. Each is answered by an event. */
import type { Command, Event, State } from "@pawl/sansio-core";
import { bodyOf, hasRule } from "@pawl/sansio-core/driver";
import { type HostSide, placeOf, report } from "./host.ts";
import { type ExternalPort, type HostRequest, answerOf, cancelExternal } from "./host-request.ts";
import { type HookPort, runHooks } from "./hook.ts";
import { type ResolverPort, hidden, projectResult, resolveOutcome } from "./outcome.ts";
import { type PreparePort, checkCall, outputOf, prepareCall, uncheckable } from "./prepare.ts";
import { problemOfEvent } from "../scope/round-trip.ts";
import type { Observers } from "../session/observe/observer.ts";
import type { Session } from "../session/session.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import type { Instance } from "../session/instance.ts";

const asked = [
  "args.check",
  "tool.prepare",
  "hook.run",
  "result.project",
  "outcome.resolve",
  "external.cancel",
  "host.request",
] as const;
export type Question = Extract<Command, { readonly type: (typeof asked)[number] }>;

const questions: ReadonlySet<string> = new Set(asked);
export const isQuestion = (command: Command): command is Question => questions.has(command.type);

export type HostWork = HookPort & PreparePort & ResolverPort & ExternalPort;

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
  submit: (request, calls) => session.call(request, calls),
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
      return answerOf(work.host.request, question);
  }
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

/** Answers the questions of one scope. A request of a body is never with its host twice at a time. */
export class Questions {
  readonly #work: () => HostWork;
  readonly #state: () => State;
  /** Requests of bodies that are with the host, by the events that asked. */
  readonly #underWay = new Set<number>();

  constructor(work: () => HostWork, state: () => State) {
    this.#work = work;
    this.#state = state;
  }

  /** Resolves to the event that answers it. `place` is the event that asked; by default that of the body's open request. */
  ask(question: Question, place?: number): Promise<Event | undefined> {
    if (question.type === "host.request") return this.#askHost(question, place ?? this.#openOf(question)?.seq);
    return answerTo(question, this.#work(), this.#state());
  }

  #openOf({ call, key }: HostRequest): { readonly seq: number; readonly hash: string } | undefined {
    const row = this.#state().calls.at(call);
    return row && bodyOf(row)?.open.find((open) => open.key === key);
  }

  /** Names the request in its answer. Drops the answer if the body has begun anew and asks for the same elsewhere. */
  async #askHost(request: HostRequest, place: number | undefined): Promise<Event | undefined> {
    if (place === undefined || this.#underWay.has(place)) return undefined;
    this.#underWay.add(place);
    const answer = await answerTo(request, this.#work(), this.#state());
    this.#underWay.delete(place);
    const open = this.#openOf(request);
    if (open?.seq !== place || answer?.type !== "host.answered") return undefined;
    const isNamed = hasRule(this.#state().scope.protocol, "host_answer_names_request");
    return isNamed ? { ...answer, seq: place, hash: open.hash } : answer;
  }
}
