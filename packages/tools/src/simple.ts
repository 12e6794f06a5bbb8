/** Tools that need only their arguments and the time. */
import type { Json } from "@pawl/tool-value";
import { type ToolHints, success, toolError } from "@pawl/runtime";
import { instantText } from "@pawl/sansio-core/driver";
import { type BuiltinTool, numberOf, objectSchema, textOf } from "./tool.ts";

const pure: ToolHints = { readonly: true, idempotent: true };
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const two = (n: number): string => String(n).padStart(2, "0");

const humanDate = (date: Date): string => {
  const day = `${weekdays[date.getUTCDay()]}, ${months[date.getUTCMonth()]} ${two(date.getUTCDate())}, ${date.getUTCFullYear()}`;
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":");
  return `${day} at ${clock} UTC`;
};

const timeIn = (format: Json | undefined, at: number): { readonly [key: string]: Json } => {
  const date = new Date(at);
  if (format === "unix") return { timestamp: Math.floor(at / 1000), format, timezone: "UTC" };
  if (format === "human") return { datetime: humanDate(date), format, timezone: "UTC" };
  return { datetime: instantText(at).replace("Z", "+00:00"), format: "iso8601", timezone: "UTC" };
};

export const currentTime: BuiltinTool = {
  name: "get_current_time",
  displayName: "Get Current Time",
  description: "Returns the current time in UTC: as ISO 8601, as Unix seconds, or in words.",
  parameters: objectSchema({
    timezone: { type: "string", description: "Accepted and ignored: the answer is in UTC." },
    format: { type: "string", enum: ["iso8601", "unix", "human"] },
  }),
  hints: { readonly: true },
  execute: async ({ format }, context) => success(timeIn(format, (context?.now ?? Date.now)())),
};

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

export const echo: BuiltinTool = {
  name: "echo",
  displayName: "Echo",
  description: "Returns a message with its length in bytes.",
  parameters: objectSchema({ message: { type: "string" } }, ["message"]),
  hints: pure,
  execute: async (args) => {
    const echoed = textOf(args["message"]) ?? "";
    return success({ echoed, length: utf8Length(echoed) });
  },
};

type Operation = (a: number, b: number) => number;

const finite = (n: number): number | null => (Number.isFinite(n) ? n : null);

const math = (name: string, verb: string, operation: Operation): BuiltinTool => ({
  name,
  displayName: name.charAt(0).toUpperCase() + name.slice(1),
  description: `${verb} two numbers.`,
  parameters: objectSchema({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]),
  hints: pure,
  execute: async (args) => {
    const [a, b] = [numberOf(args["a"]), numberOf(args["b"])];
    if (name === "divide" && b === 0) return toolError("Cannot divide by zero");
    return success({ result: finite(operation(a, b)), operation: name, a: finite(a), b: finite(b) });
  },
});

export const arithmetic: readonly BuiltinTool[] = [
  math("add", "Adds", (a, b) => a + b),
  math("subtract", "Subtracts", (a, b) => a - b),
  math("multiply", "Multiplies", (a, b) => a * b),
  math("divide", "Divides", (a, b) => a / b),
];

const conditions = ["sunny", "partly cloudy", "cloudy", "rainy", "windy"];

/** Derives the seed from the place: the same place always has the same weather. */
const seedOf = (location: string): number => {
  let sum = 0;
  for (const byte of new TextEncoder().encode(location)) sum = (sum + byte) >>> 0;
  return sum;
};

const degrees = (seed: number, units: string): number => {
  const celsius = (seed % 35) + 5;
  return units === "fahrenheit" ? (celsius * 9) / 5 + 32 : celsius;
};

const placeOf = (args: { readonly [key: string]: Json }): { readonly location: string; readonly units: string } => ({
  location: textOf(args["location"]) ?? "Unknown",
  units: textOf(args["units"]) ?? "celsius",
});

const place = { location: { type: "string" }, units: { type: "string", enum: ["celsius", "fahrenheit"] } };

export const weather: BuiltinTool = {
  name: "get_weather",
  displayName: "Get Weather",
  description: "Returns made-up weather for a place, always the same.",
  parameters: objectSchema(place, ["location"]),
  hints: { ...pure, open_world: true },
  execute: async (args, context) => {
    const { location, units } = placeOf(args);
    const seed = seedOf(location);
    return success({
      location,
      temperature: degrees(seed, units),
      units,
      conditions: conditions[seed % 5] ?? "",
      humidity: (seed % 50) + 30,
      wind_speed_kmh: (seed % 30) + 5,
      timestamp: new Date((context?.now ?? Date.now)()).toISOString(),
    });
  },
};

const forecastDay = (seed: number, day: number, units: string, today: number): Json => {
  const x = (seed + 7 * day) >>> 0;
  const high = degrees(x, units);
  return {
    date: new Date(today + day * 86_400_000).toISOString().slice(0, 10),
    high,
    low: high - 8 - (x % 5),
    conditions: conditions[x % 5] ?? "",
    precipitation_chance: x % 100,
  };
};

const daysOf = (days: Json | undefined): number => {
  const isCount = typeof days === "bigint" || (typeof days === "number" && Number.isInteger(days));
  return isCount && days >= 0 ? Number(days > 7 ? 7 : days) : 3;
};

export const forecast: BuiltinTool = {
  name: "get_forecast",
  displayName: "Get Forecast",
  description: "Returns a made-up forecast for a place, always the same.",
  parameters: objectSchema({ ...place, days: { type: "integer", description: "At most 7." } }, ["location"]),
  hints: { ...pure, open_world: true },
  execute: async (args, context) => {
    const { location, units } = placeOf(args);
    const count = daysOf(args["days"]);
    const today = (context?.now ?? Date.now)();
    const all = Array.from({ length: count }, (_, day) => forecastDay(seedOf(location), day, units, today));
    return success({ location, units, days: count, forecast: all });
  },
};
