/** Reads a log from a cursor: its events as they become durable (tail), or what observers saw of them. */
import type { Recorded } from "@pawl/sansio-core";
import type { Access } from "../../scope/access.ts";
import { aheadOf, Refused } from "../../error.ts";
import { turn } from "../../scope/history.ts";
import type { UnderWay } from "../../lifecycle/eviction.ts";
import { replayed } from "./log-page.ts";
import { type Cursor, type Frame, endOf, isAfter } from "./observation.ts";

/** Says what a log has instead of an event that retention has taken: lines that it kept stand alone. */
const missing = async ({ begun, readLines, runner }: Access, next: number): Promise<Refused> => {
  const [found] = await readLines(next, next + nearLines);
  const what =
    found === undefined
      ? `it is whole from event ${(await begun()).seq + 1} on`
      : `the next that it has is ${found.seq}`;
  return new Refused("gone", `the log of ${runner.id} has no event ${next} any more, ${what}`);
};
const nearLines = 500;

/**
 * Yields the events after a cursor, then each as it becomes durable, until the signal aborts. Throws `gone` where the
 * log does not go back as far.
 */
export async function* followLog(access: Access, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
  const { runner, pages } = access;
  const end = runner.durable.seq;
  if (after > end) throw aheadOf(runner.id, end, after);
  for (let next = after + 1; ;) {
    await runner.whenDurable(next, signal);
    if (signal.aborted) return;
    if (next > runner.durable.seq) continue; // Messages that are written without an event wake as well.
    const page = await pages.at(access, next);
    if (page === undefined) throw await missing(access, next);
    for (const recorded of page.events) {
      yield recorded;
      if (signal.aborted) return;
    }
    next = page.last + 1;
  }
}

/** Holds the scope in memory while a log is read: to its end, until nobody reads on, or until the signal aborts. */
export async function* held<A>(underWay: UnderWay, all: AsyncGenerator<A>, signal: AbortSignal): AsyncGenerator<A> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  signal.addEventListener("abort", resolve);
  void underWay.during(promise);
  try {
    yield* all;
  } finally {
    signal.removeEventListener("abort", resolve);
    resolve(undefined);
  }
}

/**
 * Yields the observations after a cursor up to an event. What retention has taken is a gap. Retention may also take a
 * page that is still to be read: then it is a gap up to where the log begins by then.
 */
export async function* observePast(access: Access, after: Cursor, upTo: number): AsyncGenerator<Frame> {
  const { runner, pages } = access;
  const { id: scope } = runner;
  await runner.whenDurable();
  let state = await access.begun();
  if (after.seq < Math.min(state.seq, upTo)) yield gapTo(scope, after, Math.min(state.seq, upTo));
  while (state.seq < upTo) {
    const page = await pages.at(access, state.seq + 1);
    if (page === undefined) {
      const { seq } = state;
      state = await access.begun();
      if (state.seq <= seq) throw await missing(access, seq + 1);
      const from = after.seq > seq ? after : endOf(scope, seq);
      if (from.seq < state.seq) yield gapTo(scope, from, Math.min(state.seq, upTo)); // More is shown as it happens.
      continue;
    }
    const { frames, after: next } = replayed(scope, page, state);
    state = next;
    for (const frame of frames) {
      if (frame.cursor.seq <= upTo && isAfter(frame.cursor, after)) yield await access.values.of(frame);
    }
    await turn(access.platform);
  }
}

const gapTo = (scope: string, from: Cursor, seq: number): Frame => ({
  type: "gap",
  from,
  to: { scope, seq, index: 0 },
});
