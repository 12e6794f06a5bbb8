/** Calls of a snapshot as rows. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import { type BodyState, type CallIdentity, type CallRow, earliestDue, runningRow } from "../call/model.ts";
import type { Tool } from "../catalog/model.ts";
import type { BodyShape, CallShape } from "./call.ts";
import type { WaitShape } from "./shape.ts";

/** What rows refer to by place; `misfitOf` has seen to it that there is something at each. */
export interface Known {
  readonly tools: readonly Tool[];
  readonly waits: readonly WaitShape[];
}

const toolAt = ({ tools }: Known, place: number): Tool => tools[place] as Tool;

const bodyState = (known: Known, { manifest, settled, ...body }: BodyShape): BodyState => ({
  ...body,
  manifest: toolAt(known, manifest),
  settled: PersistentMap.of(settled),
});

type WithBody = Extract<CallShape, { readonly body: BodyShape }>;
type Base = Pick<CallRow, "call" | "tool" | "args">;

const runRow = (known: Known, base: Base, shape: WithBody): CallRow => {
  const body = bodyState(known, shape.body);
  const row = { ...base, observed: true, body };
  switch (shape.phase) {
    case "running": {
      const { owner, key, cancelled } = shape;
      return runningRow(row, body, { owner, key, cancelled });
    }
    case "resuming":
      return { ...row, phase: shape.phase, cause: shape.cause, due: shape.due, cancelled: shape.cancelled };
    case "suspended":
      return { ...row, phase: shape.phase, due: earliestDue(body.open) };
    case "no_executor":
    case "backing_off":
      return { ...row, phase: shape.phase, due: shape.due };
    case "unknown":
      return { ...row, phase: shape.phase, cause: shape.cause };
  }
};

export const callRow = (known: Known, shape: CallShape, call: CallIdentity): CallRow => {
  const { tool, args } = shape;
  const base = { call, tool, args };
  switch (shape.phase) {
    case "requested":
      return { ...base, observed: false, phase: shape.phase, byId: shape.byId };
    case "preparing": {
      const { phase, waits } = shape;
      return { ...base, observed: false, phase, manifest: toolAt(known, shape.manifest), waits };
    }
    case "awaiting_approval": {
      const { phase, approval, due } = shape;
      const body = shape.body === undefined ? undefined : bodyState(known, shape.body);
      return { ...base, observed: true, phase, manifest: toolAt(known, shape.manifest), approval, body, due };
    }
    case "ready": {
      const { phase, observed, payload, argsHash } = shape;
      return { ...base, observed, phase, manifest: toolAt(known, shape.manifest), payload, argsHash };
    }
    case "pending": {
      const { phase, pending, durationMs, due } = shape;
      return { ...base, observed: true, phase, key: known.waits[shape.wait]?.key ?? "", pending, durationMs, due };
    }
    case "finishing": {
      const { phase, observed, waits, output, durationMs } = shape;
      return { ...base, observed, phase, waits, output, durationMs };
    }
    case "completed": {
      const { phase, output, durationMs, parts } = shape;
      const row = { ...base, observed: true, phase, output, durationMs };
      return parts === undefined ? row : { ...row, parts };
    }
    default:
      return runRow(known, base, shape);
  }
};
