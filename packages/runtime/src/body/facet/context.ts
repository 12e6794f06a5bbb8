/** The context of a tool's body: `ctx`, put together from its facets. */
import { type AttachmentCreateMeta, type AttachmentRef, type Codec, type Json, describe, read } from "@pawl/tool-value";
import { hasRule } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { BodyRun } from "../body-run.ts";
import { EffectError, requireRule, shownOf } from "../../error.ts";
import { putAttachment } from "../../journal/blob.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import type { ToolManifest } from "../../tool/manifest.ts";
import { ended } from "../stop.ts";
import type { ProgressMessage } from "../../session/observe/observation.ts";
import { type CallFacts, Asking, toJson } from "./facet.ts";
import { handled } from "./durable.ts";
import { type Approves, approvals, type Waits, waits } from "./wait.ts";
import { type Concurrency, concurrency } from "./concurrency.ts";
import { type HandleTools, handleTools } from "./handle-tool.ts";
import { type HostRequests, hostRequests } from "./host.ts";
import { type LongWorkFacets, longWorkFacets } from "./long-work.ts";
import { type ProcessesFacet, processes } from "./process.ts";
import { type ProcessEvents, handedSignals, processEvents } from "./process-event.ts";
import { type Spawns, spawns } from "./spawn.ts";
import { type Steps, steps } from "./step.ts";
import { type Streams, streams } from "./stream.ts";

export interface ToolContext
  extends Steps, Streams, Waits, Approves, Concurrency, Spawns, HostRequests, ProcessEvents, LongWorkFacets {
  readonly processes: ProcessesFacet;
  readonly handleTools: HandleTools;
  readonly background: LongWorkFacets["background"] & {
    /** Finds a tool that may be called here. */
    readonly tool: (name: string) => LiveTool | undefined;
  };
  /** Describes a tool that may be called here, as it is now: the answer is not on record. */
  readonly callableToolManifest: (name: string) => ToolManifest | undefined;
  /** The scope that the call runs in. */
  readonly scope: string;
  /** The session that it is for: of a process, the one that started it. */
  readonly session: string;
  /** The agent's frame that it is for, where a frame started the process that it runs in. */
  readonly agentFrameId: string | undefined;
  /** The process that it runs in. */
  readonly processId: string | undefined;
  readonly toolCallId: string;
  /** The id of the sub-agent that this call may start, by `processes`: `{session or process}/{request}/{call}`. */
  readonly subAgentId: string;
  /** Counts from 1 in each life of the call, as its retry policy does. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** One for all attempts of this life of the call: the idempotency key for an outside service. */
  readonly replayKey: string;
  readonly payload: Json;
  /** The prepared payload, decoded. */
  readonly payloadAs: <A>(codec: Codec<A>) => A;
  readonly signal: AbortSignal;
  /** Scope time at which the answer that was delivered last first came: equal in every run and attempt. */
  readonly now: () => number;
  /** Equal in every run, as is `uuid`. */
  readonly random: () => number;
  readonly uuid: (name: string) => string;
  /**
   * Tells new code from its older self: true where the call may do as the new code says, false where it repeats what older
   * code did. The answer is the same in every run of a life.
   */
  readonly patched: (name: string) => boolean;
  /** Shows a message to observers. It is not recorded. */
  readonly progress: (message: ProgressMessage) => void;
  readonly attachments: {
    /** The same bytes are the same attachment, so that a body that runs again may put them again. */
    readonly put: (bytes: Uint8Array, meta: AttachmentCreateMeta) => Promise<AttachmentRef>;
  };
  /** Tells the host's trace that a process was started for this call. */
  readonly emitChildProcessStarted: (processId: string, entryName?: string) => void;
  /** Starts the body anew, in another life of its call: with other arguments, nothing remembered, and keys of its own. */
  readonly continueAs: (args: unknown) => Promise<never>;
}

const bodyOf = Symbol("body");

/** One for all contexts: V8 makes a hidden class for each accessor that an object is made with, and keeps its closure. */
const signal: PropertyDescriptor = {
  enumerable: true,
  get(this: { readonly [bodyOf]: BodyRun }) {
    return this[bodyOf].signals.work;
  },
};

/** Adds `signal`, which is made when it is first read: most bodies never do. */
const withSignal = (context: Omit<ToolContext, "signal">, body: BodyRun): ToolContext => {
  Object.defineProperty(context, bodyOf, { value: body });
  return Object.defineProperty(context, "signal", signal) as ToolContext;
};

/** Tells whether a body, which runs again, has not come to the end of its record yet. */
export const isRepeating = (ctx: object): boolean =>
  (ctx as { readonly [bodyOf]?: BodyRun })[bodyOf]?.isRepeating === true;

