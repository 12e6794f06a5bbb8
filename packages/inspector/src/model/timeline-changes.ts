/** Derives the changes of the timeline from the rows that an event changed: lanes, spans and marks. */
import type { Recorded, State, Transition } from "@pawl/sansio-core";
import { type CallRow, type PersistentMap, bodyOf } from "@pawl/sansio-core/driver";
import { keyName } from "./entry.ts";
import type { Lane, LaneKind, Mark, SpanEnd } from "./lane-builder.ts";
import type { LaneBuilder } from "./lane-builder.ts";

interface Change {
  readonly lanes: LaneBuilder;
  readonly seq: number;
  readonly before: State;
  readonly after: State;
  /** The scope moved or was forked here: open work is abandoned, not lost. */
  readonly isHandover: boolean;
}

const itself = "";

const depthOf = ({ lanes, after, before }: Change, { call }: CallRow): number => {
  const parent = (after.batches.at(call.batch) ?? before.batches.at(call.batch))?.parent;
  const above = parent === undefined ? undefined : lanes.laneAt("call", parent.call);
  return above === undefined ? 0 : above.depth + 1;
};

const phaseLabel = (row: CallRow): string => {
  const body = bodyOf(row);
  if (body === undefined || (body.attempt === 1 && body.run === 1)) return row.phase.replaceAll("_", " ");
  const attempt = body.attempt > 1 ? `attempt ${body.attempt}, ` : "";
  return `${row.phase.replaceAll("_", " ")} · ${attempt}run ${body.run}`;
};

const runOf = (row: CallRow): string => {
  const body = bodyOf(row);
  return body === undefined ? row.phase : `${row.phase} ${body.attempt}.${body.run}`;
};

const isLost = (before: CallRow, after: CallRow | undefined): boolean =>
  before.phase === "running" && after !== undefined && "cause" in after && after.cause === "owner_lost";

const lossIn = ({ isHandover }: Change): SpanEnd => (isHandover ? "abandoned" : "lost");

/** Returns the author's name for an effect, or its kind if the key is a hash, as for batches and waits. */
const effectLabel = (key: string, kind: string): string => {
  const name = keyName(key);
  return name === "" || /^[0-9a-f]{64}$/.test(name) ? kind : name;
};

/** Returns the name of a call's tool. A call of a batch has only the tool's id until it is prepared. */
const titleOf = ({ after }: Change, { tool }: CallRow): string => after.catalog.byId.get(tool)?.name ?? tool;

/** Returns the effects that are open in one row and not in the other. */
const onlyIn = (row: CallRow | undefined, other: CallRow | undefined): readonly { key: string; kind: string }[] => {
  const open = (row === undefined ? undefined : bodyOf(row)?.open) ?? [];
  const known = new Set(((other === undefined ? undefined : bodyOf(other)?.open) ?? []).map(({ key }) => key));
  return open.filter(({ key }) => !known.has(key));
};

const changeEffects = (change: Change, lane: Lane, was: CallRow | undefined, row: CallRow | undefined): void => {
  const { lanes, seq } = change;
  const settled = row === undefined ? undefined : bodyOf(row)?.settled;
  for (const { key } of onlyIn(was, row)) lanes.closeSpan(lane, key, seq, settled?.get(key)?.status ?? "abandoned");
  for (const { key, kind } of onlyIn(row, was))
    lanes.openSpan(lane, key, { kind, label: effectLabel(key, kind), from: seq });
  if (was === undefined || !isLost(was, row)) return;
  for (const { key, kind } of bodyOf(was)?.open ?? [])
    if (kind === "step") lanes.closeSpan(lane, key, seq, lossIn(change));
};

/** Opens the steps again that were lost, except the ones that run at most once. */
const restartSteps = ({ lanes, seq }: Change, lane: Lane, row: CallRow): void => {
  for (const { key, kind, recovery } of bodyOf(row)?.open ?? [])
    if (kind === "step" && recovery !== "once" && !lanes.isOpen(lane, key))
      lanes.openSpan(lane, key, { kind, label: keyName(key), from: seq });
};

const changeCall = (change: Change, key: string): void => {
  const { lanes, seq, before, after } = change;
  const [was, row] = [before.calls.at(key), after.calls.at(key)];
  const known = lanes.laneAt("call", key);
  const of = row ?? was;
  if (of === undefined) return;
  const [title, depth] = [titleOf(change, of), depthOf(change, of)];
  const lane = known ?? lanes.addLane({ kind: "call", key, title, depth, born: of.call.born });
  changeEffects(change, lane, was, row);
  const hasMoved = was === undefined || row === undefined || runOf(was) !== runOf(row);
  if (!hasMoved) return;
  lanes.closeSpan(lane, itself, seq, was !== undefined && isLost(was, row) ? lossIn(change) : undefined);
  if (row === undefined || row.phase === "completed") return;
  lanes.openSpan(lane, itself, { kind: row.phase, label: phaseLabel(row), from: seq });
  if (row.phase === "running") restartSteps(change, lane, row);
};

const ends: { readonly [status: string]: SpanEnd } = { success: "ok", failure: "err", cancelled: "cancelled" };

