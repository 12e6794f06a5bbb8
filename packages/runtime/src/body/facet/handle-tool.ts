/** The tools by which a program uses processes as values: it starts a call apart, awaits, signals and cancels it. */
import type { Json, ToolInvocationReply } from "@pawl/tool-value";
import { type Asking, handled } from "./asking.ts";
import { toolsOfHandles } from "./handle-calls.ts";
import type { ProcessesFacet } from "./process.ts";

export interface HandleTools {
  readonly startToolCall: (callId: string, name: string, args: unknown) => Promise<ToolInvocationReply>;
  readonly awaitProcess: (callId: string, handle: Json) => Promise<ToolInvocationReply>;
  readonly signalProcess: (
    callId: string,
    handle: Json,
    signalName: string,
    payload: unknown,
  ) => Promise<ToolInvocationReply>;
  readonly cancelProcess: (callId: string, handle: Json) => Promise<ToolInvocationReply>;
}

export interface HandleToolFacet {
  readonly handleTools: HandleTools;
}

export const handleTools = (asking: Asking, processes: ProcessesFacet): HandleToolFacet => {
  const tools = toolsOfHandles(asking, processes);
  return {
    handleTools: {
      startToolCall: (...of) => handled(tools.startToolCall(...of)),
      awaitProcess: (...of) => handled(tools.awaitProcess(...of)),
      signalProcess: (...of) => handled(tools.signalProcess(...of)),
      cancelProcess: (...of) => handled(tools.cancelProcess(...of)),
    },
  };
};
