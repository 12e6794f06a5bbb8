/**
 * The event log of a process: appended to under replay keys, read from the log of its scope, and awaited as it grows.
 * A process has no storage of its own; its events are those lines of its scope that the core reports as observed.
 */
import { type State, follow, initial } from "@pawl/sansio-core";
import {
  type ProcessEvent,
  type ProcessEventAppendRequest,
  appendEvent,
  eventPayloadHash,
  observedEvent,
  processOfScope,
} from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, Refused } from "../error.ts";
import type { JournalLine } from "../journal/journal.ts";
import { Quarantined, recordedIn } from "../scope/history.ts";
import { decodedEvent } from "../scope/access.ts";
import { payloadMismatch } from "../tool/check.ts";
import type { Watch } from "./scope-links.ts";
import type { ScopeAccess } from "./work.ts";

/** Appends an event to the process of a scope, once for a replay key. Resolves with the event on record once it is durable. */
export const appendProcessEvent = async (
  scope: ScopeAccess,
  request: ProcessEventAppendRequest,
): Promise<ProcessEvent> => {
  const row = scope.runner.state.process;
  const payloadHash = eventPayloadHash(request.event_type, request.payload).hash;
  const problem = payloadMismatch(row, request.event_type, request.payload);
  const verdict = problem === undefined ? {} : { invalid: problem };
  const applied = scope.runner.apply(
    decodedEvent({ type: "process.event_appended", request, payload_hash: payloadHash, ...verdict }),
  );
  if (E.isLeft(applied) && applied.left.code !== "process_event_exists")
    throw new Refused(applied.left.code, applied.left.message);
  const { at } = scope.runner.state;
  const appended = appendEvent(row, {
    processId: processOfScope(scope.runner.id),
    request,
    payloadHash,
    at,
    ...verdict,
  });
  await scope.runner.whenDurable();
  if (E.isLeft(appended)) throw new Refused(appended.left.code, appended.left.message);
  return appended.right.event;
};

/** Folds the log of a scope and yields the events of its process, from where it was last read. */
class ProcessLog {
  readonly #readLines: (from: number) => Promise<readonly JournalLine[]>;
  #state: State;

  constructor(scope: string, readLines: (from: number) => Promise<readonly JournalLine[]>) {
    this.#state = initial(scope);
    this.#readLines = readLines;
  }

  /** The sequence of the newest event read. */
  get sequence(): number {
    return this.#state.process?.sequence ?? 0;
  }

  /** Reads the events appended since the last call. */
  async next(): Promise<readonly ProcessEvent[]> {
    const from = this.#state.seq + 1;
    const lines = await this.#readLines(from);
    const { id } = this.#state.scope;
    if (lines[0] !== undefined && lines[0].seq !== from) throw new Refused("gone", `the first lines of ${id} are gone`);
    return lines.flatMap((line) => this.#follow(id, line));
  }

  #follow(id: string, line: JournalLine): readonly ProcessEvent[] {
    const recorded = recordedIn(id, line);
    const followed = follow(this.#state, recorded, line.seq);
    if (E.isLeft(followed))
      throw new Quarantined(id, `line ${line.seq} is not what this core makes of it`, followed.left);
    const { state, commands } = followed.right;
    this.#state = state;
    const row = state.process;
    return commands.flatMap((command) => {
      if (command.type !== "process.observe" || command.what !== "event" || row === undefined) return [];
      const { sequence, event_type = "", payload = null } = command;
      return [observedEvent(row, { sequence, event_type, payload, at: recorded.at })];
    });
  }
}

interface WatchedScope {
  readonly scope: ScopeAccess;
  readonly watch: Watch;
}

/** Resolves once the log has durable events that were not read yet. Rejects when the signal aborts. */
const whenLonger = async ({ scope, watch }: WatchedScope, log: ProcessLog, signal: AbortSignal): Promise<void> => {
  const isLonger = (): boolean => (scope.runner.state.process?.sequence ?? 0) > log.sequence;
  const look = (): void => watch.look();
  signal.addEventListener("abort", look, { once: true });
  await watch
    .until(() => (signal.aborted || isLonger() ? true : undefined))
    .finally(() => signal.removeEventListener("abort", look));
  if (signal.aborted) throw new EffectError("cancelled", "the call was cancelled");
  await scope.runner.whenDurable();
};

/** Resolves with the first event of a type behind sequence `after`. The log may not have it yet. */
export const eventAfter = async (
  watched: WatchedScope,
  eventType: string,
  after: number,
  signal: AbortSignal,
): Promise<ProcessEvent> => {
  const { runner, readLines } = watched.scope;
  const log = new ProcessLog(runner.id, readLines);
  for (;;) {
    const found = (await log.next()).find((event) => event.event_type === eventType && event.sequence > after);
    if (found !== undefined) return found;
    await whenLonger(watched, log, signal);
  }
};
