/**
 * A prompt, for people: what a model is shown now, or was shown at a model call that is on record. Prompts are never recorded;
 * they are made of the log again, and have the hash that was recorded of them.
 *
 * Few programs ask, so this is loaded when one does, and is given the parts of the engine that it uses.
 */
import type { Event, EventOf, Recorded, State } from "@pawl/sansio-core";
import type { AgentSpec, PromptMessage, PromptPlan } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { Refused } from "../error.ts";

/** The model call that is meant: of this turn the n-th, or its last. Without a turn: the one that is open, or comes next. */
export interface PromptQuestion {
  readonly request?: string;
  readonly n?: number;
}

/** All that a model is told in one model call. */
export interface ShownPrompt {
  /** The model call; absent where the prompt is that of a call which is not asked for yet. */
  readonly request?: string;
  readonly n?: number;
  readonly attempt?: number;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly settings: Json;
  readonly messages: readonly PromptMessage[];
  readonly tools: AgentSpec["shown"];
  readonly toolChoice: Json;
  /** The form that the answer is to have; null where there is none. */
  readonly output: Json;
  /** The hash that the answer has on record. */
  readonly hash: string;
}

type Place = Pick<ShownPrompt, "request" | "n" | "attempt">;

interface Planned {
  readonly plan: PromptPlan;
  /** The state that the plan is of. */
  readonly state: State;
  readonly place: Place;
}

/** The log of a scope, and how prompts are made of it. */
export interface PromptSource {
  readonly scope: string;
  readonly state: State;
  readonly planOf: (state: State, request: string) => PromptPlan | undefined;
  readonly eventsOfTypes: (types: ReadonlySet<Event["type"]>) => Promise<readonly Recorded[]>;
  readonly stateBefore: (seq: number) => Promise<State>;
  readonly agent: (seq: number) => Promise<{ readonly name: string; readonly spec: AgentSpec }>;
  readonly form: (state: State, spec: AgentSpec) => Promise<AgentSpec["output"]>;
  readonly messages: (plan: PromptPlan) => Promise<readonly PromptMessage[]>;
  readonly hash: (head: Json, messages: readonly PromptMessage[]) => string;
}

type Ended = EventOf<"model.answered" | "model.failed" | "model.stopped" | "model.resolved">;

const endTypes: ReadonlySet<Event["type"]> = new Set<Ended["type"]>([
  "model.answered",
  "model.failed",
  "model.stopped",
  "model.resolved",
]);

/** The model call that is open, if one is. */
const openCall = ({ state, planOf }: PromptSource): Planned | undefined => {
  const { running } = state.conversation;
  const plan = running === undefined ? undefined : planOf(state, running.request);
  if (running === undefined || plan === undefined || !("call" in running.phase)) return undefined;
  const { n, attempt } = running.phase.call ?? {};
  if (n === undefined || attempt === undefined) return undefined;
  return { plan, state, place: { request: running.request, n, attempt } };
};

/** The model call that would come next, in the current frame as it is now. */
const nextCall = ({ state }: PromptSource): Planned | undefined => {
  const { running, frames, frame: current, agents } = state.conversation;
  const frame = frames.get(running?.frame ?? current);
  const agent = running?.agent ?? agents.get(frame?.agent ?? "main");
  const route = agent?.routes[running?.route ?? 0];
  if (agent === undefined || route === undefined) return undefined;
  const plan = {
    agent: agent.seq,
    route: running?.route ?? 0,
    provider: route.provider,
    entries: frame?.entries ?? [],
  };
  const place = running === undefined ? {} : { request: running.request };
  return { plan: { ...plan, summarizes: false, tools: running?.wrapped !== true, prefix: "" }, state, place };
};

/** A model call that has ended: its last attempt. */
const pastCall = async (source: PromptSource, { request, n }: PromptQuestion): Promise<Planned | undefined> => {
  const ends = (await source.eventsOfTypes(endTypes)).flatMap(({ seq, event }) =>
    "attempt" in event && "n" in event && event.request === request && (n === undefined || event.n === n)
      ? [{ seq, n: event.n, attempt: event.attempt }]
      : [],
  );
  const last = ends.at(-1);
  if (last === undefined || request === undefined) return undefined;
  const state = await source.stateBefore(last.seq);
  const plan = source.planOf(state, request);
  return plan === undefined ? undefined : { plan, state, place: { request, n: last.n, attempt: last.attempt } };
};

const planned = async (source: PromptSource, question: PromptQuestion): Promise<Planned | undefined> => {
  const open = openCall(source);
  if (question.request === undefined) return open ?? nextCall(source);
  const { request, n } = open?.place ?? {};
  const isOpen = request === question.request && (question.n === undefined || question.n === n);
  return isOpen ? open : pastCall(source, question);
};

const callWords = ({ request, n }: PromptQuestion): string =>
  n === undefined ? `a model call of turn \`${request}\`` : `model call ${n} of turn \`${request}\``;

/** Makes the prompt of a model call. */
export const shownPrompt = async (source: PromptSource, question: PromptQuestion): Promise<ShownPrompt> => {
  const found = await planned(source, question);
  if (found === undefined) {
    const what =
      question.request === undefined ? "no agent has been asked yet" : `nothing is on record of ${callWords(question)}`;
    throw new Refused("request_unknown", `${source.scope} has no such prompt: ${what}`);
  }
  const { plan, state, place } = found;
  const { name: agent, spec } = await source.agent(plan.agent);
  const { provider, model, settings = null } = spec.routes[plan.route] ?? { provider: "", model: "" };
  const toolChoice = plan.tools ? (spec.tool_choice ?? "auto") : "none";
  const output = ((await source.form(state, spec)) ?? null) as Json;
  const messages = await source.messages(plan);
  const head = { provider, model, settings, tools: spec.shown, tool_choice: toolChoice, output } as unknown as Json;
  const asked = { agent, provider, model, settings, messages, tools: spec.shown, toolChoice, output };
  return { ...place, ...asked, hash: source.hash(head, messages) };
};
