/** The facets of `ctx` that reach beyond the body: waits, other calls, processes, sessions, long work. */
import type { Asking } from "./asking.ts";
import { type Batches, batches } from "./batch.ts";
import { type Directs, directs } from "./direct.ts";
import { type HandleToolFacet, handleTools } from "./handle-tool.ts";
import { type HostRequests, hostRequests } from "./host.ts";
import { type LongWorkFacets, longWorkFacets } from "./long-work.ts";
import { type ProcessEvents, processEvents } from "./process-event.ts";
import { type Processes, processes } from "./process.ts";
import { type Selects, selects } from "./select.ts";
import { type Sessions, sessions } from "./session.ts";
import { type Triggers, triggers } from "./trigger.ts";
import { type Waits, waits } from "./wait.ts";

export interface Facets
  extends
    Waits,
    HostRequests,
    Batches,
    Selects,
    Processes,
    ProcessEvents,
    HandleToolFacet,
    Sessions,
    Triggers,
    Directs,
    LongWorkFacets {}

/** Each by its name: to spread eleven objects into one takes longer than to make them. */
export const facetsOf = (asking: Asking): Facets => {
  const { sleep, awaitEventJson } = waits(asking);
  const { race, any, all, allSettled } = selects(asking);
  const { processes: own } = processes(asking);
  const { emitProcessEvent, processEvents: events } = processEvents(asking);
  const { background, tasks, schedules } = longWorkFacets(asking);
  return {
    sleep,
    awaitEventJson,
    host: hostRequests(asking).host,
    batch: batches(asking).batch,
    race,
    any,
    all,
    allSettled,
    processes: own,
    emitProcessEvent,
    processEvents: events,
    handleTools: handleTools(asking, own).handleTools,
    sessions: sessions(asking).sessions,
    triggers: triggers(asking).triggers,
    directCompletions: directs(asking).directCompletions,
    background,
    tasks,
    schedules,
  };
};
