/** The next times of cron expressions, in their own time zones: the answer to the core's `schedule.next`. */
import type { Plan } from "@pawl/sansio-core/driver";
import { Cron } from "croner";
import * as E from "fp-ts/lib/Either.js";

/** Adds the seconds to an expression of five fields. Six fields begin with seconds, seven also end with a year. */
const fieldsOf = (expression: string): string | undefined => {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 5) return ["0", ...fields].join(" ");
  return fields.length === 6 || fields.length === 7 ? fields.join(" ") : undefined;
};

/** Returns true for names of the IANA database. Offsets are no names, though some platforms accept them. */
const isZone = (zone: string): boolean => {
  if (/^[+-]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // The platform throws for a zone that it does not know.
  }
};

const cronOf = (expression: string, timezone: string): E.Either<string, Cron> => {
  if (!isZone(timezone)) return E.left(`invalid IANA timezone '${timezone}': the platform does not know it`);
  const pattern = fieldsOf(expression);
  const invalid = `invalid cron expression '${expression}'`;
  if (pattern === undefined) return E.left(invalid);
  return E.tryCatch(
    () => new Cron(pattern, { timezone, paused: true }),
    () => invalid,
  );
};

/** Returns the next `count` times strictly after an instant. */
export const firesAfter = (
  { expression, timezone }: { readonly expression: string; readonly timezone: string },
  after: number,
  count: number,
): E.Either<string, readonly number[]> => {
  const cron = cronOf(expression, timezone);
  if (E.isLeft(cron)) return cron;
  const times = cron.right.nextRuns(count + 1, new Date(after)).map((date) => date.getTime());
  return E.right(times.filter((at) => at > after).slice(0, count));
};

const noFuture = "cron expression has no future occurrence";

/** Finds the next time at which a cron expression fires in a time zone. */
export const nextFire = (expression: string, timezone: string, after: number): E.Either<string, number> => {
  const fires = firesAfter({ expression, timezone }, after, 1);
  if (E.isLeft(fires)) return fires;
  const [next] = fires.right;
  return next === undefined ? E.left(noFuture) : E.right(next);
};

/** Returns the smallest gap among the next three times, in seconds; undefined if there are fewer than two. */
export const intervalOf = (expression: string, after: number): number | undefined => {
  const next = firesAfter({ expression, timezone: "UTC" }, after, 3);
  const fires = E.isLeft(next) ? [] : next.right;
  const gaps = fires.slice(1).map((at, i) => (at - (fires[i] ?? at)) / 1000);
  return gaps.length === 0 ? undefined : Math.floor(Math.min(...gaps));
};

/** Answers `schedule.next`. */
export const planOf = (expression: string, timezone: string, after: number): Plan => {
  const next = nextFire(expression, timezone, after);
  if (E.isLeft(next)) return { status: "none", message: next.left };
  const interval = intervalOf(expression, after);
  return { status: "next", at: next.right, ...(interval === undefined ? {} : { interval_s: interval }) };
};
