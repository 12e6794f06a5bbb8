/** When a schedule fires next, in the zone that it names; `schedule.next` of the core is answered with it. */
import type { Plan } from "@pawl/sansio-core";
import { Cron } from "croner";
import * as E from "fp-ts/lib/Either.js";

/** Five fields, or six that lead with seconds, or seven that end with a year. */
const fieldsOf = (expression: string): string | undefined => {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 5) return ["0", ...fields].join(" ");
  return fields.length === 6 || fields.length === 7 ? fields.join(" ") : undefined;
};

/** A name of the zones' database; an offset has none, though some platforms take it for a zone. */
const isZone = (zone: string): boolean => {
  if (/^[+-]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // It is asked what the platform knows; it says so by throwing.
  }
};

const opened = (expression: string, timezone: string): E.Either<string, Cron> => {
  if (!isZone(timezone)) return E.left(`invalid IANA timezone '${timezone}': the platform does not know it`);
  const pattern = fieldsOf(expression);
  const invalid = `invalid cron expression '${expression}'`;
  if (pattern === undefined) return E.left(invalid);
  return E.tryCatch(
    () => new Cron(pattern, { timezone, paused: true }),
    () => invalid,
  );
};

/** The fires of an expression strictly after an instant. */
export const firesAfter = (
  { expression, timezone }: { readonly expression: string; readonly timezone: string },
  after: number,
  count: number,
): E.Either<string, readonly number[]> =>
  E.map((cron: Cron) =>
    cron
      .nextRuns(count + 1, new Date(after))
      .map((date) => date.getTime())
      .filter((at) => at > after)
      .slice(0, count),
  )(opened(expression, timezone));

const noFuture = "cron expression has no future occurrence";

export const nextFire = (expression: string, timezone: string, after: number): E.Either<string, number> =>
  E.chain(([next]: readonly number[]): E.Either<string, number> =>
    next === undefined ? E.left(noFuture) : E.right(next),
  )(firesAfter({ expression, timezone }, after, 1));

/** The smallest gap among the next three fires, in seconds; nothing where there are not two. */
export const intervalOf = (expression: string, after: number): number | undefined => {
  const fires = E.getOrElse((): readonly number[] => [])(firesAfter({ expression, timezone: "UTC" }, after, 3));
  const gaps = fires.slice(1).map((at, i) => (at - (fires[i] ?? at)) / 1000);
  return gaps.length === 0 ? undefined : Math.floor(Math.min(...gaps));
};

/** The answer to `schedule.next`. */
export const planOf = (expression: string, timezone: string, after: number): Plan => {
  const next = nextFire(expression, timezone, after);
  if (E.isLeft(next)) return { status: "none", message: next.left };
  const interval = intervalOf(expression, after);
  return { status: "next", at: next.right, ...(interval === undefined ? {} : { interval_s: interval }) };
};
