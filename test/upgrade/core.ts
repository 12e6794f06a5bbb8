/** The part of the corpus that the core simulation wrote: two sessions and a process of a seed, cut in the middle. */
import { type CoreSimCut, type Entry as LogEntry, cutCoreSim } from "@pawl/testkit/core-sim";
import {
  type CallRef,
  type Envelope,
  type Event,
  type EventOf,
  type State,
  currentFormat,
  currentProtocol,
  describeFault,
  digest,
  headerLine,
  initial,
  replay,
  step,
  write,
} from "@pawl/sansio-core";
import { type Json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Course, courseOf } from "./entry.ts";

export interface CoreEntry {
  readonly seed: number;
  readonly processKind: number;
  readonly logs: { readonly [scope: string]: readonly string[] };
  readonly courses: readonly Course[];
}

/** Writes the log of a scope with today's core. */
export const textOf = (scope: string, envelopes: readonly Envelope[]): readonly string[] => {
  let state = initial(scope);
  const lines = envelopes.map((envelope) => {
    const written = write(state, envelope);
    if (E.isLeft(written)) throw new Error(`${scope} ${envelope.seq}: ${written.left.message}`);
    state = written.right.state;
    return written.right.line;
  });
  const header = { format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "pawl", base: 0 };
  return [headerLine(header), ...lines];
};

/** Runs the simulation of a seed up to an event, and writes its logs. */
export const coreEntry = (seed: number, events: number): CoreEntry => {
  const { processKind, logs } = cutCoreSim(seed, events);
  const texts = [...logs]
    .filter(([, entries]) => entries.length > 0)
    .map(
      ([id, entries]) =>
        [
          id,
          textOf(
            id,
            entries.map(({ envelope }) => envelope),
          ),
        ] as const,
    );
  return {
    seed,
    processKind,
    logs: Object.fromEntries(texts),
    courses: texts.map(([id, text]) => courseOf(id, text)),
  };
};

/** Reads logs back, for the simulation to go on with. */
export const cutOf = ({ processKind, logs }: Pick<CoreEntry, "processKind" | "logs">): CoreSimCut => {
  const read = Object.entries(logs).map(([scope, text]) => {
    const entries: LogEntry[] = [];
    const { fault } = replay(text, {
      onStep: (recorded, { finished }) => {
        const { seq, at, event, cmds } = recorded;
        entries.push({ envelope: { seq, at, event }, digest: cmds, finished });
      },
    });
    if (fault !== undefined) throw new Error(`${scope}: ${describeFault(fault)}`);
    return [scope, entries] as const;
  });
  return { processKind, logs: new Map(read) };
};

/** Returns the argument hashes of the live calls that have continued: the log says them from protocol 2 on. */
const continuedIn = (state: State, entries: readonly LogEntry[]): EventOf<"scope.upgraded">["continued"] => {
  const args = new Map<string, Json>();
  for (const { envelope } of entries)
    if (envelope.event.type === "call.continued") args.set(envelope.event.call, envelope.event.args);
  const live = [...args].filter(([call]) => state.calls.at(call) !== undefined);
  return live.map(([call, input]) => ({ call: call as CallRef, args_hash: stableHash(input) }));
};

/** Ends a log with its upgrade, as the driver does that opens it next. A scope that moves stays as it is. */
const upgraded = (scope: string, entries: readonly LogEntry[]): readonly LogEntry[] => {
  let state = initial(scope);
  for (const { envelope } of entries) {
    const next = step(state, envelope);
    if (E.isLeft(next)) throw new Error(`${scope} ${envelope.seq}: ${next.left.message}`);
    state = next.right.state;
  }
  if (state.scope.status.type !== "open" || state.scope.epoch === 0) return entries;
  const event: Event = { type: "scope.upgraded", to: 2, continued: continuedIn(state, entries) ?? [] };
  const envelope = { seq: state.seq + 1, at: state.at, event };
  const next = step(state, envelope);
  if (E.isLeft(next)) throw new Error(`${scope} cannot be upgraded: ${next.left.message}`);
  return [...entries, { envelope, digest: digest(next.right), finished: next.right.finished }];
};

/** Reads logs back, each upgraded to protocol 2 where it was cut. */
export const upgradedCutOf = (entry: Pick<CoreEntry, "processKind" | "logs">): CoreSimCut => {
  const { processKind, logs } = cutOf(entry);
  return { processKind, logs: new Map([...logs].map(([scope, entries]) => [scope, upgraded(scope, entries)])) };
};
