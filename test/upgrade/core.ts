/** The part of the corpus that the core simulation wrote: two sessions and a process of a seed, cut in the middle. */
import { type CoreSimCut, type Entry as LogEntry, cutCoreSim } from "@pawl/testkit/core-sim";
import { currentFormat, currentProtocol, describeFault, headerLine, initial, replay, write } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { type Course, courseOf } from "./entry.ts";

export interface CoreEntry {
  readonly seed: number;
  readonly processKind: number;
  readonly logs: { readonly [scope: string]: readonly string[] };
  readonly courses: readonly Course[];
}

const textOf = (scope: string, entries: readonly LogEntry[]): readonly string[] => {
  let state = initial(scope);
  const lines = entries.map(({ envelope }) => {
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
    .map(([id, entries]) => [id, textOf(id, entries)] as const);
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
