/** Sorts the events of parallel branches into an order that does not depend on timing. */
import type { FlowExecutionEvent } from "@pawl/sansio-core/driver";

const segmentsOf = (event: FlowExecutionEvent): readonly string[] =>
  "branch_path" in event && event.branch_path !== undefined ? event.branch_path.split(".") : [];

const isBranch = (segment: string): boolean => segment.startsWith("par[");
const numberOf = (segment = ""): number => Number(/\d+/.exec(segment)?.[0]);

/** The events of one block, and the position of its branches' names in their paths. */
interface Block {
  readonly at: number;
  readonly prefix: string;
  readonly events: FlowExecutionEvent[];
}

const branchesOf = ({ at, events }: Block): readonly FlowExecutionEvent[] => {
  const branches = Map.groupBy(events, (event) => numberOf(segmentsOf(event)[at]));
  return [...branches].toSorted(([a], [b]) => a - b).flatMap(([, own]) => byBranch(own, at + 1));
};

/** Returns the events with those of each block grouped by branch, at every depth. */
export const byBranch = (events: readonly FlowExecutionEvent[], depth = 0): readonly FlowExecutionEvent[] => {
  const parts: (FlowExecutionEvent | Block)[] = [];
  for (const event of events) {
    const segments = segmentsOf(event);
    const at = segments.findIndex((segment, i) => i >= depth && isBranch(segment));
    const prefix = segments.slice(0, at).join(".");
    const last = parts.at(-1);
    if (at === -1) parts.push(event);
    else if (last !== undefined && "events" in last && last.prefix === prefix) last.events.push(event);
    else parts.push({ at, prefix, events: [event] });
  }
  return parts.flatMap((part) => ("events" in part ? branchesOf(part) : [part]));
};
