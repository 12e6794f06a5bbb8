/** Reads a log from a cursor: its events as they become durable (tail), or what observers saw of them. */
import * as E from "fp-ts/lib/Either.js";
import { type Recorded, type State, follow } from "@pawl/sansio-core";
import type { Access } from "../../scope/access.ts";
import { aheadOf, Refused } from "../../error.ts";
import { Quarantined, recordedIn, turn } from "../../scope/history.ts";
import type { UnderWay } from "../../lifecycle/eviction.ts";
import { type Cursor, type Frame, isAfter } from "./observation.ts";
import { observedIn } from "./observed.ts";

const chunk = 500;

/** Lines that retention kept stand alone. */
const gone = (scope: string, next: number, found: string): Refused =>
  new Refused("gone", `the log of ${scope} has no event ${next} any more, ${found}`);

/** Retention may have taken more than is read at once: then nothing says what comes next but where the log begins. */
const allGone = async ({ begun, runner }: Access, next: number): Promise<Refused> =>
  gone(runner.id, next, `it is whole from event ${(await begun()).seq + 1} on`);

/**
 * Yields the events after a cursor, then each as it becomes durable, until the signal aborts. Throws `gone` where the
 * log does not go back as far.
 */
export async function* followLog(access: Access, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
  const { runner, readLines } = access;
  const end = runner.durable.seq;
  if (after > end) throw aheadOf(runner.id, end, after);
  for (let next = after + 1; ;) {
    await runner.whenDurable(next, signal);
    if (signal.aborted) return;
    const isThere = next <= runner.durable.seq; // Messages that are written without an event wake as well.
    const lines = await readLines(next, next + chunk - 1);
    if (lines.length === 0 && isThere) throw await allGone(access, next);
    for (const line of lines) {
      if (line.seq !== next) throw gone(runner.id, next, `the next that it has is ${line.seq}`);
      yield recordedIn(runner.id, line);
      if (signal.aborted) return;
      next = line.seq + 1;
    }
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

/** Events that are folded before others get their turn. */
const eventsATurn = 256;

/**
 * Yields the observations after a cursor up to an event. What retention has taken is a gap. Lines are read before the
 * beginning of the log is, so that what it takes just now is not a hole.
 */
export async function* observePast(access: Access, after: Cursor, upTo: number): AsyncGenerator<Frame> {
  const { runner, readLines } = access;
  const { id: scope } = runner;
  await runner.whenDurable();
  const whole = await readLines(1, upTo);
  let state: State = await access.begun();
  const { seq: base } = state;
  const lines = whole.filter(({ seq }) => seq > base);
  const lost = Math.min(base, upTo); // Anything behind that is shown as it happens.
  if (after.seq < lost) yield { type: "gap", from: after, to: { scope, seq: lost, index: 0 } };
  for (const [i, line] of lines.entries()) {
    const recorded = recordedIn(scope, line);
    const followed = follow(state, recorded, line.seq);
    if (E.isLeft(followed)) throw new Quarantined(scope, `event ${line.seq} cannot be followed`, followed.left);
    state = followed.right.state;
    const observed = line.seq < after.seq ? [] : observedIn(scope, recorded, followed.right.commands);
    for (const frame of observed) if (isAfter(frame.cursor, after)) yield await access.values.of(frame);
    if (i % eventsATurn === eventsATurn - 1) await turn(access.platform);
  }
}
