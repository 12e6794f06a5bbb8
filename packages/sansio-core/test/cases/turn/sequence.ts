/** The op `turn.sequence`: a session, step by step, with what came of each step. */
import { knownFields, knownName, withFields } from "@pawl/testkit";
import { type Json, defaultPendingCompletion, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Event, callRef } from "../../../src/index.ts";
import type { AgentSpec, OutputForm } from "../../../src/turn/agent.ts";
import { callIn, usedBy, usedInSession } from "../../../src/turn/conversation.ts";
import { assemble, continued, localCalls, textOf as textOfParts } from "../../../src/turn/message.ts";
import type { AnswerPart, Message, Piece } from "../../../src/turn/message.ts";
import type { ModelCall } from "../../../src/turn/model.ts";
import { modelFate } from "../../../src/turn/model-event.ts";
import { type Input, listOf, objectOf, textOf } from "../input.ts";
import { type CaseTool, World, endOf, jsonOf, outputOf, problemOfValue } from "./world.ts";

type Step = readonly [name: string, ...rest: readonly Json[]];
interface Attempt {
  readonly turn: string;
  readonly n: number;
  readonly attempt: number;
}
interface Named {
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
}

const prompt = { messages: 0, hash: "" };

const specOf = (agent: Input, tools: readonly CaseTool[]): AgentSpec => {
  knownFields(agent, ["system", "routes", "tools", "loop", "compaction"]);
  const shown = tools.map(({ name, schema = {} }) => ({ name, input_schema: schema }));
  return { routes: [{ provider: "p", model: "m" }], ...(agent as unknown as Partial<AgentSpec>), shown };
};

const calledPart = (json: Json): AnswerPart => {
  const { id, tool, args, input_text: input, ...rest } = objectOf(json);
  knownFields(rest, []);
  const call = { type: "tool-call", id: String(id), tool: String(tool) } as const;
  return input === undefined ? { ...call, args: args ?? {} } : { ...call, input: String(input) };
};

/** The parts of an answer as a step tells it; undefined where it tells nothing, and what was streamed is the answer. */
const toldParts = (said: Input): readonly AnswerPart[] => {
  const reasoning = textOf(said["reasoning"]);
  const text = textOf(said["text"]);
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...listOf(said["calls"]).map(calledPart),
  ];
};

class Sequence {
  readonly #world: World;
  /** What the open attempt has said that is not on record. */
  #said = "";
  #asked: Attempt = { turn: "", n: 0, attempt: 0 };
  readonly #outputs = new Map<string, OutputForm>();

  constructor(world: World) {
    this.#world = world;
  }

