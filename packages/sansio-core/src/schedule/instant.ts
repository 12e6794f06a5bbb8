/** Instants as text, RFC 3339, without a platform's calendar: the same everywhere. */

const dayMs = 86_400_000;

/** Days from 1970-01-01 to a day of the proleptic Gregorian calendar. */
const daysOf = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

const dateOf = (days: number): { readonly year: number; readonly month: number; readonly day: number } => {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
};

const padded = (n: number, width: number): string => String(n).padStart(width, "0");

/** Years of four digits: beyond them there is no RFC 3339, and the last instant of it stands for what is later. */
const last = 253_402_300_799_999;

/** An instant in UTC, with milliseconds where it has some. */
export const instantText = (at: number): string => {
  const ms = Math.min(at, last);
  const days = Math.floor(ms / dayMs);
  const { year, month, day } = dateOf(days);
  const rest = ms - days * dayMs;
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  const clock = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60].map((n) => padded(Math.floor(n), 2));
  return `${date}T${clock.join(":")}${rest % 1000 === 0 ? "" : `.${padded(rest % 1000, 3)}`}Z`;
};

const form =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<clock>\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d+))?(?<zone>[Zz]|[+-]\d{2}:\d{2})$/;

const numbers = (text: string): readonly [number, number, number] => {
  const [a = 0, b = 0, c = 0] = text.split(/[-:]/).map(Number);
  return [a, b, c];
};

const zoneMs = (zone: string): number | undefined => {
  if (zone === "Z" || zone === "z") return 0;
  const [hours, minutes] = numbers(zone.slice(1));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
};

/** The instant that a text names, in milliseconds; undefined where it is no RFC 3339. A leap second is the one before. */
export const instantOf = (text: string): number | undefined => {
  const { date, clock, fraction = "", zone } = form.exec(text)?.groups ?? {};
  if (date === undefined || clock === undefined || zone === undefined) return undefined;
  const [year, month, day] = numbers(date);
  const [hours, minutes, seconds] = numbers(clock);
  const days = daysOf(year, month, day);
  const isDate = month >= 1 && month <= 12 && day >= 1 && dateOf(days).day === day && dateOf(days).month === month;
  const offset = zoneMs(zone);
  if (!isDate || hours > 23 || minutes > 59 || seconds > 60 || offset === undefined) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  return days * dayMs + (hours * 3600 + minutes * 60 + Math.min(seconds, 59)) * 1000 + ms - offset;
};
