/**
 * A session of the cases: the core under protocol 2, a model port that does what the steps say, tools whose arguments are
 * checked, and a person. Time is virtual. What the core asks for is carried out at once, in its order, and written down.
 */
import {
  type Codec,
  type Json,
  ToolCallOutput,
  ToolControl,
  canonicalJson,
  describe,
  equal,
  errorOutput,
  lift,
  read,
  successOutput,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { validateOf } from "../../../../runtime/src/tool/schema-pattern.ts";
import * as core from "../../../src/index.ts";
import { promptPlan } from "../../../src/turn/plan.ts";
import { type PromptMessage, promptOf } from "../../../src/turn/prompt.ts";
import { shortMessage } from "./short.ts";

export interface CaseTool {
  readonly name: string;
  readonly scheduling?: "parallel" | "serial";
  readonly policy?: "auto" | "requires_approval";
  readonly recovery?: "rerunnable" | "owner_bound" | "externally_owned";
  readonly schema?: Json;
}

export type Seen = { readonly [what: string]: Json };

const toolOf = (tool: CaseTool): core.Tool => {
  const { schema: _, ...more } = tool;
  return core.plainTool(tool.name, { recovery: "rerunnable", ...more, checks: true });
};

/** Returns why a value does not fit a schema, if it does not. */
export const problemOfValue = (schema: Json, value: Json): string | undefined => {
  const { valid, errors } = validateOf(schema as object)(value);
  return valid ? undefined : (errors[0]?.error ?? "it does not fit");
};

export class World {
  state = core.initial("session:s");
  readonly log: core.Event[] = [];
  #at = 0;
  #epoch = 0;
  #seen: Seen[] = [];
  #shown: readonly PromptMessage[] = [];
  readonly #answers: core.Event[] = [];
  #isAnswering = false;
  readonly #schemas: ReadonlyMap<string, Json | undefined>;
  readonly #options: core.Options;

  constructor(tools: readonly CaseTool[], options: Partial<core.Options> = {}) {
    this.#schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
    this.#options = { ...core.defaultOptions, model_resolver: true, unpriced: "allow", ...options };
    this.open();
    this.tell({ type: "catalog.published", tools: tools.map(toolOf) });
  }

  /** A process opens the scope; one that was there before has died. */
  open(): void {
    this.#epoch += 1;
    const before = core.outstanding(this.state);
    this.tell({
      type: "scope.opened",
      epoch: this.#epoch,
      owner: `d${this.#epoch}`,
      protocol: 2,
      options: this.#options,
    });
    // A lost attempt is not asked for again: its loss has led to the next one.
    for (const command of before) if (command.type !== "reply" && command.type !== "model.ask") this.#perform(command);
    this.#answer();
  }

  see(...seen: readonly Seen[]): void {
    this.#seen.push(...seen);
  }
  takeSeen(): readonly Seen[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  /** An event, and all that follows from it; returns why it was rejected, if it was. */
  offer(event: core.Event): core.Rejection | undefined {
    const result = core.step(this.state, { seq: this.state.seq + 1, at: this.#at, event });
    if (E.isLeft(result)) return result.left;
    const broken = core.checkAll(result.right.state) ?? core.checkChange(this.state, result.right.state);
    if (broken !== undefined) throw new Error(`${event.type}: ${broken}`);
    this.state = result.right.state;
    this.log.push(event);
    for (const command of result.right.commands) this.#perform(command);
    if (!this.#isAnswering) this.#answer();
    return undefined;
  }

  /** Returns what the world says to what it was asked, one after the other. */
  #answer(): void {
    this.#isAnswering = true;
    for (let event = this.#answers.shift(); event !== undefined; event = this.#answers.shift()) this.tell(event);
    this.#isAnswering = false;
  }

  tell(event: core.Event): void {
    const rejection = this.offer(event);
    if (rejection !== undefined) throw new Error(`${event.type}: ${rejection.code}: ${rejection.message}`);
  }

  /** As `offer`; a rejection is seen. */
  try(event: core.Event): void {
    const rejection = this.offer(event);
    if (rejection !== undefined) this.see({ refused: rejection.code });
  }

  pass(ms: number): void {
    const until = this.#at + ms;
    for (
      let due = core.nextDeadline(this.state);
      due !== undefined && due.at <= until;
      due = core.nextDeadline(this.state)
    ) {
      this.#at = Math.max(this.#at, due.at);
      this.tell({ type: "clock.ticked" });
    }
    this.#at = until;
  }

  get at(): number {
    return this.#at;
  }

  #perform(command: core.Command): void {
    switch (command.type) {
      case "model.ask":
        return this.see({ ask: this.#ask(command) });
      case "model.stop":
        return this.see({ stop: attemptOf(command) });
      case "model.resolve":
        return this.see({ resolve: { ...attemptOf(command), cause: command.cause } });
      case "turn.observe":
        return this.#observe(command);
      case "agent.load":
        return void this.#answers.push({ type: "agent.missing", agent: command.agent });
      case "reply":
        return command.turn === undefined ? undefined : this.see(endOf(command.turn));
      case "observe":
        if (command.what === "call_parked")
          this.see({ approval: { call: nameOf(command.call), tool: command.tool, args: command.args } });
        return undefined;
      case "args.check":
        return void this.#answers.push({
          type: "args.checked",
          call: command.call,
          verdict: this.#verdict(command.tool_id, command.args),
        });
      case "tool.prepare": {
        const { call, tool_id, args } = command;
        const preparation = {
          type: "prepared",
          tool_id,
          args,
          args_hash: canonicalJson(lift(args)),
          payload: null,
        } as const;
        return void this.#answers.push({ type: "call.prepared", call, preparation });
      }
      case "tool.execute":
        return this.#execute(command);
      case "tool.cancel":
        return this.see({ cancel_call: nameOf(command.call) });
      default:
        return undefined;
    }
  }

  #execute({ call, attempt, run, cause, tool, args }: core.CommandOf<"tool.execute">): void {
    const resumed = { call, attempt, run, owner: `d${this.#epoch}` };
    if (cause !== undefined) this.#answers.push({ type: "call.resumed", ...resumed, cause });
    this.see({ call: { name: nameOf(call), tool, args, ...(run === 1 ? {} : { run }) } });
  }

  #observe(command: core.CommandOf<"turn.observe">): void {
    const { request: turn } = command;
    if (command.what === "turn_parked")
      this.see({ parked: { turn, ask: command.ask, reached: jsonOf(command.reached) } });
    if (command.what === "controls_ignored") this.see({ ignored: jsonOf(command.controls) });
  }

  #verdict(id: string, args: Json): core.EventOf<"args.checked">["verdict"] {
    const schema = this.#schemas.get(id.replace(/^tool:/, ""));
    const message = problemOfValue(schema ?? { type: "object" }, args);
    return message === undefined ? { verdict: "valid" } : { verdict: "invalid", message };
  }

  #ask(command: core.CommandOf<"model.ask">): Json {
    const { request, n, attempt, key, kind, route, mode, provider_id, tools, max_output_tokens } = command;
    const plan = promptPlan(this.state, request);
    if (plan === undefined) throw new Error(`no plan of \`${request}\``);
    const messages = promptOf({ ...plan, prefix: "" }, (seq) => this.log[seq - 1] as core.Event);
    const differs = messages.findIndex((message, i) => !equal(jsonOf(message), jsonOf(this.#shown[i] ?? null)));
    const same = differs === -1 ? messages.length : differs;
    this.#shown = messages;
    const model = this.state.conversation.running?.agent?.routes[route]?.model ?? "";
    return {
      turn: request,
      n,
      attempt,
      key: key.split(":").at(-1) ?? "",
      ...(kind === "answer" ? {} : { kind }),
      ...(route === 0 ? {} : { route: model }),
      ...(mode === "fresh" ? {} : { mode }),
      ...(provider_id === undefined ? {} : { provider_id }),
      ...(plan.prefix === "" ? {} : { prefix: plan.prefix }),
      ...(tools ? {} : { tools }),
      ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
      same,
      new: messages.slice(same).map(shortMessage),
    };
  }
}

/** Plain JSON, without the fields that are not there. */
export const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const attemptOf = ({ request: turn, n, attempt }: { request: string; n: number; attempt: number }) => ({
  turn,
  n,
  attempt,
});

const nameOf = (call: string): string => call.slice(call.indexOf(":") + 1);

/** The end of a turn as it is seen: without its frame, and without what it used. */
export const endOf = (turn: NonNullable<core.CommandOf<"reply">["turn"]>): Seen => {
  const { frame: _, used: _used, ...end } = turn;
  return { end: jsonOf(end) };
};

const decoded = <A>(codec: Codec<A>, json: unknown): A => {
  const result = read(codec, json);
  if (E.isLeft(result)) throw new TypeError(describe(result.left));
  return result.right;
};

const outcomeOf = ({ ok = null, err, cancelled, outcome }: { readonly [field: string]: Json }): ToolCallOutput => {
  if (outcome !== undefined) return decoded(ToolCallOutput, { outcome });
  if (err !== undefined) return errorOutput(err);
  if (cancelled === undefined) return successOutput(lift(ok));
  return { outcome: { status: "cancelled", payload: { message: String(cancelled), source: "cancellation" } } };
};

/** A result as a case names it: a whole output, or in short; with its control. */
export const outputOf = (result: { readonly [field: string]: Json }): ToolCallOutput => {
  const { control } = result;
  const output = outcomeOf(result);
  return control === undefined ? output : { ...output, control: decoded(ToolControl, control) };
};
