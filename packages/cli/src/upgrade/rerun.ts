/** Runs the bodies of a copied scope again, in memory and with nothing performed. */
import { type Journal, Runtime, type ToolDefinition, memoryJournal } from "@pawl/runtime";
import { type Platform, shownOptions, unpackBlobs, textOf } from "@pawl/runtime/driver";
import { type Event, type State, recordedOf } from "@pawl/sansio-core";
import { type PackedBlob, bodyOf, inLife, newestProtocol, toolReplayKey } from "@pawl/sansio-core/driver";
import { noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { setTimeout as pause } from "node:timers/promises";
import { nodePlatform } from "@pawl/driver-node/operator";
import type { Copied } from "./copy.ts";
import { Watch, idleContext } from "./idle-context.ts";

/** Observations of the bodies of one scope. */
export interface Rerun {
  /** Events after the copied ones. */
  readonly events: readonly Event[];
  readonly watchOf: (call: string) => Watch | undefined;
  /** Errors thrown inside tools, by call. */
  readonly errors: ReadonlyMap<string, string>;
}

const instance = "check-upgrade";
const roots = { newest: { kid: "none", secret: new Uint8Array(32) } };

/** Maps replay keys to calls, to find the call of a context. */
const callsByKey = ({ scope, calls }: State): ReadonlyMap<string, string> =>
  new Map(
    calls.rows().map((row) => {
      const { call, tool } = row;
      const life = bodyOf(row)?.life.number ?? 1;
      return [inLife(life, toolReplayKey(`${scope.id}/${call.request}`, call.name, tool)), call.ref];
    }),
  );

/** Wraps tools so that their steps never start. */
const idleTools = (
  tools: readonly ToolDefinition[],
  watchOf: (replayKey: string) => Watch,
): readonly ToolDefinition[] =>
  tools.map(({ prepare, ...tool }) => {
    const idle: ToolDefinition = {
      ...tool,
      execute: (args, context) => tool.execute(args, idleContext(context, watchOf(context.replayKey))),
    };
    return prepare === undefined ? idle : { ...idle, prepare: () => new Promise<never>(() => undefined) };
  });

/** Stops the clock at the end of the log. */
const platformAt = (at: number): Platform => ({ ...nodePlatform, now: () => at });

/** A log to run again, with the large values that it refers to. */
export interface Copy extends Copied {
  readonly blobs: readonly PackedBlob[];
}

const seed = async (journal: Journal, { state, lines, blobs }: Copy): Promise<void> => {
  const { id: scope, epoch: above, protocol } = state.scope;
  await unpackBlobs(journal.blobs, scope, blobs, nodePlatform.hashText);
  const claim = await journal.claim(scope, instance, newestProtocol, above);
  if (claim.type !== "claimed") throw new Error(`a new journal in memory refuses ${scope}: ${claim.type}`);
  const { epoch } = claim;
  const append = { scope, epoch, expectedSeq: 1, appendId: "copy", lines, finished: [], wakeAt: undefined };
  const [result] = await journal.appendAll([{ ...append, protocol, messages: [], received: [] }]);
  if (result?.type !== "ok") throw new Error(`a new journal in memory does not take ${scope}: ${result?.type}`);
};

const eventsAfter = async (journal: Journal, scope: string, seq: number): Promise<readonly Event[]> =>
  (await journal.read(scope, seq + 1)).flatMap(({ line }) => {
    const recorded = pipe(parse(line, noLimits), E.chain(recordedOf));
    return E.isRight(recorded) ? [recorded.right.event] : [];
  });

/** Waits until nothing has been recorded for a while. */
const untilQuiet = async (journal: Journal, scope: string, after: number, patienceMs: number): Promise<void> => {
  let count = -1;
  for (let idle = 0; idle < 3; idle++) {
    await pause(patienceMs);
    const { length } = await journal.read(scope, after);
    if (length !== count) idle = 0;
    count = length;
  }
};

/** Runs the bodies. One that is silent for `patienceMs` counts as waiting. */
export const rerun = async (copied: Copy, tools: readonly ToolDefinition[], patienceMs: number): Promise<Rerun> => {
  const { state } = copied;
  const { id } = state.scope;
  const calls = callsByKey(state);
  const watches = new Map<string, Watch>();
  const errors = new Map<string, string>();
  const watchOf = (replayKey: string): Watch => {
    const watch = new Watch();
    watches.set(calls.get(replayKey) ?? replayKey, watch);
    return watch;
  };
  const journal = memoryJournal();
  await seed(journal, copied);
  const runtime = new Runtime({
    journal,
    platform: platformAt(state.at),
    tools: idleTools(tools, watchOf),
    instance,
    roots,
    host: {
      request: () => new Promise<never>(() => undefined),
      internalError: (call, thrown) => void errors.set(call, textOf(thrown)),
    },
    options: {
      ...shownOptions(state.scope.options),
      resumePausesMs: Array.from({ length: 1000 }, () => 0),
      crashPausesMs: [],
    },
    patience: { suspendMs: patienceMs, holdMs: patienceMs },
  });
  await runtime.session(id.slice("session:".length));
  await untilQuiet(journal, id, state.seq, patienceMs);
  return { events: await eventsAfter(journal, id, state.seq), watchOf: (call) => watches.get(call), errors };
};
