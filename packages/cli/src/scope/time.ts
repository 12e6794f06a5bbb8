/** Formats times for people. */

const twoDigits = (n: number): string => String(n).padStart(2, "0");

/** Tells whether a time is beyond every date, which means no deadline. */
export const isNever = (at: number): boolean => Number.isNaN(new Date(at).getTime());

/** Formats a time in UTC, to the second, as logs do. */
export const timeText = (at: number): string => {
  if (isNever(at)) return `${at} ms`;
  const date = new Date(at);
  const day = `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
  return `${day} ${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())}Z`;
};

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** Formats a duration in its largest unit. */
export const spanText = (ms: number): string => {
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ["ms", 1];
  return `${Math.floor(ms / size)} ${name}`;
};

export const sinceText = (at: number, now: number): string =>
  now >= at ? `${timeText(at)} (${spanText(now - at)} ago)` : timeText(at);

export const untilText = (at: number, now: number): string =>
  now < at ? `${timeText(at)} (in ${spanText(at - now)})` : `${timeText(at)} (past: as soon as the scope is opened)`;
