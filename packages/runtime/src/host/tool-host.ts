/** What a host fills in around its tools. Whatever is left out has a plain meaning, said where it is used. */
import type { Options } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { BackgroundHost } from "../process/host.ts";
import type { AttachmentStore } from "../journal/attachment.ts";
import type { ConnectionRequest } from "./connection.ts";
import type { ExternalWork } from "./external.ts";
import type { Plugin } from "./hook.ts";
import type { Projector } from "./project.ts";
import type { OutcomeResolver } from "./unknown-outcome.ts";

/** Where something went wrong that no model is shown: for the log, in full. */
export interface InternalErrorDetail {
  readonly scope: string;
  readonly tool: string;
  readonly callId: string;
  /** The message, and those of its causes. */
  readonly message: string;
}

/** The unabridged output of a call: an artifact, which no model sees. */
export interface RawOutput {
  readonly scope: string;
  readonly call: string;
  readonly tool: string;
  readonly text: string;
}

export interface ToolHost {
  /** The turn's context and its plugins' input, for preparations and hooks. */
  readonly turn?: (scope: string, request: string) => Promise<Json>;
  /** The session as the host sees it. */
  readonly snapshot?: (scope: string) => Promise<Json>;
  /** What went wrong inside, and of a call, where. */
  readonly internalError?: (call: string, thrown: unknown, detail?: InternalErrorDetail) => void;
  readonly rawOutput?: (output: RawOutput) => Promise<void>;
  /** A call is parked until `session.connect` answers; told again whenever the scope is opened. */
  readonly connectionRequired?: (request: ConnectionRequest) => void;
  /** Asked in this order before and after each call. */
  readonly plugins?: readonly Plugin[];
  readonly project?: Projector;
  /** Without one a call of unknown outcome ends as that. */
  readonly resolveOutcome?: OutcomeResolver;
  /** Tried until it does not throw. Without it nobody has outside work to end. */
  readonly cancelExternal?: (work: ExternalWork) => Promise<void>;
  /** Without one bytes are kept in memory; beside the journal where `openRuntime` or `openTab` opened it. */
  readonly attachments?: AttachmentStore;
}

/** Which of the core's questions this host has an answer to. */
export const answersOf = ({
  plugins = [],
  project,
  resolveOutcome,
  probe,
}: ToolHost & Pick<BackgroundHost, "probe">): Partial<Options> => ({
  before_hook: plugins.some(({ beforeToolCall }) => beforeToolCall !== undefined),
  after_hook: plugins.some(({ afterToolCall }) => afterToolCall !== undefined),
  projection: project !== undefined,
  resolver: resolveOutcome !== undefined,
  probes: probe !== undefined,
});
