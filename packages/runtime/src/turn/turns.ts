/**
 * The turns of one scope in memory: asks models, agents and the host what the core wants to know, and lets readers follow the
 * answer that is under way. What comes back is an event; what is asked again after a crash, the core says.
 */
import type { Command, CommandOf, Event, EventOf } from "@pawl/sansio-core";
import { type AgentSpec, modelFate, promptPlan } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import type { HostSide } from "../host/host.ts";
import { type Access, record } from "../scope/access.ts";
import { textOf } from "../error.ts";
import { Changes } from "../stream/tail.ts";
import { AnswerStream } from "./answer-stream.ts";
import { Attempt } from "./attempt.ts";
import type { ModelPlaces } from "./pace.ts";
import type { AgentDefinition } from "./port.ts";
import { PromptEvents } from "./prompt-of.ts";
import type { PromptQuestion, ShownPrompt } from "./shown-prompt.ts";
import { type LiveAnswer, type ReadTurnOptions, type TurnFrame, readTurn } from "./turn-reader.ts";

type TurnCommand = CommandOf<
  "agent.load" | "model.ask" | "model.stop" | "model.resolve" | "turn.check" | "turn.observe"
>;

type Published = EventOf<"agent.published">;

const types: ReadonlySet<string> = new Set<TurnCommand["type"]>([
  "agent.load",
  "model.ask",
  "model.stop",
  "model.resolve",
  "turn.check",
  "turn.observe",
]);
export const isOfTurn = (command: Command): command is TurnCommand => types.has(command.type);

