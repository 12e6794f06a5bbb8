/** What a tool's body is given: `ctx`, put together from its facets. */
import type { Json } from "@pawl/tool-value";
import type { BodyRun } from "../body.ts";
import { ended } from "../signals.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import { Asking, handled, toJson } from "./asking.ts";
import { type Cancels, cancels } from "./cancel.ts";
import { type Facets, facetsOf } from "./facets.ts";
import type { CallFacts } from "./facts.ts";
import { type Handed, handed } from "./handed.ts";
import { type Names, names } from "./name.ts";
import { type Keys, keys } from "./key.ts";
import { origin } from "./process-api.ts";
import { type Progress, progress } from "./progress.ts";
import { type Steps, steps } from "./step.ts";

export interface ToolContext extends Facets, Steps, Keys, Cancels, Names, Progress, Handed {
  readonly background: Facets["background"] & {
    /** The tool of this name, where it may be called here. */
    readonly tool: (name: string) => LiveTool | undefined;
  };
  /** What is known of a tool that may be called here, by its name, as it is now: not on record. */
  readonly callableToolManifest: (name: string) => ToolManifest | undefined;
  /** The scope that the call runs in. */
  readonly sessionId: string;
  /** The session that it is for: of a process, the one that started it. */
  readonly session: string;
  /** The agent's frame that it is for, where a frame started the process that it runs in. */
  readonly agentFrameId: string | undefined;
  /** The process that it runs in. */
  readonly processId: string | undefined;
  readonly toolCallId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** One for all attempts of this call: the idempotency key for an outside service. */
  readonly replayKey: string;
  readonly payload: Json;
  readonly signal: AbortSignal;
  /** Tells the host's trace that a process was started for this call. */
  readonly emitChildProcessStarted: (processId: string, entryName?: string) => void;
  /** Starts the body anew with other arguments and nothing remembered. */
  readonly continueAs: (args: unknown) => Promise<never>;
}

const bodyOf = Symbol("body");

/** One for all: V8 makes a hidden class of each accessor that an object is made with, and keeps what it closes over. */
const signal: PropertyDescriptor = {
  enumerable: true,
  get(this: { readonly [bodyOf]: BodyRun }) {
    return this[bodyOf].signals.work;
  },
};

/** The signal is made when it is asked for: most bodies do not. */
const withSignal = (context: Omit<ToolContext, "signal">, body: BodyRun): ToolContext => {
  Object.defineProperty(context, bodyOf, { value: body });
  return Object.defineProperty(context, "signal", signal) as ToolContext;
};

const continueAs = async (asking: Asking, args: unknown): Promise<never> => {
  const { body, facts } = asking;
  if (body.isOver) throw ended;
  const input = toJson(args, "the arguments to continue with");
  await body.ended();
  if (body.isOver) throw ended;
  facts.continueAs(input);
  return new Promise<never>(() => undefined);
};

export const toolContext = (body: BodyRun, facts: CallFacts): ToolContext => {
  const asking = new Asking(body, facts);
  const { toolNamed } = facts.processApi;
  const facets = facetsOf(asking);
  const { processId, agentFrameId } = origin(asking);
  const { externalEventKey, completionKey } = keys(asking);
  const { now, random, uuid } = names(asking);
  const { payloadAs, attachments } = handed(asking);
  const context: Omit<ToolContext, "signal"> = {
    ...facets, // First: V8 copies it as a whole.
    sessionId: facts.sessionId,
    session: facts.session,
    processId,
    agentFrameId,
    toolCallId: facts.callId,
    attempt: body.id.attempt,
    maxAttempts: facts.maxAttempts,
    replayKey: facts.replayKey,
    payload: facts.payload,
    background: { ...facets.background, tool: toolNamed },
    callableToolManifest: (name) => toolNamed(name)?.manifest,
    runJson: steps(asking).runJson,
    externalEventKey,
    completionKey,
    onCancel: cancels(asking).onCancel,
    now,
    random,
    uuid,
    emitChildProcessStarted: (id, entryName) => facts.processApi.childStarted(body.id.call, id, entryName),
    progress: progress(asking).progress,
    payloadAs,
    attachments,
    continueAs: (args) => handled(continueAs(asking, args)),
  };
  return withSignal(context, body);
};
