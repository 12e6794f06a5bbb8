/**
 * Log output as JSON lines, one object each, as pino writes them; `event` is the stable name of a line. Names in it come from
 * models and clients, and logs are read in terminals: what a terminal obeys or does not show is spelled out.
 */
import { inspect } from "node:util";
import { EffectError, type Log, Refused } from "@pawl/runtime";
import { type LogEntry, type LogLevel, errorOf } from "@pawl/runtime/driver";
import { escaped, escapedLines } from "@pawl/tool-value";

/** The numbers that pino gives to its levels, which collectors of logs know. */
const levels: { readonly [L in LogLevel]: number } = { debug: 20, info: 30, warn: 40, error: 50 };

/** The message of a line is its name, except for a tool's internal error. */
const textOf = ({ name, fields }: LogEntry): string =>
  name === "tool.internal_error" && fields["tool"] !== undefined
    ? "Tool internal error (details hidden from LLM)"
    : name;

/** Writes an error with its own fields, its causes and its stack. */
const errorFields = (thrown: unknown, depth = 0): object => {
  const error = errorOf(thrown);
  const cause = error.cause === undefined || depth > 5 ? {} : { cause: errorFields(error.cause, depth + 1) };
  return { ...error, type: error.name, message: error.message, stack: error.stack, ...cause };
};

/** Makes a writer of values that JSON has no form for: bigints, and objects that contain themselves. */
const plain = (): ((key: string, value: unknown) => unknown) => {
  const above: unknown[] = [];
  return function (this: unknown, _, value) {
    if (typeof value === "bigint") return value.toString();
    if (typeof value !== "object" || value === null) return value;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return "[Circular]";
    above.push(value);
    return value;
  };
};

/** Writes log entries of a level and above to a stream, as JSON lines. */
export const logTo =
  (stream: { readonly write: (line: string) => void }, level: LogLevel): Log =>
  (entry) => {
    const { name, level: of, fields, thrown } = entry;
    if (levels[of] < levels[level]) return;
    const error = thrown === undefined ? {} : { err: errorFields(thrown) };
    const head = { level: levels[of], time: Date.now(), pid: process.pid, event: name };
    stream.write(`${escaped(JSON.stringify({ ...head, ...fields, ...error, msg: textOf(entry) }, plain()))}\n`);
  };

const shownOf = (part: unknown): string => (typeof part === "string" ? part : inspect(part));

const lineOf = (parts: readonly unknown[]): string => escapedLines(parts.map(shownOf).join(" "));

/** The default log: prints errors to the console, and when a call that crashed goes on. */
export const errorsToConsole: Log = ({ level, name, fields, thrown }) => {
  const { call, tool, message } = fields;
  if (name === "call.crashed") console.warn(lineOf(["pawl: call", call, "of", tool, message]));
  if (level !== "error") return;
  const code = thrown instanceof Refused || thrown instanceof EffectError ? thrown.code : undefined;
  const page = code === undefined ? [] : [`see docs/errors.md#${code}`];
  console.error(lineOf([`pawl: ${name}`, fields, ...(thrown === undefined ? [] : [thrown]), ...page]));
};