/** The tools of a session as models are shown them, by name. */
const shownIn = ({ runner }: Access, { tool }: HostSide, names: readonly string[] | undefined): AgentSpec["shown"] =>
  [...runner.state.catalog.byId.values()]
    .filter(({ name }) => names === undefined || names.includes(name))
    .map(({ id, name }) => {
      const contract = tool(id)?.contract();
      const description = tool(id)?.manifest.description;
      const schema = contract?.input_schema ?? { type: "object" };
      return { name, ...(description === undefined ? {} : { description }), input_schema: schema };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

const named = ({ request, n, attempt }: Pick<CommandOf<"model.ask">, "request" | "n" | "attempt">) => ({
  request,
  n,
  attempt,
});

export class Turns {
  readonly #access: Access;
  readonly #side: HostSide;
  readonly #answer: (answer: Promise<Event | undefined>) => void;
  /** Publishes the tools of a sub-agent, before its agent. */
  readonly #publishTools: () => Promise<void>;
  readonly #places: ModelPlaces;
  readonly #events: PromptEvents;
  readonly #changes = new Changes();
  #lost: Error | undefined;
  /** The open attempt; a scope has one at a time. */
  #attempt: { readonly name: string; readonly attempt: Attempt } | undefined;
  /** The answer that is under way, or that came last. */
  #live: (LiveAnswer & Pick<CommandOf<"model.ask">, "kind">) | undefined;

  constructor(
    access: Access,
    side: HostSide,
    places: ModelPlaces,
    answer: (answer: Promise<Event | undefined>) => void,
    publishTools: () => Promise<void>,
  ) {
    this.#access = access;
    this.#side = side;
    this.#places = places;
    this.#answer = answer;
    this.#publishTools = publishTools;
    this.#events = new PromptEvents(access);
  }

  perform(command: TurnCommand): void {
    const { host } = this.#side;
    const { id } = this.#access.runner;
    switch (command.type) {
      case "model.ask":
        return this.#answer(this.#ask(command));
      case "model.stop":
        return this.#stop(command);
      case "agent.load":
        return this.#answer(this.#load(command.agent));
      case "turn.check":
        return this.#answer(this.#check(command));
      case "model.resolve":
        return this.#answer(this.#resolve(command));
      case "turn.observe":
        if (command.what === "turn_ended") this.#changes.changed();
        return host.observeTurn?.(id, command);
    }
  }

  /** Ends the open attempt and all reading: the scope is the next owner's. */
  endAll(lost: Error): void {
    this.#lost = lost;
    this.#attempt?.attempt.leave();
    this.#attempt = undefined;
    this.#changes.changed();
  }

  /** Reads the answers of a turn from a place on, live and late. */
  read(request: string, options: ReadTurnOptions): AsyncGenerator<TurnFrame> {
    const live = (of: string): LiveAnswer | undefined => {
      if (this.#lost !== undefined) throw this.#lost;
      return this.#live?.request === of && this.#live.kind === "answer" ? this.#live : undefined;
    };
    return readTurn({ access: this.#access, events: this.#events, changes: this.#changes, live }, request, options);
  }

  /** Returns what the model of a model call is told, now or in the past. */
  async prompt(question: PromptQuestion): Promise<ShownPrompt> {
    const { shownPrompt } = await import("./shown-prompt.ts");
    return shownPrompt(this.#events.source(), question);
  }

  #streamOf({ request, n, kind }: CommandOf<"model.ask">): AnswerStream {
    if (this.#live?.request === request && this.#live.n === n) return this.#live.stream;
    const stream = new AnswerStream(this.#places.pace);
    stream.read(() => this.#changes.changed());
    this.#live = { request, n, kind, stream };
    return stream;
  }

  /** Asks the model; what comes of it the attempt records itself. */
  async #ask(command: CommandOf<"model.ask">): Promise<Event | undefined> {
    const plan = promptPlan(this.#access.runner.state, command.request);
    const isOpen = modelFate(this.#access.runner.state, command) === "take";
    if (plan === undefined || !isOpen) return undefined; // Its owner was lost, or the turn is over.
    const stream = this.#streamOf(command);
    stream.begin(command.attempt, plan.prefix);
    const name = JSON.stringify(named(command));
    const spec = await this.#events.agent(command.agent);
    const form = await this.#events.form(this.#access.runner.state, spec);
    const prompt = await this.#events.prompt(plan);
    const route = spec.routes[command.route];
    const port = route === undefined ? undefined : this.#side.host.models?.(route);
    if (port === undefined) return this.#withoutPort(command);
    const { attachments } = this.#side;
    const of = { access: this.#access, places: this.#places, attachments, port, stream, spec, form, prompt };
    const attempt = new Attempt(command, { ...of, prefix: plan.prefix });
    this.#attempt = { name, attempt };
    if (this.#isStopping(command)) attempt.stop();
    await attempt.run();
    if (this.#attempt?.attempt === attempt) this.#attempt = undefined;
    return undefined;
  }

  #isStopping(command: CommandOf<"model.ask">): boolean {
    const { running } = this.#access.runner.state.conversation;
    return running?.request === command.request && running.phase.type === "stopping";
  }

  #withoutPort(command: CommandOf<"model.ask">): Event {
    const message = "nobody here asks this model: the host's `models` has no port for its route";
    return {
      type: "model.failed",
      ...named(command),
      class: "not_found",
      message,
      prompt: { messages: 0, hash: "" },
      ms: 0,
    };
  }

  #stop(command: CommandOf<"model.stop">): void {
    if (this.#attempt?.name === JSON.stringify(named(command))) this.#attempt.attempt.stop();
  }

  /** Returns the event that publishes an agent as the host has it now; undefined where it is on record as it is. */
  async published(agent: string): Promise<Published | undefined> {
    const found: AgentDefinition | undefined = await this.#side.host.agents?.(agent);
    if (found === undefined) return undefined;
    const spec: AgentSpec = { ...found, shown: found.shown ?? shownIn(this.#access, this.#side, found.tools) };
    const hash = this.#access.platform.hashText(stringify(spec as unknown as Json));
    const known = this.#access.runner.state.conversation.agents.get(agent);
    return known?.hash === hash ? undefined : { type: "agent.published", agent, hash, spec };
  }

  /** Lists what is new of an agent, and of those that it hands over to. */
  async #news(agent: string): Promise<readonly Published[]> {
    const news: Published[] = [];
    const names = new Set([agent]);
    for (const name of names) {
      const event = await this.published(name);
      if (event === undefined) continue;
      news.push(event);
      for (const other of event.spec.handoffs ?? []) names.add(other);
    }
    return news;
  }

  /** Puts the agent of the next turn on record as the host has it now, with those that it hands over to. */
  async publish(agent: string | undefined): Promise<void> {
    const { frames, frame } = this.#access.runner.state.conversation;
    const news = await this.#news(agent ?? frames.get(frame)?.agent ?? "main");
    for (const event of news) await record(this.#access, event);
  }

  async #load(agent: string): Promise<Event | undefined> {
    try {
      await this.#publishTools();
      const [found, ...others] = await this.#news(agent);
      for (const event of others) await record(this.#access, event);
      return found ?? { type: "agent.missing", agent };
    } catch (thrown) {
      this.#access.report(`the agent ${agent} could not be loaded`, thrown);
      return { type: "agent.missing", agent };
    }
  }

  async #check({ request, n, at }: CommandOf<"turn.check">): Promise<Event> {
    const { id } = this.#access.runner;
    try {
      const verdict = (await this.#side.host.checkTurn?.(id, request, at)) ?? ({ type: "go_on" } as const);
      return { type: "turn.checked", request, n, verdict };
    } catch (thrown) {
      return { type: "turn.checked", request, n, verdict: { type: "end", reason: textOf(thrown) } };
    }
  }

  async #resolve(command: CommandOf<"model.resolve">): Promise<Event> {
    const { id } = this.#access.runner;
    const { request, n, attempt } = command;
    const type = (await this.#side.host.resolveModel?.(id, `${request}/${n}/${attempt}`)) ?? "again";
    return { type: "model.resolved", request, n, attempt, outcome: { type } };
  }
}
