/** Compares a body's new run with its log. */
import type { Event, EventOf } from "@pawl/sansio-core";
import { type CallRow, bodyOf, recoveryOf } from "@pawl/sansio-core/driver";
import { type ToolDefinition, manifestOf } from "@pawl/runtime";
import { checkArgs } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import type { RecordedText, Watch } from "./idle-context.ts";
import type { Rerun } from "./rerun.ts";
import type { Verdict } from "./verdict.ts";

/** Kinds of requests whose promises carry their key, so that they can be seen. */
const seenKinds: ReadonlySet<string> = new Set(["step", "sleep", "wait", "host", "batch"]);

/** Returns the recorded requests of the current attempt, in order. */
const recordedKeys = (row: CallRow): readonly string[] => {
  const body = bodyOf(row);
  if (body === undefined) return [];
  const settled = [...body.settled]
    .filter(([, effect]) => effect.attempt === body.attempt)
    .map(([key, { kind, requested }]) => ({ key, kind, seq: requested }));
  return [...settled, ...body.open]
    .filter(({ kind }) => seenKinds.has(kind))
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ key }) => key);
};

const ofCall = <T extends Event["type"]>(events: readonly Event[], type: T, call: string): readonly EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type && "call" in event && event.call === call);

/** Returns the key of the request that `found` names. */
const keyIn = (found: string): string =>
  /^\S+ `(?<key>.*?)`(?: with input [0-9a-f]+)?$/s.exec(found)?.groups?.["key"] ?? "";

/** The body makes another request than the recorded one. */
const otherEffect = (
  { call, position, expected, found, differs }: EventOf<"call.diverged">,
  next: string | undefined,
  { texts }: Watch,
  recordedText: RecordedText,
): Verdict => {
  const isNew = expected.startsWith("the recorded ");
  const key = keyIn(found);
  const recorded = recordedText(call, isNew ? (next ?? "") : key);
  const asked = texts.get(key);
  return {
    type: isNew ? "new_effect" : "other_input",
    position,
    expected: isNew ? (next ?? expected) : expected,
    found,
    ...(recorded === undefined ? {} : { recorded }),
    ...(asked === undefined ? {} : { asked }),
    ...(differs === undefined ? {} : { differs }),
  };
};

const diverged = (
  event: EventOf<"call.diverged">,
  missing: readonly string[],
  watch: Watch,
  recordedText: RecordedText,
): Verdict => {
  const { position, found } = event;
  if (found !== "no request at all") return otherEffect(event, missing[0], watch, recordedText);
  return watch.unanswered > 0 || missing.length === 0
    ? { type: "missing_effect", position, missing }
    : { type: "waits_outside", requests: position, isDiverged: true };
};

/** Judges a call by the events after the restart. */
const ofRerun = (row: CallRow, { events, watchOf, errors }: Rerun, recordedText: RecordedText): Verdict => {
  const call = row.call.ref;
  const recorded = recordedKeys(row);
  const watch = watchOf(call);
  if (watch === undefined) return { type: "not_started", phase: row.phase, isBegun: true };
  const missing = recorded.filter((key) => !watch.keys.has(key));
  const position = recorded.length - missing.length;
  const [divergence] = ofCall(events, "call.diverged", call);
  if (divergence !== undefined && divergence.found !== "its end")
    return diverged(divergence, missing, watch, recordedText);
  const error = errors.get(call);
  if (missing.length > 0) {
    return { type: "missing_effect", position, missing, ...(error === undefined ? {} : { thrown: error }) };
  }
  if (error !== undefined) return { type: "failed", message: error };
  const requests = recorded.length;
  if (ofCall(events, "call.settled", call).length > 0) return { type: "completes", requests };
  const next = ofCall(events, "effect.requested", call).map(({ key }) => key);
  if (next.length > 0) return { type: "goes_on", requests, next };
  return watch.unanswered > 0 ? { type: "same", requests } : { type: "waits_outside", requests, isDiverged: false };
};

/** Returns the verdict if the tool is missing or rejects the arguments. */
const toolProblem = async (row: CallRow, tools: ReadonlyMap<string, ToolDefinition>): Promise<Verdict | undefined> => {
  const manifest = "manifest" in row ? row.manifest : bodyOf(row)?.manifest;
  if (manifest === undefined) return undefined;
  const tool = tools.get(manifest.id);
  if (tool === undefined) return { type: "no_tool", toolId: manifest.id };
  const checked = await checkArgs(tool, row.args);
  return E.isLeft(checked) ? { type: "args_refused", message: checked.left } : undefined;
};

/** Phases in which no body runs. */
const endedPhases: ReadonlySet<CallRow["phase"]> = new Set(["pending", "finishing", "completed"]);

export const judge = async (
  row: CallRow,
  tools: readonly ToolDefinition[],
  seen: Rerun,
  recordedText: RecordedText,
): Promise<Verdict> => {
  if (endedPhases.has(row.phase)) return { type: "body_over", phase: row.phase };
  const problem = await toolProblem(row, new Map(tools.map((tool) => [manifestOf(tool).id, tool])));
  if (problem !== undefined) return problem;
  const body = bodyOf(row);
  if (body === undefined || row.phase === "backing_off" || row.phase === "awaiting_approval") {
    return { type: "not_started", phase: row.phase, isBegun: body !== undefined };
  }
  const recovery = recoveryOf(body.manifest);
  return recovery === "rerunnable" ? ofRerun(row, seen, recordedText) : { type: "not_rerun", recovery };
};
