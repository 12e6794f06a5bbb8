/**
 * Hooks of plugins before and after each call. Their directives are performed here, in order, and reported with their
 * outcomes; the core decides what they mean for the call. A hook runs at least once: each of its requests to the host has
 * a key, which is the same when it runs again.
 */
import { type CommandOf, type EventOf, callRef } from "@pawl/sansio-core";
import { hooked } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { type Json, type ToolCallOutput, type ToolResult, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { type HostPort, type Place, hostAsked } from "./host.ts";
import { Refused, textOf } from "../error.ts";
import { type ArgsOf, type Schema, problemOfAnySchema } from "../tool/argument.ts";
import { checkerOf } from "../tool/check.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import { problemOfEvent } from "../scope/access.ts";

type HookRun = CommandOf<"hook.run">;
type HookRan = EventOf<"hook.ran">;
type Performed = Extract<HookRan["outcome"], { readonly status: "ok" }>["directives"][number];

export type PluginDirective =
  | { readonly kind: "abort_turn"; readonly code: string; readonly message: string }
  | { readonly kind: "enqueue_messages"; readonly messages: readonly Json[] }
  | { readonly kind: "create_session"; readonly request: Json }
  | { readonly kind: "replace_tool_args"; readonly args: Json }
  | { readonly kind: "short_circuit_tool"; readonly output: ToolResult }
  | { readonly kind: "emit_runtime_events"; readonly events: readonly Json[] }
  | { readonly kind: "emit_trace"; readonly name: string; readonly payload: Json; readonly context?: Json };

export interface HookCall<T = Json> {
  readonly session: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  /** Returns the host's context of the turn, with the input of its plugins; null outside of a turn. */
  readonly turn: () => Promise<T>;
}
export interface EndedHookCall<T = Json> extends HookCall<T> {
  readonly output: ToolCallOutput;
  readonly durationMs: number;
}

type Said = readonly PluginDirective[] | undefined;

export interface Plugin {
  readonly id: string;
  readonly beforeToolCall?: (call: HookCall) => Said | Promise<Said>;
  readonly afterToolCall?: (call: EndedHookCall) => Said | Promise<Said>;
}

/** A plugin whose hooks read the context of the turn in a form of their own. */
export interface TypedPlugin<S> {
  readonly id: string;
  /** The schema of the context: a Standard Schema, a codec of io-ts, or JSON Schema. */
  readonly turn: S;
  readonly beforeToolCall?: (call: HookCall<ArgsOf<S>>) => Said | Promise<Said>;
  readonly afterToolCall?: (call: EndedHookCall<ArgsOf<S>>) => Said | Promise<Said>;
}

/** Defines a plugin by the schema of its turns. A context that does not fit fails the hook that reads it, and with it the call. */
export const definePlugin = <const S extends Schema<unknown>>(plugin: TypedPlugin<S>): Plugin => {
  const { id, turn: schema, beforeToolCall, afterToolCall } = plugin;
  const problem = problemOfAnySchema(schema);
  if (problem !== undefined)
    throw new Refused("invalid_argument", `the turn of plugin \`${id}\` is no schema: ${problem}`);
  const check = checkerOf(schema, "turn");
  const typed = <C extends HookCall>(call: C): Omit<C, "turn"> & { readonly turn: () => Promise<ArgsOf<S>> } => ({
    ...call,
    turn: async () => {
      const checked = await check(await call.turn());
      if (E.isRight(checked)) return checked.right as ArgsOf<S>;
      throw new TypeError(`plugin \`${id}\`: the context of the turn does not fit: ${checked.left}`);
    },
  });
  return {
    id,
    ...(beforeToolCall && { beforeToolCall: (call) => beforeToolCall(typed(call)) }),
    ...(afterToolCall && { afterToolCall: (call) => afterToolCall(typed(call)) }),
  };
};

export interface HookPort {
  readonly host: HostPort;
  readonly emit: (observation: Ephemeral) => void;
}

interface Asked {
  readonly plugin: string;
  readonly directive: PluginDirective;
}

const notFinal = failureOutput(
  runtimeFailure(
    "internal",
    "pending_tool_short_circuit",
    "plugin short-circuit directives require completed tool output",
  ),
);

/** Runs all hooks of a phase, in the order of their plugins; the first error ends them. */
const askAll = async ({ host }: HookPort, place: Place, command: HookRun): Promise<readonly Asked[]> => {
  const turn = async (): Promise<Json> => (await host.turn?.(place.scope, place.request)) ?? null;
  const call = { session: place.session, callId: place.callId, tool: command.tool, args: command.args, turn };
  const { output, duration_ms: durationMs = 0 } = command;
  const asked: Asked[] = [];
  for (const plugin of host.plugins ?? []) {
    const said =
      command.phase === "before" || output === undefined
        ? await plugin.beforeToolCall?.(call)
        : await plugin.afterToolCall?.({ ...call, output, durationMs });
    asked.push(...(said ?? []).map((directive) => ({ plugin: plugin.id, directive })));
  }
  return asked;
};

/** Asks the host to do something, and returns why it could not be done. */
const ask = async (
  { host }: HookPort,
  place: Place,
  name: string,
  input: Json,
  key: string,
): Promise<{ readonly error?: string }> => {
  if (host.request === undefined) return { error: `the host answers no requests \`${name}\`` };
  try {
    await host.request(name, input, key, hostAsked(place));
    return {};
  } catch (thrown) {
    return { error: textOf(thrown) };
  }
};

const traceOf = (
  plugin: string,
  { name, payload, context = null }: PluginDirective & { readonly kind: "emit_trace" },
) => ({
  name: `plugin.${plugin}.${name}`,
  payload,
  context,
});

const perform = async (
  port: HookPort,
  command: HookRun,
  { plugin, directive }: Asked,
  asks: (name: string, input: Json) => ReturnType<typeof ask>,
): Promise<Performed> => {
  switch (directive.kind) {
    case "abort_turn":
    case "replace_tool_args":
      return directive;
    case "short_circuit_tool": {
      const { output } = directive;
      return { kind: "short_circuit_tool", output: output.type === "done" ? output.output : notFinal };
    }
    case "enqueue_messages": // Before a call the core refuses it: nothing is put in then.
      if (command.phase === "before") return { kind: "enqueue_messages" };
      return { kind: "enqueue_messages", ...(await asks("enqueue_messages", directive.messages)) };
    case "create_session":
      return { kind: "create_session", ...(await asks("create_session", directive.request)) };
    case "emit_runtime_events":
      for (const event of directive.events) port.emit({ type: "plugin_event", plugin, call: command.call, event });
      return { kind: "emit_runtime_events" };
    case "emit_trace": // A host that answers nothing has nowhere to put a trace.
      if (port.host.request === undefined) return { kind: "emit_trace" };
      return { kind: "emit_trace", ...(await asks("emit_trace", traceOf(plugin, directive))) };
    default:
      throw new TypeError(`plugin \`${plugin}\` asks for an unknown directive`);
  }
};

/** Performs directives up to the first that fails, which ends the list. */
const performAll = async (
  port: HookPort,
  place: Place,
  command: HookRun,
  asked: readonly Asked[],
): Promise<readonly Performed[]> => {
  const performed: Performed[] = [];
  for (const [i, one] of asked.entries()) {
    const key = `${place.keyPrefix}${command.call}:hook:${command.phase}:${i}`;
    const done = await perform(port, command, one, (name, input) => ask(port, place, name, input, key));
    performed.push(done);
    if ("error" in done) break;
  }
  return performed;
};

export const runHooks = async (port: HookPort, place: Place, command: HookRun): Promise<HookRan> => {
  const { call, phase } = command;
  try {
    const directives = await performAll(port, place, command, await askAll(port, place, command));
    return { type: "hook.ran", call, phase, outcome: { status: "ok", directives } };
  } catch (thrown) {
    return { type: "hook.ran", call, phase, outcome: { status: "err", message: textOf(thrown) } };
  }
};

/** A call that a body starts apart. */
export interface NestedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
}

/** Runs the hooks before such a call. They may give it other arguments, or an output, which ends it. */
export const hookedCall = async (port: HookPort, parent: Place, { callId, tool, args }: NestedCall) => {
  const call = callRef(parent.request, `${parent.callId}/${callId}`);
  const place = { ...parent, call, callId, tool, args };
  const ran = await runHooks(port, place, { type: "hook.run", call, phase: "before", tool, args });
  const problem = problemOfEvent(ran);
  return hooked(args, problem === undefined ? ran.outcome : { status: "err", message: problem });
};
