/** A scope that runs one flow through the public API of the core, with the providers of this package. */
import { type Command, type Event, defaultOptions, initial, plainTool, step } from "@pawl/sansio-core";
import type { FlowEnd, FlowExecutionEvent, FlowNode, FlowTool, LambdaResult } from "@pawl/sansio-core/driver";
import { caseProtocol } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Providers, type Registry, httpProvider, outputOf, plainProviders, runOf } from "../../src/index.ts";
import { mcpProvider } from "../../src/remote/mcp.ts";

/** Answers that nobody is there: the cases have no network. */
const unreachable: typeof fetch = async () => {
  throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
};

export const caseProviders: Providers = {
  ...plainProviders,
  http: httpProvider({ fetch: unreachable }),
  mcp: mcpProvider({ fetch: unreachable }),
};

export interface Case {
  readonly name?: string;
  readonly backend?: string;
  readonly nodes: readonly FlowNode[];
  readonly bindings: { readonly [name: string]: string };
  readonly registry?: Registry | undefined;
  readonly providers?: Providers;
  readonly nowMs?: number;
  readonly lambdas?: readonly string[];
  readonly unresolved?: "fail";
  /** Events that arrive while a call runs or a lambda is applied. A cancelled one gets no answer. */
  readonly during?: { readonly what: "call" | "lambda"; readonly event: Event };
  readonly lambda?: LambdaResult;
}

export interface Seen {
  readonly end: FlowEnd;
  readonly events: readonly FlowExecutionEvent[];
}

/** The error of an event that the core rejected. */
export class Rejected extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

class FlowScope {
  #state = initial("session:s");
  readonly #case: Case;
  readonly #todo: Command[] = [];
  readonly #events: FlowExecutionEvent[] = [];
  #end: FlowEnd | undefined;

  constructor(of: Case) {
    this.#case = of;
  }

  #tell(event: Event): void {
    const result = step(this.#state, { seq: this.#state.seq + 1, at: 0, event });
    if (E.isLeft(result)) throw new Rejected(result.left.code, result.left.message);
    this.#state = result.right.state;
    this.#todo.push(...result.right.commands);
  }

  get #tools(): readonly FlowTool[] {
    const { registry, providers = caseProviders } = this.#case;
    const names = registry?.names.filter((name) => runOf(registry, providers, name) !== undefined) ?? [];
    return names.map((name) => ({ name, id: `tool:${name}`, parameters: registry?.at(name)?.parameters ?? [] }));
  }

  async run(): Promise<Seen> {
    const {
      name = "TestFlow",
      backend = "stub",
      nodes,
      bindings,
      lambdas = [],
      unresolved = "placeholder",
    } = this.#case;
    const tools = this.#tools;
    this.#tell({ type: "scope.opened", epoch: 1, owner: "d", protocol: caseProtocol(), options: defaultOptions });
    this.#tell({ type: "catalog.published", tools: tools.map((tool) => plainTool(tool.name, { durable: true })) });
    const spec = { flow: { name, backend, nodes }, tools, lambdas, unresolved } as const;
    this.#tell({ type: "flow.submitted", request: "r", hash: "h", bindings, ...spec });
    for (let next = this.#todo.shift(); next !== undefined; next = this.#todo.shift()) await this.#perform(next);
    if (this.#end === undefined) throw new Error("the flow did not end");
    return { end: this.#end, events: this.#events };
  }

  async #perform(command: Command): Promise<void> {
    switch (command.type) {
      case "flow.observe":
        this.#events.push(command.event);
        return;
      case "reply":
        this.#end = command.flow;
        return;
      case "lambda.apply":
        this.#interrupt("lambda");
        if (this.#case.lambda !== undefined) {
          this.#tell({ type: "lambda.applied", request: "r", id: command.id, result: this.#case.lambda });
        }
        return;
      case "tool.execute":
        await this.#execute(command);
        return;
      default:
        return;
    }
  }

  #interrupt(what: "call" | "lambda"): void {
    const { during } = this.#case;
    if (during?.what === what) this.#tell(during.event);
  }

  async #execute({ call, attempt, run, tool, args }: Of<"tool.execute">): Promise<void> {
    const { registry, providers = caseProviders, nowMs = 0 } = this.#case;
    const entry = registry?.at(tool);
    const runs = registry === undefined ? undefined : runOf(registry, providers, tool);
    if (entry === undefined || runs === undefined) throw new Error(`nobody runs ${tool}`);
    const output = await outputOf(entry, runs, args, { nowMs, signal: new AbortController().signal });
    this.#interrupt("call");
    this.#tell({ type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 0 });
  }
}

export const runFlow = (of: Case): Promise<Seen> => new FlowScope(of).run();
