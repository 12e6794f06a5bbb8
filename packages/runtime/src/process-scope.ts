/** What the bodies of a scope can do with processes: the scope's own reach, as their contexts get it. */
import { type Event, type ProcessEvent, type Rejection, type State, type Written, envRef } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { SessionWork } from "./background/session-work.ts";
import type { ProcessReach } from "./context/process-reach.ts";
import { EffectError } from "./error.ts";
import { ProcessLog } from "./process-log.ts";
import type { Workplace } from "./process-work.ts";
import type { LiveTool } from "./live-tool.ts";
import { misfitOfEvent } from "./readable.ts";
import type { Watch } from "./watch.ts";

export interface ReachPort {
  readonly scope: Workplace;
  readonly watch: Watch;
  readonly tool: (id: string) => LiveTool | undefined;
  readonly work: SessionWork;
  readonly begins: ProcessReach["begins"];
  readonly execute: ProcessReach["execute"];
  /** The environment that calls of this scope run in: what a process is told to load. */
  readonly environmentSpec: () => Json;
  readonly childStarted: (call: string, processId: string, entryName: string | undefined) => void;
}

/** What a scope's calls run in where the host does not say. */
export const plainEnvironment: Json = { plugin_options: {}, policy: {} };

const callable = new Set(["callable", "showcased"]);

const toolNamed = ({ catalog }: State, tool: ReachPort["tool"], name: string): LiveTool | undefined => {
  const manifest = catalog.byName.get(name);
  if (manifest === undefined) return undefined;
  const availability = catalog.overrides.get(name) ?? manifest.availability;
  return callable.has(availability) ? tool(manifest.id) : undefined;
};

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new EffectError("cancelled", "the call was cancelled"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

/** Reads the log until the event is there; a longer log is read on from where it was. */
const eventAfter = async (
  { scope, watch }: ReachPort,
  eventType: string,
  after: number,
  signal: AbortSignal,
): Promise<ProcessEvent> => {
  const log = new ProcessLog(scope.runner.id, scope.readLines);
  const stopped = aborted(signal);
  stopped.catch(() => undefined); // It is raced below; nobody else asks.
  for (;;) {
    const found = (await log.next()).find((event) => event.event_type === eventType && event.sequence > after);
    if (found !== undefined) return found;
    const isLonger = (): true | undefined =>
      (scope.runner.state.process?.sequence ?? 0) > log.sequence ? true : undefined;
    await Promise.race([watch.until(isLonger), stopped]);
    await scope.runner.settled();
  }
};

export const reachOf = (port: ReachPort): ProcessReach => {
  const { runner } = port.scope;
  return {
    state: () => runner.state,
    tell: (event: Event) => {
      const misfit = misfitOfEvent(event);
      if (misfit !== undefined) return { status: "err", error: { code: "durable_effect_value", message: misfit } };
      const told: E.Either<Rejection, Written> = runner.tell(event);
      if (E.isRight(told)) return { status: "ok", value: null };
      const { code, message } = told.left;
      return { status: "err", error: { code, message } };
    },
    work: port.work,
    begins: port.begins,
    execute: port.execute,
    captureEnv: () => envRef(port.environmentSpec()),
    toolNamed: (name) => toolNamed(runner.state, port.tool, name),
    eventAfter: (eventType, after, signal) => eventAfter(port, eventType, after, signal),
    childStarted: port.childStarted,
  };
};
