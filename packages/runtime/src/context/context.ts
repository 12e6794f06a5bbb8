/** What a tool's body is given: `ctx`, put together from its facets. */
import type { Json } from "@pawl/tool-value";
import type { BodyRun } from "../body.ts";
import { ended } from "../signals.ts";
import { Asking, handled, toJson } from "./asking.ts";
import { type Batches, batches } from "./batch.ts";
import { type Cancels, cancels } from "./cancel.ts";
import { type LongWorkFacets, longWorkFacets } from "./long-work.ts";
import type { CallFacts } from "./facts.ts";
import { type HostRequests, hostRequests } from "./host.ts";
import { type Directs, directs } from "./direct.ts";
import { type Handed, handed } from "./handed.ts";
import { type Names, names } from "./name.ts";
import { type HandleToolFacet, handleTools } from "./handle-tool.ts";
import { type Processes, processes } from "./process.ts";
import { origin } from "./process-reach.ts";
import { type ProcessEvents, processEvents } from "./process-event.ts";
import { type Progress, progress } from "./progress.ts";
import { type Selects, selects } from "./select.ts";
import { type Sessions, sessions } from "./session.ts";
import { type Steps, steps } from "./step.ts";
import { type Triggers, triggers } from "./trigger.ts";
import { type Waits, waits } from "./wait.ts";

export interface ToolContext
  extends
    Steps,
    Waits,
    HostRequests,
    Batches,
    Selects,
    Cancels,
    Names,
    Processes,
    ProcessEvents,
    HandleToolFacet,
    Progress,
    Handed,
    Sessions,
    Triggers,
    Directs,
    LongWorkFacets {
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

const continueAs = async (body: BodyRun, facts: CallFacts, args: unknown): Promise<never> => {
  if (body.isOver) throw ended;
  const input = toJson(args, "the arguments to continue with");
  body.stillness.inOrder(() => facts.continueAs(input));
  return new Promise<never>(() => undefined);
};

export const toolContext = (body: BodyRun, facts: CallFacts): ToolContext => {
  const asking = new Asking(body, facts);
  const own = processes(asking);
  const context: Omit<ToolContext, "signal"> = {
    sessionId: facts.sessionId,
    session: facts.session,
    ...origin(asking),
    toolCallId: facts.callId,
    attempt: body.id.attempt,
    maxAttempts: facts.maxAttempts,
    replayKey: facts.replayKey,
    payload: facts.payload,
    ...steps(asking),
    ...waits(asking),
    ...hostRequests(asking),
    ...batches(asking),
    ...selects(asking),
    ...cancels(asking),
    ...names(asking),
    ...own,
    ...processEvents(asking),
    ...handleTools(asking, own.processes),
    emitChildProcessStarted: (processId, entryName) => facts.reach.childStarted(body.id.call, processId, entryName),
    ...progress(asking),
    ...handed(asking),
    ...sessions(asking),
    ...triggers(asking),
    ...directs(asking),
    ...longWorkFacets(asking),
    continueAs: (args) => handled(continueAs(body, facts, args)),
  };
  return withSignal(context, body);
};
