/**
 * Places of a scope's calls in queues: a call that is to begin asks for one by `place.take`, and has it on record. A body that
 * starts again has its place before it starts, and nothing of that is recorded: it may lose the place with its owner.
 */
import type { CallRef, CommandOf, State } from "@pawl/sansio-core";
import { type CallRow, bodyOf, queueOf, queuedAttempt } from "@pawl/sansio-core/driver";
import type { HostSide } from "../host/host.ts";
import type { WantedPlace } from "../journal/queue.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { Line } from "../tool/limit.ts";

export interface ScopePort {
  readonly runner: ScopeRunner;
  readonly side: HostSide;
  readonly access: { readonly report: (what: string, thrown: unknown) => void };
}

/** Gives a call its place, or false when the call does not want it any more. */
interface Taking {
  readonly take: (call: CallRef, attempt: number, wanted: WantedPlace) => Promise<boolean>;
}

/** Names a call with its attempt, as the store knows its place. */
const placeName = (call: CallRef, attempt: number): string => `${call}#${attempt}`;

const manifestOf = (row: CallRow): { readonly id: string } | undefined =>
  bodyOf(row)?.manifest ?? ("manifest" in row ? row.manifest : undefined);

/** The time since which a call waits. One that starts again has waited since it started first. */
const sinceOf = (row: CallRow): number => (row.phase === "queued" ? row.since : (bodyOf(row)?.startedAt ?? 0));

export class ScopePlaces {
  readonly #port: ScopePort;
  readonly #places: Taking;

  constructor(port: ScopePort, places: Taking) {
    this.#port = port;
    this.#places = places;
  }

  /** Finds the line of a call. A tool that is not here has none: its call goes on, and waits for the tool. */
  async #lineOf(row: CallRow): Promise<Line | undefined> {
    const tool = this.#port.side.tool(manifestOf(row)?.id ?? "");
    try {
      return await tool?.line?.(row.args);
    } catch (thrown) {
      this.#port.access.report(`limit.by of tool ${row.tool}`, thrown);
      return { queue: queueOf(row) ?? row.tool, concurrency: 1 };
    }
  }

  #wanted(state: State, row: CallRow, attempt: number, line: Line): WantedPlace {
    const { priority = 0 } = state.requests.at(row.call.request) ?? {};
    const call = placeName(row.call.ref, attempt);
    return { ...line, scope: state.scope.id, call, priority, since: sinceOf(row) };
  }

  async #has(call: CallRef, attempt: number, isFirst: boolean): Promise<boolean> {
    const { state } = this.#port.runner;
    const row = state.calls.at(call);
    const line = row && (await this.#lineOf(row));
    if (row === undefined || line === undefined) return true;
    const { perSecond: _, ...again } = line; // The rate has counted this attempt.
    if (!isFirst && again.concurrency === undefined) return true;
    return this.#places.take(call, attempt, this.#wanted(state, row, attempt, isFirst ? line : again));
  }

  /** Records the place of a call that is to begin, once the store has one. */
  async take({ call, attempt }: CommandOf<"place.take">): Promise<void> {
    await undefined; // The step that asks must end before its answer is applied.
    if (!(await this.#has(call, attempt, true))) return;
    const { runner } = this.#port;
    if (runner.isAbandoned || queuedAttempt(runner.state.calls.at(call)) !== attempt) return;
    runner.apply({ type: "place.granted", call, attempt });
  }

  /** Starts a later run of a body once it has a place. */
  async start({ call, attempt, run }: CommandOf<"tool.execute">, begin: () => Promise<void>): Promise<void> {
    if (!(await this.#has(call, attempt, false))) return;
    const { runner } = this.#port;
    const row = runner.state.calls.at(call);
    if (!runner.isAbandoned && row?.phase === "resuming" && row.body.run === run) await begin();
  }
}