/** Finds the process that a call runs in, and the agent's frame that started that process. */
const origin = ({ processApi }: CallFacts): Pick<ToolContext, "processId" | "agentFrameId"> => {
  const registration = processApi.state().process?.registration;
  const originator = registration?.provenance.originator;
  return {
    processId: registration?.id,
    agentFrameId: originator?.type === "session" ? originator.scope.agent_frame_id : undefined,
  };
};

/** Makes a name-based UUID of a hash, in version 8: the bits are those of our own hash. */
export const uuidOf = (hex: string): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
};

/** Returns time, chance and names that are equal in every run. */
const names = (asking: Asking): Pick<ToolContext, "now" | "random" | "uuid"> => {
  const hashOf = (name: string): string => asking.hashOfName(asking.nextName(name));
  return {
    now: () => asking.body.now,
    random: () => Number.parseInt(hashOf("random").slice(0, 12), 16) / 2 ** 48,
    uuid: (name) => uuidOf(hashOf(`uuid:${name}`)),
  };
};

const patched = ({ body, facts }: Asking, name: string): boolean => {
  requireRule(facts.processApi.state().scope.protocol, "patches", "`ctx.patched`");
  if (typeof name !== "string" || name.trim() === "")
    throw new EffectError(
      "durable_effect_value",
      `the name of a patch: expected a text that is not blank, found ${shownOf(name)}`,
    );
  if (body.isOver) throw ended;
  return body.patches.answer(name);
};

const payloadAs = <A>({ payload }: CallFacts, codec: Codec<A>): A => {
  const decoded = read(codec, payload);
  if (E.isLeft(decoded)) throw new EffectError("prepared_payload", `the prepared payload: ${describe(decoded.left)}`);
  return decoded.right;
};

const continueAs = async (asking: Asking, args: unknown): Promise<never> => {
  const { body, facts } = asking;
  if (body.isOver) throw ended;
  const input = toJson(args, "the arguments to continue with");
  await body.ended();
  if (body.isOver) throw ended;
  facts.continueAs(input, handedSignals(asking));
  return new Promise<never>(() => undefined);
};

/** A body says again what it said while it repeats its log: that was shown. */
const isMute = ({ body, facts }: Asking): boolean =>
  body.isOver || (body.isRepeating && hasRule(facts.processApi.state().scope.protocol, "suspends_every_wait"));

export const toolContext = (body: BodyRun, facts: CallFacts): ToolContext => {
  const asking = new Asking(body, facts);
  const { toolNamed, childStarted } = facts.processApi;
  const { run, onCancel } = steps(asking);
  const { stream } = streams(asking);
  const { sleep, waitFor, token, completionKey } = waits(asking);
  const { call, callAll, race, any, all, allSettled } = concurrency(asking);
  const { host, store, sessions, triggers, directCompletions } = hostRequests(asking);
  const { background, tasks, schedules } = longWorkFacets(asking);
  const { emitProcessEvent, processEvents: events } = processEvents(asking);
  const { processId, agentFrameId } = origin(facts);
  const { now, random, uuid } = names(asking);
  const own = processes(asking);
  const context: Omit<ToolContext, "signal"> = {
    run,
    onCancel,
    stream,
    sleep,
    waitFor,
    token,
    completionKey,
    approve: approvals(asking).approve,
    call,
    callAll,
    race,
    any,
    all,
    allSettled,
    host,
    store,
    sessions,
    triggers,
    directCompletions,
    processes: own,
    spawn: spawns(asking, own).spawn,
    handleTools: handleTools(asking, own),
    emitProcessEvent,
    processEvents: events,
    background: { ...background, tool: toolNamed },
    tasks,
    schedules,
    callableToolManifest: (name) => toolNamed(name)?.manifest,
    scope: facts.scope,
    session: facts.session,
    processId,
    agentFrameId,
    toolCallId: facts.callId,
    subAgentId: facts.subAgentId,
    attempt: facts.attempt,
    maxAttempts: facts.maxAttempts,
    replayKey: facts.replayKey,
    payload: facts.payload,
    payloadAs: (codec) => payloadAs(facts, codec),
    now,
    random,
    uuid,
    patched: (name) => patched(asking, name),
    progress: (message) => {
      if (!isMute(asking)) facts.progress(asking.shown(message));
    },
    attachments: {
      put: (bytes, meta) =>
        handled(body.isOver ? Promise.reject(ended) : putAttachment(facts.attachments, bytes, meta)),
    },
    emitChildProcessStarted: (id, entryName) => childStarted(body.id.call, id, entryName),
    continueAs: (args) => handled(continueAs(asking, args)),
  };
  return withSignal(context, body);
};
