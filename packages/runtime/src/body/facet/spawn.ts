/**
 * `ctx.spawn`: starts a tool as a process of its own, and hands out a handle on it. The process lives on when the call ends;
 * its id is made from the place of the call, so a body that runs again finds what it has started.
 */
import { outputOfAwait, type ProcessAwaitOutput, processEffectId } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { type CalledTool, valueOfReply } from "../../tool/result.ts";
import { toolIdOf } from "./concurrency.ts";
import { type Asking, toJson } from "./facet.ts";
import { type Durable, durable, refusing } from "./durable.ts";
import type { ProcessesFacet } from "./process.ts";

export interface SpawnOptions {
  /** Its id, unique in the store. By default it is made from the place of the call, so each `spawn` has its own. */
  readonly id?: string;
  /** The names of the signals that it takes. */
  readonly signals?: readonly string[];
  /** The types of the events that it emits. */
  readonly events?: readonly string[];
}

/** A process that was started, as its starter holds it. `ctx.processes` finds it by its id. */
export interface ProcessHandle<Result = unknown> {
  readonly id: string;
  /** Resolves to what the tool returns. Throws `ToolFailed` if it fails or is cancelled. */
  readonly result: () => Durable<Result>;
  /** Sends a signal. Two of one name in one life need ids. */
  readonly signal: (name: string, payload?: unknown, id?: string) => Durable<void>;
  readonly cancel: () => Durable<void>;
}

export interface Spawns {
  /** Starts a tool as a process, and resolves to its handle once it has started. */
  readonly spawn: <Input, Result>(
    tool: CalledTool<Input, Result>,
    args: Input,
    options?: SpawnOptions,
  ) => Durable<ProcessHandle<Result>>;
}

/** Names a promise that is made of an effect's by the key of that effect. */
const mapped = <A, B>(from: Durable<A>, map: (value: A) => B): Durable<B> => durable(from.key, from.then(map));

const anything = { schema: {} } as const;

export const spawns = (asking: Asking, processes: ProcessesFacet): Spawns => {
  const { facts, body } = asking;

  const handleOn = (id: string, tool: string, args: Json): ProcessHandle<never> => {
    const valueOf = (awaited: ProcessAwaitOutput): unknown =>
      valueOfReply({ call: id, tool, label: tool, args, output: outputOfAwait(awaited), durationMs: 0 });
    return {
      id,
      result: () => mapped(processes.await(id), valueOf) as Durable<never>,
      signal: (...of) => mapped(processes.signal(id, of[0], of[1] ?? null, of[2]), () => undefined),
      cancel: () => mapped(processes.cancel(id), () => undefined),
    };
  };

  return {
    spawn: (tool, given, { id, signals = [], events = [] } = {}) => {
      const name = typeof tool === "string" ? tool : tool.name;
      const process = id ?? `${facts.place}/${asking.nextName(`spawn:${name}`)}`;
      const key = processEffectId({ op: "start", process_id: process });
      return refusing(key, () => {
        const args = toJson(given, `the arguments of \`${name}\``);
        const call = { call_id: name, tool_id: toolIdOf(asking, tool), tool_name: name, args, prepared_payload: null };
        const names = [...events, ...signals.map((signal) => `signal.${signal}`)];
        const eventTypes = names.map((type) => ({ name: type, payload_schema: anything, semantics: {} }));
        const started = processes.start({ id: process, input: { type: "tool_call", call }, eventTypes });
        return mapped(started, () => {
          facts.processApi.childStarted(body.id.call, process, name);
          return handleOn(process, name, args);
        });
      });
    },
  };
};
