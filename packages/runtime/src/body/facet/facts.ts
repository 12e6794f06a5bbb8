/** Of a call, what its context needs to know. */
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import type { AttachmentStore } from "../../journal/attachment.ts";
import type { NestedCall } from "../../host/hook.ts";
import type { PrepareContext } from "../../tool/live-tool.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ProcessApi } from "./process-api.ts";
import type { ProgressMessage } from "./progress.ts";

export interface CallFacts {
  /** The scope that the call runs in, and the session that it is for. */
  readonly sessionId: string;
  readonly session: string;
  readonly callId: string;
  readonly capabilities: Capabilities;
  readonly maxAttempts: number;
  readonly replayKey: string;
  /** The base of the keys of all that the body does. */
  readonly base: string;
  readonly executionScope: string;
  readonly name: string;
  readonly payload: Json;
  /** `{session}/{request}/{call name}`: what processes are called that stand for calls of the body. */
  readonly place: string;
  readonly processApi: ProcessApi;
  readonly token: (id: string) => string;
  /** Records that the outside is given the key that completes the call: it ends with the call. */
  readonly handOut: (completionKey: string) => void;
  /** For a call that the body starts apart. */
  readonly preparing: (callId: string, tool: string) => PrepareContext;
  /** What the hooks make of such a call. */
  readonly hooked: (call: NestedCall) => Promise<{ readonly args: Json; readonly short?: ToolCallOutput }>;
  /** Tells the host of what no model is shown. */
  readonly report: (thrown: unknown) => void;
  readonly attachments: AttachmentStore;
  readonly progress: (message: ProgressMessage) => void;
  readonly continueAs: (args: Json) => void;
}
