/** Flows as a host runs them: submitted like any request; their lambdas are applied, and their steps shown, by it. */
import type { CommandOf, Event, State, EventOf } from "@pawl/sansio-core";
import {
  FlowToolCodec,
  type FlowExecutionEvent,
  type FlowSpec,
  type FlowTool,
  type LambdaResult,
  type Program,
  ProgramCodec,
} from "@pawl/sansio-core/driver";
import { type Json, array, dict, oneOf, read, stableHash, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { decoded } from "../scope/access.ts";
import { Refused, textOf } from "../error.ts";
import { flowParametersOf } from "../tool/tool.ts";
import type { LiveTool } from "../tool/live-tool.ts";

/** The input of a lambda. `target` is the name by which it was found, or the input itself. */
export interface LambdaInput {
  readonly target: string;
  readonly input: string;
}

/** The part of a host that flows use. */
export interface FlowHost {
  /** Lambdas by name; what one throws ends its flow. One is applied again where its answer was lost. */
  readonly lambdas?: { readonly [name: string]: (input: LambdaInput) => string | Promise<string> };
  readonly observe?: (scope: string, request: string, event: FlowExecutionEvent) => void;
}

export interface FlowSubmission {
  readonly request: string;
  readonly flow: Program;
  readonly bindings?: { readonly [name: string]: string };
  /** The tools that the flow may call; without it those of its session, each by its name. */
  readonly tools?: readonly FlowTool[];
  /** How a tool or lambda is treated that nobody has. */
  readonly unresolved?: FlowSpec["unresolved"];
  readonly executionScope?: string;
}

/** The host and tools of a session, for its flows. */
export interface FlowPlace {
  readonly host: { readonly flow?: FlowHost };
  readonly tool: (id: string) => LiveTool | undefined;
}

const toolsOf = ({ catalog }: State, { tool }: FlowPlace): readonly FlowTool[] =>
  [...catalog.byId.values()]
    .map(({ id, name }) => ({ id, name, parameters: flowParametersOf(tool(id)?.contract()?.input_schema) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

const Unresolved = oneOf<FlowSpec["unresolved"]>("what becomes of the unresolved", "placeholder", "fail");

type Submitted = EventOf<"flow.submitted">;

/**
 * Returns a program as it will be on record. An invalid one is decoded as it was given, so that the error names what is
 * wrong.
 */
const programOf = (given: Program): Program => {
  const program = read(ProgramCodec, ProgramCodec.encode(given));
  return E.isRight(program) ? program.right : decoded(ProgramCodec, given, "flow");
};

/** Decodes the tools of a flow. Refuses a parameter that is declared twice: its type would be ambiguous. */
const toolsGiven = (given: unknown): readonly FlowTool[] => {
  const tools = decoded(array(FlowToolCodec), given, "tools");
  for (const [i, { name, parameters }] of tools.entries()) {
    const names = parameters.map(([parameter]) => parameter);
    const twice = names.find((parameter, k) => names.indexOf(parameter) < k);
    if (twice !== undefined)
      throw new Refused("invalid_argument", `tools: $[${i}].parameters: \`${name}\` declares \`${twice}\` twice`);
  }
  return tools;
};

/** Makes the event that submits a flow. Its hash covers what was asked, not which tools the session happens to have. */
export const flowSubmitted = (state: State, place: FlowPlace, given: FlowSubmission): Submitted => {
  const request = decoded(string, given.request, "request");
  const flow = programOf(given.flow);
  const bindings = decoded(dict(string), given.bindings ?? {}, "bindings");
  const tools = given.tools === undefined ? undefined : toolsGiven(given.tools);
  const { executionScope } = given;
  const unresolved = decoded(Unresolved, given.unresolved ?? "placeholder", "unresolved");
  const asked = [ProgramCodec.encode(flow), bindings, tools ?? null, unresolved, executionScope ?? null];
  return {
    type: "flow.submitted",
    request,
    hash: stableHash(asked as unknown as Json),
    ...(executionScope === undefined ? {} : { execution_scope: executionScope }),
    bindings,
    flow,
    tools: tools ?? toolsOf(state, place),
    lambdas: Object.keys(place.host.flow?.lambdas ?? {}),
    unresolved,
  };
};

const applied = async (host: FlowHost, { name, target, input }: CommandOf<"lambda.apply">): Promise<LambdaResult> => {
  const lambdas = host.lambdas ?? {};
  const lambda = Object.hasOwn(lambdas, name) ? lambdas[name] : undefined;
  if (lambda === undefined) return { status: "err", message: `nobody here applies the lambda \`${name}\`` };
  try {
    return { status: "ok", output: (await lambda({ target, input })).toWellFormed() };
  } catch (thrown) {
    return { status: "err", message: textOf(thrown) };
  }
};

/** Applies a lambda; its answer goes into the log. */
export const lambdaApplied = async (host: FlowHost = {}, command: CommandOf<"lambda.apply">): Promise<Event> => {
  const { request, id } = command;
  return { type: "lambda.applied", request, id, result: await applied(host, command) };
};
