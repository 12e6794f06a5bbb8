/** The op `turn.prompt`: the prompt of a frame that is built entry by entry, over a log of the events that entries refer to. */
import { knownFields, knownName, withFields } from "@pawl/testkit";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Event } from "../../../src/index.ts";
import { nodeOf } from "../../../src/turn/control.ts";
import {
  type Entry,
  type Frame,
  type ProviderDecision,
  type Range,
  type ResultRef,
  compacted,
  emptyFrame,
  entriesOf,
  rangeOf,
  withEntries,
  withHistory,
} from "../../../src/turn/frame.ts";
import { type AnswerPart, type Message, approvalRequests } from "../../../src/turn/message.ts";
import { promptOf } from "../../../src/turn/prompt.ts";
import { type Input, listOf, objectOf, textOf } from "../input.ts";
import { jsonOf, outputOf } from "./world.ts";

type Step = readonly [name: string, ...rest: readonly Json[]];

const events: { readonly [kind: string]: (more: object) => Event } = {
  answered: (more) => ({ type: "model.answered", ...more }) as unknown as Event,
  submitted: (more) => ({ type: "turn.submitted", ...more }) as unknown as Event,
  settled: (more) => ({ type: "call.settled", ...more }) as unknown as Event,
};

const defaultGroups = 4;

class Builder {
  readonly #log: Event[] = [];
  readonly #agents = new Map<string, number>();
  readonly #frames = new Map<string, Frame>();
  readonly #provider: string;
  readonly #compactions: Json[] = [];
  #frame = "main";
  #n = 0;

  constructor(input: Input) {
    this.#provider = textOf(input["provider"]) ?? "p";
    const agents = input["agents"] === undefined ? { main: objectOf(input["agent"]) } : objectOf(input["agents"]);
    for (const [name, agent] of Object.entries(agents)) {
      knownFields(objectOf(agent), ["system"]);
      const spec = { routes: [], shown: [], ...objectOf(agent) };
      this.#agents.set(name, this.#record({ type: "agent.published", agent: name, hash: name, spec }));
    }
  }

  #record(event: Event): number {
    return this.#log.push(event);
  }

  get #current(): Frame {
    return this.#frames.get(this.#frame) ?? emptyFrame(this.#frame, "main", 1);
  }
  #put(frame: Frame): void {
    this.#frames.set(frame.id, frame);
  }
  #append(...entries: readonly Entry[]): void {
    this.#put(withEntries(this.#current, ...entries));
  }

  #user(said: Json): void {
    const messages =
      typeof said === "string" ? [{ role: "user", content: said }] : (said as unknown as readonly Message[]);
    this.#append({ type: "user", seq: this.#record((events["submitted"] as (more: object) => Event)({ messages })) });
  }

  #said(parts: readonly AnswerPart[]): number {
    this.#n += 1;
    const pieces = parts.map((part, b) => ({ b, part }));
    return this.#record((events["answered"] as (more: object) => Event)({ pieces }));
  }

  #results(outputs: readonly Json[], decisions: readonly Json[], asked: readonly AnswerPart[]): void {
    const of = outputs.map((output): ResultRef => {
      const { edited, ...result } = objectOf(output);
      knownFields(result, ["ok", "err", "cancelled", "outcome", "control"]);
      const done = { result: { type: "done", output: outputOf(result) } };
      const seq = this.#record((events["settled"] as (more: object) => Event)(done));
      return edited === undefined ? { seq } : { seq, edited };
    });
    const requests = approvalRequests(asked);
    const decided = decisions.map((json): ProviderDecision => {
      const { approval_id: id, approved, reason } = objectOf(json);
      const at = requests.findIndex((request) => request.approval_id === id);
      return { at, approved: approved === true, ...(reason === undefined ? {} : { reason: String(reason) }) };
    });
    this.#append(decided.length === 0 ? { type: "results", of } : { type: "results", of, decisions: decided });
  }

  #compact(summary: Json, keep: number): void {
    const range = rangeOf(this.#current, keep);
    this.#compactions.push(range === undefined ? null : this.#prompt(range));
    if (range === undefined) return;
    const seq = this.#said([{ type: "text", text: textOf(summary) ?? "" }]);
    this.#put(compacted(this.#current, range, summary === null || summary === "" ? undefined : { seq }));
  }

  #switch(id: string, nodes: readonly Json[], task: string): void {
    const control = { type: "switch_agent_frame", frame_id: id, initial_nodes: nodes, task } as const;
    const output = { outcome: { status: "success", payload: null }, control };
    const of = {
      seq: this.#record((events["settled"] as (more: object) => Event)({ result: { type: "done", output } })),
    };
    const before = this.#current;
    const known = this.#frames.get(id);
    let agent = known?.agent ?? (this.#agents.has(id) ? id : before.agent);
    let frame = known ?? emptyFrame(id, agent, 1);
    for (const [at, json] of nodes.entries()) {
      const node = nodeOf(json);
      if (node?.type === "agent") agent = node.name;
      if (node?.type === "history" && known === undefined) frame = withHistory(frame, before);
      if (node?.type === "message") frame = withEntries(frame, { type: "node", of, at });
    }
    this.#put({ ...withEntries(frame, { type: "task", of }), agent });
    this.#frame = id;
  }

  #answered: readonly AnswerPart[] = [];

  readonly #steps: { readonly [name: string]: (a: Json, b: Json, c: Json) => void } = {
    user: (said) => this.#user(said),
    answer: (parts, provider) => {
      this.#answered = parts as unknown as readonly AnswerPart[];
      const seq = this.#said(this.#answered);
      this.#append({ type: "answer", n: this.#n, provider: textOf(provider) ?? "p", seq });
    },
    results: (outputs, decisions) => this.#results(listOf(outputs), listOf(decisions), this.#answered),
    stopped: (text) => this.#append({ type: "cut", seq: this.#said([{ type: "text", text: String(text) }]) }),
    compact: (summary, keep) => this.#compact(summary, typeof keep === "number" ? keep : defaultGroups),
    switch: (frame, nodes, task) => this.#switch(String(frame), listOf(nodes), String(task)),
  };

  take([name, a = null, b = null, c = null]: Step): void {
    this.#steps[knownName("step", name, Object.keys(this.#steps))]?.(a, b, c);
  }

  #prompt(range?: Range): Json {
    const frame = this.#current;
    const plan = {
      agent: this.#agents.get(frame.agent) ?? 1,
      route: 0,
      provider: this.#provider,
      entries: entriesOf(frame, range),
      summarizes: range !== undefined,
      tools: true,
      prefix: "",
    };
    return jsonOf(promptOf(plan, (seq) => this.#log[seq - 1] as Event));
  }

  result(): Json {
    const messages = this.#prompt();
    return this.#compactions.length === 0 ? { messages } : { messages, compactions: this.#compactions };
  }
}

const prompt = (input: Input): Json => {
  const builder = new Builder(input);
  for (const step of input["steps"] as unknown as readonly Step[]) builder.take(step);
  return builder.result();
};

export const promptAdapters = {
  "turn.prompt": withFields(["agent", "agents", "provider", "steps"], (input: Input) => E.right(prompt(input))),
};
