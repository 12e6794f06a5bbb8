/** Coverage: the events, rejections, commands and faults of all runs, and those that every run must reach. */
import type { CommandType } from "@pawl/sansio-core/driver";
import type { EventType, RejectionCode } from "@pawl/sansio-core";

type Wanted<K extends string> = { readonly [_ in K]: true | string };

const events: Wanted<EventType> = {
  "scope.opened": true,
  "scope.configured": true,
  "scope.upgraded": true,
  "scope.moving": true,
  "scope.received": true,
  "scope.moved": true,
  "scope.kept": true,
  "owner.lost": true,
  "clock.ticked": true,
  "catalog.published": true,
  "catalog.overridden": true,
  "scope.described": true,
  "value.kept": true,
  "secret.kept": true,
  "request.submitted": true,
  "flow.submitted": true,
  "request.cancelled": true,
  "reply.acked": true,
  "hook.ran": true,
  "args.checked": true,
  "place.granted": true,
  "call.prepared": true,
  "call.dispatched": true,
  "call.settled": true,
  "call.settled_late": true,
  "call.suspended": true,
  "call.resumed": true,
  "call.continued": true,
  "call.diverged": true,
  "call.cleaned_up": true,
  "call.executor_missing": true,
  "call.tool_missing": true,
  "executors.available": true,
  "call.cancelled": true,
  "outcome.resolved": true,
  "result.projected": true,
  "approval.decided": true,
  "effect.requested": true,
  "step.settled": true,
  "step.failed": true,
  "host.answered": true,
  "host.waiting": true,
  "replies.recorded": true,
  "stream.recorded": true,
  "stream.reset": true,
  "effect.reused": true,
  "wait.resolved": true,
  "wait.cancelled": true,
  "wait.revoked": true,
  "external.cancel_acked": true,
  "wake.acked": true,
  "session.told": true,
  "lambda.applied": true,
  "flow.consumer_gone": true,
  "message.received": true,
  "message.answered": true,
  "link.retired": true,
  "process.registered": true,
  "process.event_appended": true,
  "handle.granted": true,
  "handles.transferred": true,
  "handles.revoked": true,
  "session.deleted": true,
  "run.requested": true,
  "permit.answered": true,
  "run.reported": true,
  "artifacts.written": true,
  "task.created": true,
  "task.updated": true,
  "task.cancel_requested": true,
  "task.messaged": true,
  "schedule.requested": true,
  "schedule.planned": true,
  "schedule.cancelled": true,
  "probe.answered": true,
  "agent.published": true,
  "agent.missing": true,
  "prices.published": true,
  "limits.set": true,
  "frame.opened": true,
  "turn.submitted": true,
  "model.identified": true,
  "model.streamed": true,
  "model.answered": true,
  "model.failed": true,
  "model.stopped": true,
  "model.late": true,
  "model.resolved": true,
  "turn.checked": true,
  "budget.decided": true,
  "compaction.requested": true,
};

const rejections: Wanted<RejectionCode> = {
  sequence_mismatch: true,
  time_went_back: true,
  scope_not_opened: true,
  stale_epoch: true,
  newer_protocol: true,
  not_an_upgrade: true,
  needs_protocol_2: true,
  scope_is_moving: true,
  scope_is_not_moving: true,
  scope_has_moved: true,
  nonce_mismatch: true,
  tool_conflict: true,
  empty_id: true,
  request_conflict: true,
  request_exists: true,
  request_unknown: true,
  call_id_conflict: true,
  no_reply_waits: true,
  call_unknown: true,
  call_ended: true,
  call_is_live: true,
  wrong_phase: true,
  stale_run: true,
  stale_attempt: true,
  stale_try: true,
  stale_answer: true,
  stale_decision: true,
  effect_unknown: true,
  effect_exists: true,
  effect_settled: true,
  effect_kind_mismatch: true,
  effects_open: true,
  stream_unknown: true,
  stale_stream: true,
  stream_full: true,
  replies_mismatch: true,
  not_a_waiter: true,
  already_resolved: true,
  unknown_or_revoked: true,
  too_many_unclaimed: true,
  owner_unknown: true,
  process_exists: true,
  process_event_exists: true,
  process_unknown: true,
  process_conflict: true,
  process_refused: true,
  link_gap: true,
  link_unknown: true,
  link_full: true,
  already_received: true,
  already_answered: true,
  handle_refused: true,
  session_deleted: true,
  message_unknown: true,
  flow_refused: true,
  wrong_scope: true,
  run_exists: true,
  run_unknown: true,
  task_exists: true,
  task_unknown: true,
  task_ended: true,
  already_cancelled: true,
  schedule_exists: true,
  schedule_unknown: true,
  schedule_unplanned: true,
  schedule_ended: true,
  too_many_schedules: true,
  invalid_option: true,
  invalid_turn: true,
  session_busy: true,
  too_many_turns: true,
  extension_too_small: true,
  edit_not_possible: true,
  frame_in_use: true,
};

