/** What a body's scope can do with processes, as its context needs it. */
import type { Command, Event, State } from "@pawl/sansio-core";
import type { EffectResult, ProcessEvent } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { SessionWork } from "../../process/run/session-work.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import type { Asking } from "./asking.ts";
import type { ToolContext } from "./context.ts";

export interface ProcessApi {
  readonly state: () => State;
  /** Steps an event of the scope; why it does not fit, if it does not. */
  readonly apply: (event: Event) => EffectResult;
  /** Its background runs, tasks and schedules, where it is a session. */
  readonly work: SessionWork;
  /** Whether a background run begins here, once there is a place for it; undefined for what is none. */
  readonly begins: (command: Extract<Command, { readonly type: "tool.execute" }>) => Promise<boolean> | undefined;
  /** Runs the body of a tool; that of a background run with a sink. */
  readonly execute: (
    tool: LiveTool,
    command: Extract<Command, { readonly type: "tool.execute" }>,
    context: ToolContext,
    isOver: () => boolean,
  ) => Promise<unknown>;
  /** The environment that calls of this scope run in: what a process that is started here is told to load. */
  readonly environmentSpec: () => Json;
  /** The tool of a name that may be called here. */
  readonly toolNamed: (name: string) => LiveTool | undefined;
  /** The first event of a type after a place in the log of the scope's own process, as soon as it is there. */
  readonly eventAfter: (eventType: string, after: number, signal: AbortSignal) => Promise<ProcessEvent>;
  readonly childStarted: (call: string, processId: string, entryName: string | undefined) => void;
}

/** Of a call in a process: which it is, and the agent's frame that started it. */
export const origin = ({
  facts,
}: Asking): { readonly processId: string | undefined; readonly agentFrameId: string | undefined } => {
  const registration = facts.processApi.state().process?.registration;
  const originator = registration?.provenance.originator;
  return {
    processId: registration?.id,
    agentFrameId: originator?.type === "session" ? originator.scope.agent_frame_id : undefined,
  };
};
