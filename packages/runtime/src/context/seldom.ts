/** What few bodies ask for: all facets of `ctx` but steps, and what is answered at once. */
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

export interface SeldomFacets
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

export const seldomFacets = (asking: Asking): SeldomFacets => {
  const own = processes(asking);
  return {
    ...waits(asking),
    ...hostRequests(asking),
    ...batches(asking),
    ...selects(asking),
    ...own,
    ...processEvents(asking),
    ...handleTools(asking, own.processes),
    ...sessions(asking),
    ...triggers(asking),
    ...directs(asking),
    ...longWorkFacets(asking),
  };
};
