/** The prompt of an attempt, made of the log; and its hash, by which a recorded session is compared with a replay of it. */
import type { Event, State } from "@pawl/sansio-core";
import {
  type AgentSpec,
  type PromptMessage,
  type PromptPlan,
  agentTaskIn,
  promptOf,
  promptPlan,
  seqsOf,
} from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import type { Access } from "../scope/access.ts";
import { eventsIn, eventsOfTypes, linesAt, stateBefore } from "../scope/history.ts";
import type { PromptSource } from "./shown-prompt.ts";

/** Events that a conversation refers to, kept while its scope is in memory: the log does not change behind it. */
export class PromptEvents {
  readonly #access: Access;
  readonly #events = new Map<number, Event>();

  constructor(access: Access) {
    this.#access = access;
  }

  async #load(seqs: readonly number[]): Promise<void> {
    const { readLines, runner, values } = this.#access;
    const missing = seqs.filter((seq) => !this.#events.has(seq));
    const lines = await linesAt((from) => readLines(from), missing);
    for (const [seq, { event }] of eventsIn(runner.id, lines)) this.#events.set(seq, await values.of(event));
    const lost = missing.find((seq) => !this.#events.has(seq));
    if (lost !== undefined) throw new Error(`event ${lost} of ${runner.id}, which a prompt shows, is not in its log`);
  }

  /** Loads events, and returns how to read them. */
  async reading(seqs: readonly number[]): Promise<(seq: number) => Event> {
    await this.#load([...new Set(seqs)]);
    return this.#read;
  }

  readonly #read = (seq: number): Event => {
    const event = this.#events.get(seq);
    if (event === undefined) throw new Error(`event ${seq} was not read before the prompt was made`);
    return event;
  };

  async #at(seq: number): Promise<Event> {
    await this.#load([seq]);
    return this.#read(seq);
  }

  async prompt(plan: PromptPlan): Promise<readonly PromptMessage[]> {
    await this.#load([...new Set([plan.agent, ...plan.entries.flatMap(seqsOf)])]);
    return promptOf(plan, this.#read);
  }

  async #published(seq: number): Promise<{ readonly name: string; readonly spec: AgentSpec }> {
    const event = await this.#at(seq);
    if (event.type !== "agent.published") throw new Error(`event ${seq} publishes no agent`);
    return { name: event.agent, spec: event.spec };
  }

  async agent(seq: number): Promise<AgentSpec> {
    return (await this.#published(seq)).spec;
  }

  /** Returns how prompts of the past are made of the log. */
  source(): PromptSource {
    const access = this.#access;
    const { runner, platform } = access;
    return {
      scope: runner.id,
      state: runner.state,
      planOf: promptPlan,
      eventsOfTypes: (types) => eventsOfTypes(access, types),
      stateBefore: (seq) => stateBefore(access, seq),
      agent: (seq) => this.#published(seq),
      form: (state, spec) => this.form(state, spec),
      messages: (plan) => this.prompt(plan),
      hash: (head, messages) => promptHash(platform.hashText, head, messages),
    };
  }

  /** Returns the form that the answers of the running turn, or of the next one, are to have: its own, or its agent's. */
  async form({ conversation: { running } }: State, spec: AgentSpec): Promise<AgentSpec["output"]> {
    if (running === undefined) return spec.output;
    const submitted = await this.#at(running.born);
    const own = submitted.type === "turn.submitted" ? submitted.output : agentTaskIn(submitted)?.output;
    return own ?? spec.output;
  }
}

type HashText = (text: string) => string;

const textOf = (value: unknown): string => stringify(value as Json);

/** Returns the hash of a prompt: of what else the model is told, and of its messages as a chain. */
export const promptHash = (hashText: HashText, head: unknown, messages: readonly PromptMessage[]): string => {
  const chain = messages.reduce((before, message) => hashText(before + hashText(textOf(message))), "");
  return hashText(textOf([head, chain])).slice(0, 32);
};