const commands: Wanted<CommandType> = {
  "hook.run": true,
  "args.check": true,
  "place.take": true,
  "tool.prepare": true,
  "result.project": true,
  "outcome.resolve": true,
  "replies.record": true,
  "tool.cancel": true,
  "step.answer": true,
  "stream.answer": true,
  "host.request": true,
  "external.cancel": true,
  reply: true,
  send: true,
  "message.answer": true,
  "wake.deliver": true,
  "env.load": true,
  "engine.run": true,
  "engine.cancel": true,
  "process.observe": true,
  "deletion.report": true,
  "lambda.apply": true,
  "flow.observe": true,
  "permit.take": true,
  "permit.release": true,
  "spawn.answer": true,
  "artifacts.write": true,
  "session.tell": true,
  "task.observe": true,
  "run.observe": true,
  "schedule.next": true,
  "schedule.answer": true,
  "probe.run": true,
  "agent.load": true,
  "model.ask": true,
  "model.stop": true,
  "model.resolve": true,
  "turn.check": true,
  "turn.observe": true,
  observe: true,
  "tool.execute": true,
  "step.run": true,
};

const namesOf = (wanted: Wanted<string>, isLeftOut: boolean): readonly string[] =>
  Object.keys(wanted).filter((name) => (wanted[name] !== true) === isLeftOut);

/** Coverage of events, rejections and commands. */
export interface CoreSimCoverage {
  readonly events: Covered;
  readonly rejections: Covered;
  readonly commands: Covered;
  /** Names that are not required, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Compares what the simulated seeds covered with everything that there is to cover. */
export const coreSimCoverage = (coverage: Coverage): CoreSimCoverage => ({
  events: coveredOf(namesOf(events, false), coverage.events),
  rejections: coveredOf(namesOf(rejections, false), coverage.rejections),
  commands: coveredOf(namesOf(commands, false), coverage.commands),
  leftOut: new Map(
    [events, rejections, commands].flatMap((wanted) =>
      namesOf(wanted, true).map((name): [string, string] => [name, `${(wanted as Wanted<string>)[name]}`]),
    ),
  ),
});

/** Counts the events, rejections and commands that a simulation met. */
export class Coverage {
  readonly events = new Map<EventType, number>();
  readonly rejections = new Map<RejectionCode, number>();
  readonly commands = new Map<CommandType, number>();
  readonly faults = new Map<string, number>();

  took(type: EventType): void {
    count(this.events, type);
  }
  refused(code: RejectionCode): void {
    count(this.rejections, code);
  }
  issued(type: CommandType): void {
    count(this.commands, type);
  }
  befell(fault: string): void {
    count(this.faults, fault);
  }

  add(other: Coverage): void {
    merge(this.events, other.events);
    merge(this.rejections, other.rejections);
    merge(this.commands, other.commands);
    merge(this.faults, other.faults);
  }
}

const count = <K>(counts: Map<K, number>, key: K): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const merge = <K>(into: Map<K, number>, from: ReadonlyMap<K, number>): void => {
  for (const [key, times] of from) into.set(key, (into.get(key) ?? 0) + times);
};

/** The number of reached names, and the names that were missed. */
export interface Covered {
  readonly met: number;
  readonly all: number;
  readonly missed: readonly string[];
}

export const coveredOf = (all: readonly string[], counts: ReadonlyMap<string, number>): Covered => {
  const missed = all.filter((name) => !counts.has(name));
  return { met: all.length - missed.length, all: all.length, missed };
};
