/** A scope's log as it grows: what stands in it after a cursor, and then each event when it is durable. */
import type { Recorded } from "@pawl/sansio-core";
import type { Access } from "../scope/access.ts";
import { Refused, aheadOf } from "../error.ts";
import { recordedIn } from "../scope/fold.ts";
import type { UnderWay } from "./under-way.ts";

/** Lines that are read at once. */
const chunk = 500;

/** Lines that retention kept stand alone. */
const gone = (scope: string, next: number, found: string): Refused =>
  new Refused("gone", `the log of ${scope} has no event ${next} any more, ${found}`);

/** Retention may have taken more than is read at once: then nothing says what comes next but where the log begins. */
const allGone = async ({ begun, runner }: Access, next: number): Promise<Refused> =>
  gone(runner.id, next, `it is whole from event ${(await begun()).seq + 1} on`);

/** Ends when it is told to; throws `gone` where the log does not go back as far, and when the scope is lost. */
export async function* follow(access: Access, after: number, signal: AbortSignal): AsyncGenerator<Recorded> {
  const { runner, readLines } = access;
  const end = runner.durable.seq;
  if (after > end) throw aheadOf(runner.id, end, after);
  for (let next = after + 1; ;) {
    await runner.whenDurable(next, signal);
    if (signal.aborted) return;
    const isThere = next <= runner.durable.seq; // Letters that are written without an event wake as well.
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

/** The same, which holds its scope in memory until all is read, or nobody reads on, or the signal says so. */
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