/** Marks the calls that ended with this event. */
const endCalls = ({ lanes, seq }: Change, { commands }: Transition): void => {
  for (const command of commands) {
    const lane = "call" in command ? lanes.laneAt("call", command.call) : undefined;
    if (lane === undefined) continue;
    if (command.type === "observe" && command.what === "call_completed") {
      const end = ends[command.output?.outcome.status ?? ""] ?? "ok";
      lanes.closeSpan(lane, itself, seq, end);
      lanes.openSpan(lane, itself, { kind: "ended", label: end, from: seq });
      lanes.closeSpan(lane, itself, seq, end);
    }
  }
};

/** Gives a row one span for each status that it passes through. */
const changeStatus = (
  { lanes, seq }: Change,
  kind: LaneKind,
  of: { readonly key: string; readonly title: string; readonly status: string; readonly end?: SpanEnd },
): void => {
  const { key, title, status, end } = of;
  const lane = lanes.laneAt(kind, key) ?? lanes.addLane({ kind, key, title, depth: 0, born: seq });
  lanes.closeSpan(lane, itself, seq, end);
  if (end === undefined) lanes.openSpan(lane, itself, { kind: status, label: status.replaceAll("_", " "), from: seq });
};

const newRows = <Row>(before: PersistentMap<string, Row>, after: PersistentMap<string, Row>): readonly Row[] =>
  before === after ? [] : [...after].filter(([key, row]) => before.get(key) !== row).map(([, row]) => row);

const endOf: { readonly [state: string]: SpanEnd } = {
  completed: "ok",
  succeeded: "ok",
  failed: "err",
  cancelled: "cancelled",
  canceled: "cancelled",
};

const changeBackground = (change: Change): void => {
  const { before, after, lanes, seq } = change;
  for (const { task } of newRows(before.background.tasks, after.background.tasks)) {
    if (before.background.tasks.get(task.id)?.task.state === task.state) continue;
    const end = endOf[task.state];
    changeStatus(change, "task", {
      key: task.id,
      title: task.display_name,
      status: task.state,
      ...(end !== undefined && { end }),
    });
  }
  for (const { schedule } of newRows(before.schedules.rows, after.schedules.rows)) {
    const was = before.schedules.rows.get(schedule.id)?.schedule;
    if (was !== undefined && was.trigger_count === schedule.trigger_count && was.enabled === schedule.enabled) continue;
    const status = schedule.enabled ? "scheduled" : schedule.trigger_count > 0 ? "fired" : "disabled";
    changeStatus(change, "schedule", { key: schedule.id, title: schedule.description, status });
  }
  for (const id of before.schedules.rows.keys()) {
    const lane = after.schedules.rows.has(id) ? undefined : lanes.laneAt("schedule", id);
    if (lane !== undefined) lanes.closeSpan(lane, itself, seq, "abandoned");
  }
};

const changeProcess = (change: Change): void => {
  const [was, row] = [change.before.process, change.after.process];
  if (row === undefined || (was?.status === row.status && was.wait === row.wait)) return;
  const { state } = row.status;
  const end = endOf[state];
  const status = row.wait === undefined ? state : "waiting";
  const { id, identity } = row.registration;
  const title = identity.label ?? id;
  changeStatus(change, "process", { key: id, title, status, ...(end !== undefined && { end }) });
};

/** Returns the mark of a new owner: the first one, one after a move, one after a crash, or a plain successor. */
const ownerMark = ({ lanes, seq, before, isHandover }: Change, epoch: number): Mark => {
  if (isHandover) return { seq, type: "forked", label: "forked here" };
  if (before.calls.rows().some(({ phase }) => phase === "running"))
    return { seq, type: "crash", label: `crash: a new owner continues, epoch ${epoch}` };
  const last = lanes.marks.at(-1);
  const hasMoved = last?.type === "moved" && last.seq === seq - 1;
  if (seq === 1 || hasMoved) return { seq, type: "opened", label: `epoch ${epoch}` };
  return { seq, type: "owner", label: `a new owner, epoch ${epoch}` };
};

const addMark = (change: Change, { event }: Recorded): void => {
  const { lanes, seq } = change;
  if (event.type === "scope.opened") lanes.mark(ownerMark(change, event.epoch));
  else if (event.type === "owner.lost") lanes.mark({ seq, type: "lost", label: `${event.owner} is lost` });
  else if (event.type === "scope.received") lanes.mark({ seq, type: "moved", label: "moved" });
  else if (event.type === "scope.moved") lanes.mark({ seq, type: "moved", label: "moved away" });
};

/** Applies one event to the lanes. `forkedAt`: the last event that a fork shares with its original. */
export const changeTimeline = (
  lanes: LaneBuilder,
  before: State,
  recorded: Recorded,
  transition: Transition,
  forkedAt?: number,
): void => {
  const { seq, event } = recorded;
  const isHandover = event.type === "scope.received" || (event.type === "scope.opened" && seq - 1 === forkedAt);
  const change: Change = { lanes, seq, before, after: transition.state, isHandover };
  addMark(change, recorded);
  for (const key of change.after.calls.changedSince(before.calls)) changeCall(change, key);
  endCalls(change, transition);
  if (before.background !== change.after.background || before.schedules !== change.after.schedules)
    changeBackground(change);
  changeProcess(change);
};
