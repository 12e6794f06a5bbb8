/** The tools by which a program uses processes as values: it starts a call apart, awaits, signals and cancels it. */
import type { Json, ToolInvocationReply } from "@pawl/tool-value";
import { type Asking, handled } from "./asking.ts";
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
  let made: HandleTools | undefined;
  const over = (act: (tools: HandleTools) => Promise<ToolInvocationReply>): Promise<ToolInvocationReply> =>
    handled(asking.with((code) => act((made ??= code.handleTools(asking, processes)))));
  return {
    handleTools: {
      startToolCall: (...of) => over((tools) => tools.startToolCall(...of)),
      awaitProcess: (...of) => over((tools) => tools.awaitProcess(...of)),
      signalProcess: (...of) => over((tools) => tools.signalProcess(...of)),
      cancelProcess: (...of) => over((tools) => tools.cancelProcess(...of)),
    },
  };
};
