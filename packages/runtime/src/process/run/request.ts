/**
 * Requests for background runs and schedules: their ids, the registration of a run's process, and the callers that wait for
 * an answer. Ids derive from time and place, so a request that is repeated after a crash finds what it made before.
 */
import type { EventOf, State } from "@pawl/sansio-core";
import {
  type NewSchedule,
  type ProcessProvenance,
  type RunDefinition,
  type ScheduleAnswer,
  type SpawnAnswer,
  hasRule,
  recoveryOf,
  registrationHash,
  runKind,
} from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { decodedEvent, refuse } from "../../scope/access.ts";
import type { LiveTool } from "../../tool/live-tool.ts";
import { readRegistration } from "../registration.ts";
import type { ScopeAccess } from "../work.ts";

type RunRequested = EventOf<"run.requested">;

const digits = 32;

/** Returns the hex digits of a UUID of version 7: they begin with the time. */
const timed = (at: number, hash: string): string => {
  const time = at.toString(16).padStart(12, "0").slice(-12);
  const variant = ((Number.parseInt(hash.slice(15, 16), 16) & 0x3) | 0x8).toString(16);
  return `${time}7${hash.slice(0, 3)}${variant}${hash.slice(3, 18)}`;
};

export const runIdOf = (at: number, hash: string): string => `bg_${timed(at, hash)}`;
export const taskIdOf = (hash: string): string => `task_${hash.slice(0, digits)}`;
export const scheduleIdOf = (hash: string): string => `sched_${hash.slice(0, digits)}`;
export const messageIdOf = (hash: string): string => `tmsg_${hash.slice(0, digits)}`;

/** Hashes a name with the place in the log of a scope where it is given. */
export const hashAt = ({ scope, seq, at }: State, name: string): string => stableHash([scope.id, seq + 1, at, name]);

export interface RunRequest {
  readonly run: string;
  readonly task: string;
  readonly tool: LiveTool;
  readonly args: Json;
  /** Defaults to the tool's display name, or `Background {tool}`. */
  readonly title?: string;
  /** Tells the session when the run has ended; true by default. */
  readonly signal?: boolean;
  readonly provenance: ProcessProvenance;
  readonly envRef: string;
}

/** Says whether a run may be begun again. In protocol 1 only the tool's hints decide. */
const mayBeginAgain = ({ tool, manifest }: LiveTool, protocol: number): boolean => {
  const { idempotent, readonly } = manifest.hints;
  return hasRule(protocol, "lost_runs") ? recoveryOf(tool) === "rerunnable" : idempotent === true || readonly === true;
};

const definitionOf = ({ task, tool, args, signal = true }: RunRequest, protocol: number): RunDefinition => ({
  task,
  tool: tool.manifest.name,
  arguments: args,
  reattachable: mayBeginAgain(tool, protocol),
  signal_on_completion: signal,
});

const titleOfRun = ({ title, tool: { manifest } }: Pick<RunRequest, "title" | "tool">): string =>
  title ?? manifest.display_name ?? `Background ${manifest.name}`;

/** Returns the event that requests a run in a session of this protocol, with the registration of its process. */
export const runRequested = (request: RunRequest, protocol: number): RunRequested => {
  const { run, tool, args, provenance, envRef } = request;
  const { id: tool_id, name: tool_name } = tool.manifest;
  const call = { call_id: run, tool_id, tool_name, args, prepared_payload: null };
  const registration = readRegistration({
    id: run,
    input: { type: "tool_call", call },
    identity: { kind: runKind, label: titleOfRun(request), definition: definitionOf(request, protocol) },
    event_types: [],
    provenance,
    env_ref: envRef,
  });
  if (E.isLeft(registration)) throw registration.left;
  return { type: "run.requested", registration: registration.right, hash: registrationHash(registration.right) };
};

/** Reads the answer to a request for a run from the state; undefined while it is open. */
const spawned = ({ background }: State, run: string): SpawnAnswer | undefined => {
  const row = background.tasks.values().find((task) => task.run?.run === run);
  return row === undefined ? undefined : { status: "started", task: row.task.id };
};

/** Reads the answer to a request for a schedule from the state; undefined while it is open. */
const created = ({ schedules, background }: State, id: string): ScheduleAnswer | undefined => {
  const row = schedules.rows.get(id);
  if (row === undefined || row.asked?.isNew === true) return undefined;
  const { schedule, monitor } = row;
  const isShown = monitor !== undefined && background.tasks.get(monitor.task)?.schedule === id;
  return { status: "created", schedule, task: isShown ? monitor.task : null };
};

interface Waiting<A> {
  readonly resolve: (answer: A) => void;
  readonly reject: (error: Error) => void;
}

/** Promises of answers, by the id of the request. */
class Answers<A> {
  readonly #waiting = new Map<string, readonly Waiting<A>[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  next(id: string): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), { resolve, reject }]);
    });
  }

  give(id: string, answer: A): void {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const { resolve } of waiting) resolve(answer);
  }

  abandon(error: Error): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

/** Requests runs and schedules of a session. A repeated request resolves with the answer to the first. */
export class LongWorkRequests {
  readonly #scope: ScopeAccess;
  readonly runs = new Answers<SpawnAnswer>();
  readonly schedules = new Answers<ScheduleAnswer>();

  constructor(scope: ScopeAccess) {
    this.#scope = scope;
  }

  get isEmpty(): boolean {
    return this.runs.isEmpty && this.schedules.isEmpty;
  }

  abandon(error: Error): void {
    this.runs.abandon(error);
    this.schedules.abandon(error);
  }

  /** Requests a run. One that ended long ago counts as started. */
  async run(event: RunRequested, task: string): Promise<SpawnAnswer> {
    const { runner, finished } = this.#scope;
    const { id } = event.registration;
    if ((await finished.find("task", task)) !== undefined) return { status: "started", task };
    const applied = runner.apply(decodedEvent(event));
    if (E.isLeft(applied) && applied.left.code !== "run_exists") return refuse(this.#scope, applied.left);
    const known = spawned(runner.state, id);
    if (known === undefined) return this.runs.next(id);
    await runner.whenDurable();
    return known;
  }

  /** Requests a schedule. One too many is answered with a refusal for the caller to show. */
  async schedule(schedule: NewSchedule): Promise<ScheduleAnswer> {
    const { runner } = this.#scope;
    const applied = runner.apply(decodedEvent({ type: "schedule.requested", schedule }));
    if (E.isLeft(applied) && applied.left.code === "too_many_schedules") {
      await runner.whenDurable();
      return { status: "refused", message: applied.left.message };
    }
    if (E.isLeft(applied) && applied.left.code !== "schedule_exists") return refuse(this.#scope, applied.left);
    const known = created(runner.state, schedule.id);
    if (known === undefined) return this.schedules.next(schedule.id);
    await runner.whenDurable();
    return known;
  }
}