  get #call(): ModelCall | undefined {
    const { running } = this.#world.state.conversation;
    return running === undefined ? undefined : callIn(running.phase);
  }

  /** The attempt that is open, or that was open last. */
  #noteAttempt(): void {
    const { running } = this.#world.state.conversation;
    const call =
      running?.phase.type === "asking" || running?.phase.type === "stopping" ? running.phase.call : undefined;
    if (running === undefined || call === undefined) return;
    const asked = { turn: running.request, n: call.n, attempt: call.attempt };
    if (JSON.stringify(asked) !== JSON.stringify(this.#asked)) this.#said = "";
    this.#asked = asked;
  }

  #named({ turn, n, attempt }: Attempt = this.#asked): Named {
    return { request: turn, n, attempt };
  }

  #takeSaid(): readonly Piece[] {
    const text = this.#said;
    this.#said = "";
    const isNew = (this.#call?.pieces.length ?? 0) === 0;
    return text === "" ? [] : [isNew ? { b: 0, type: "text", text } : { b: 0, text }];
  }

  /** The pieces of an answer that are not on record. */
  #rest(said: Input): readonly Piece[] {
    if (said["parts"] !== undefined)
      return (said["parts"] as unknown as readonly AnswerPart[]).map((part, b) => ({ b, part }));
    const streamed = this.#takeSaid();
    const recorded = this.#call?.pieces ?? [];
    const before = textOfParts(assemble([...recorded, ...streamed]));
    if (before === "") return toldParts(said).map((part, b) => ({ b, part }));
    return [...streamed, ...this.#behind(before, toldParts(said), recorded.length + streamed.length)];
  }

  /** Returns what an answer adds to the text that was streamed. */
  #behind(before: string, parts: readonly AnswerPart[], pieces: number): readonly Piece[] {
    return parts.flatMap((part, i): Piece[] => {
      if (part.type !== "text") return [{ b: pieces + i + 1, part }];
      return part.text.length > before.length ? [{ b: 0, text: part.text.slice(before.length) }] : [];
    });
  }

  #verdict(pieces: readonly Piece[]): { readonly verdict?: { readonly valid: true } | { readonly invalid: string } } {
    const { running } = this.#world.state.conversation;
    const call = this.#call;
    const form = running === undefined ? undefined : this.#outputs.get(running.request);
    if (form === undefined || call === undefined) return {};
    const text = textOfParts(continued(call.prefix, assemble([...call.pieces, ...pieces])));
    const value = parse(text);
    if (E.isLeft(value)) return { verdict: { invalid: value.left.message } };
    const problem = problemOfValue(form.schema, value.right);
    return { verdict: problem === undefined ? { valid: true } : { invalid: problem } };
  }

  #answerOf(said: Input) {
    const pieces = this.#rest(said);
    const hasCalls = localCalls(assemble(pieces)).length > 0;
    const reason = textOf(said["finish"]) ?? (hasCalls ? "tool-calls" : "stop");
    return { pieces, finish: { reason }, usage: objectOf(said["usage"]), ...this.#verdict(pieces) };
  }

  #answer(said: Input): void {
    knownFields(said, ["text", "reasoning", "calls", "parts", "finish", "usage", "to"]);
    const of = this.#named(said["to"] as unknown as Attempt | undefined);
    const event = (): Event =>
      ({ type: "model.answered", ...of, ...this.#answerOf(said), prompt, ms: 0 }) as unknown as Event;
    this.#report(of, event, said);
  }

  /** An answer or a failure is taken, or heard of late, or refused. */
  #report(of: Named, event: () => Event, said: Input): void {
    if (modelFate(this.#world.state, of) !== "late") return this.#world.try(event());
    const usage = said["usage"] === undefined ? {} : { usage: objectOf(said["usage"]) };
    this.#world.tell({ type: "model.late", ...of, ...usage });
    return this.#world.see({ late: { turn: of.request, n: of.n, attempt: of.attempt } });
  }

  #fail(said: Input): void {
    knownFields(said, ["class", "retry_after_ms", "usage"]);
    const of = this.#named();
    const pieces = this.#takeSaid();
    const route = this.#world.state.conversation.running?.agent?.routes[this.#call?.route ?? 0];
    const rest = route?.continue === true && pieces.length > 0 ? { pieces } : {};
    const event = { type: "model.failed", ...of, ...said, message: "", ...rest, prompt, ms: 0 } as unknown as Event;
    this.#report(of, () => event, said);
  }

  #submit(said: Input): void {
    knownFields(said, ["turn", "text", "messages", "when_busy", "limits", "output"]);
    const { turn, text, messages: given = [], when_busy = "queue", limits, output } = said;
    const written = given as unknown as readonly Message[];
    const messages = text === undefined ? written : [{ role: "user", content: String(text) }];
    const request = String(turn);
    const of = { ...(limits === undefined ? {} : { limits }), ...(output === undefined ? {} : { output }) };
    const hash = JSON.stringify([messages, of]);
    if (output !== undefined) this.#outputs.set(request, output as unknown as OutputForm);
    const event = { type: "turn.submitted", request, hash, messages, when_busy, ...of } as unknown as Event;
    const rejection = this.#world.offer(event);
    if (rejection?.code === "request_exists") this.#again(request);
    else if (rejection !== undefined) this.#world.see({ refused: rejection.code });
  }

  /** A turn that was submitted before is joined: where it has ended, its end is there. */
  #again(request: string): void {
    const row = this.#world.state.requests.at(request);
    if (row?.phase === "replying" && row.turn !== undefined) this.#world.see(endOf(row.turn));
  }

  /** The call of the running turn with this name, or one that is not there. */
  #ref(name: string): string {
    return callRef(this.#world.state.conversation.running?.request ?? "", name);
  }

  #tool(name: string, result: Input): void {
    knownFields(result, ["ok", "err", "pending", "control"]);
    const call = this.#ref(name);
    const row = this.#world.state.calls.at(call);
    const { attempt = 1, run = 1 } = row !== undefined && "body" in row ? (row.body ?? {}) : {};
    const pending = { type: "pending", key: `k:${call}`, pending: defaultPendingCompletion } as const;
    const ended = result["pending"] === true ? pending : ({ type: "done", output: outputOf(result) } as const);
    this.#world.try({ type: "call.settled", call, attempt, run, result: ended, duration_ms: 0 });
  }

  #resolve(name: string, result: Input): void {
    knownFields(result, ["ok"]);
    const resolution = { status: "ok", payload: result["ok"] ?? null } as const;
    this.#world.try({ type: "wait.resolved", key: `k:${this.#ref(name)}`, resolution });
  }

  #decide(name: string, decision: Extract<Event, { type: "approval.decided" }>["decision"]): void {
    const call = this.#ref(name);
    const row = this.#world.state.calls.at(call);
    const hash = row?.phase === "awaiting_approval" ? row.approval.argsHash : "";
    this.#world.try({ type: "approval.decided", call, decision, args_hash: hash, by: "ada" });
  }

  #approve(name: string, edit: Input): void {
    knownFields(edit, ["args"]);
    const args = edit["args"];
    this.#decide(name, args === undefined ? { type: "approve" } : { type: "approve_edited", args });
  }

  #resolved(word: Json): void {
    const outcome =
      typeof word === "string"
        ? { type: knownName("word", word, ["again", "give_up"]) }
        : { type: "answer", ...this.#answerOf(objectOf(objectOf(word)["answer"])) };
    this.#world.try({ type: "model.resolved", ...this.#named(), outcome } as unknown as Event);
  }

  #usage(): void {
    const { conversation } = this.#world.state;
    const turn = conversation.running === undefined ? {} : usedBy(conversation.running, this.#world.at);
    this.#world.see({ usage: jsonOf({ turn, session: usedInSession(conversation, this.#world.at) }) });
  }

  #checkpoint(): void {
    const pieces = this.#takeSaid();
    if (pieces.length > 0) this.#world.try({ type: "model.streamed", ...this.#named(), pieces });
  }

  #stopped(said: Input): void {
    knownFields(said, ["usage"]);
    this.#world.try({ type: "model.stopped", ...this.#named(), pieces: this.#takeSaid(), ...said });
  }

  readonly #steps: { readonly [name: string]: (first: Json, second: Json) => void } = {
    submit: (said) => this.#submit(objectOf(said)),
    answer: (said) => this.#answer(objectOf(said)),
    fail: (said) => this.#fail(objectOf(said)),
    delta: (text) => {
      this.#said += String(text);
    },
    checkpoint: () => this.#checkpoint(),
    identified: (id) => this.#world.try({ type: "model.identified", ...this.#named(), provider_id: String(id) }),
    stopped: (said) => this.#stopped(objectOf(said)),
    tool: (name, result) => this.#tool(String(name), objectOf(result)),
    resolve: (name, result) => this.#resolve(String(name), objectOf(result)),
    approve: (name, edit) => this.#approve(String(name), objectOf(edit)),
    reject: (name, reason) => this.#decide(String(name), { type: "reject", reason: String(reason) }),
    decide: (said) => {
      knownFields(objectOf(said), ["ask", "decision", "add"]);
      this.#world.try({ type: "budget.decided", ...objectOf(said), by: "ada" } as unknown as Event);
    },
    resolved: (word) => this.#resolved(word),
    cancel: (turn) => this.#world.try({ type: "request.cancelled", request: String(turn) }),
    delete: () => this.#world.try({ type: "session.deleted" }),
    pass: (ms) => this.#world.pass(Number(ms)),
    crash: () => {
      this.#said = "";
      this.#world.open();
    },
    usage: () => this.#usage(),
  };

  take([name, first = null, second = null]: Step): readonly Json[] {
    this.#steps[knownName("step", name, Object.keys(this.#steps))]?.(first, second);
    this.#noteAttempt();
    return this.#world.takeSeen();
  }
}

const publish = (world: World, input: Input, tools: readonly CaseTool[]): void => {
  const agents = input["agents"] === undefined ? { main: objectOf(input["agent"]) } : objectOf(input["agents"]);
  for (const [agent, spec] of Object.entries(agents))
    world.tell({ type: "agent.published", agent, hash: agent, spec: specOf(objectOf(spec), tools) });
  if (input["prices"] !== undefined)
    world.tell({ type: "prices.published", currency: "EUR", prices: input["prices"] as never });
  if (input["limits"] !== undefined) world.tell({ type: "limits.set", limits: input["limits"] as never });
};

const sequence = (input: Input): Json => {
  const tools = listOf(input["tools"]) as unknown as readonly CaseTool[];
  for (const tool of tools) knownFields(tool, ["name", "scheduling", "policy", "recovery", "schema"]);
  const world = new World(tools);
  publish(world, input, tools);
  world.takeSeen();
  const hand = new Sequence(world);
  return { seen: (input["steps"] as unknown as readonly Step[]).map((step) => [...hand.take(step)]) };
};

export const sequenceAdapters = {
  "turn.sequence": withFields(["agent", "agents", "tools", "limits", "prices", "steps"], (input: Input) =>
    E.right(sequence(input)),
  ),
};
