/** A native tool that tells the current time in UTC. */
import { type Answer, succeeded } from "../tool/result.ts";

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
const supported = "now, today, timestamp, year, month, day, weekday, iso, time, hour, minute, second";

const padded = (value: number, width: number): string => `${value}`.padStart(width, "0");

const dateOf = (now: Date): string =>
  `${padded(now.getUTCFullYear(), 4)}-${padded(now.getUTCMonth() + 1, 2)}-${padded(now.getUTCDate(), 2)}`;
const timeOf = (now: Date): string =>
  [now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()].map((part) => padded(part, 2)).join(":");

const answers: ReadonlyMap<string, (now: Date) => string | number> = new Map<string, (now: Date) => string | number>([
  ...["now", "iso", "datetime"].map((query) => [query, (now: Date) => `${dateOf(now)}T${timeOf(now)}Z`] as const),
  ...["today", "date"].map((query) => [query, dateOf] as const),
  ["time", (now) => `${timeOf(now)}Z`],
  ...["timestamp", "unix", "epoch"].map((query) => [query, (now: Date) => Math.floor(now.getTime() / 1000)] as const),
  ["year", (now) => now.getUTCFullYear()],
  ["month", (now) => now.getUTCMonth() + 1],
  ["day", (now) => now.getUTCDate()],
  ["hour", (now) => now.getUTCHours()],
  ["minute", (now) => now.getUTCMinutes()],
  ["second", (now) => now.getUTCSeconds()],
  ["weekday", (now) => weekdays[now.getUTCDay()] as string],
]);

/** Answers a query about a time in milliseconds. An unknown query is answered with the list of known ones. */
export const answerDateTime = (query: string, nowMs: number): Answer => {
  const name = query.trim().toLowerCase();
  const answer = answers.get(name);
  return succeeded(
    answer === undefined ? `Unknown query '${name}'. Supported: ${supported}` : `${answer(new Date(nowMs))}`,
  );
};
