/** Log output with pino: one JSON object a line; `event` is its stable name. */
import type { Log } from "@pawl/runtime";
import { type LogEntry, type LogLevel, errorOf } from "@pawl/runtime/driver";
import { type DestinationStream, pino } from "pino";

/** The message of a line is its name, except for a tool's internal error. */
const textOf = ({ name, fields }: LogEntry): string =>
  name === "tool.internal_error" && fields["tool"] !== undefined
    ? "Tool internal error (details hidden from LLM)"
    : name;

/** Writes log entries of a level and above to a stream, as JSON lines. */
export const logTo = (stream: DestinationStream, level: LogLevel): Log => {
  const logger = pino({ level, base: { pid: process.pid } }, stream);
  return (entry) => {
    const { name, level: of, fields, thrown } = entry;
    if (!logger.isLevelEnabled(of)) return;
    const error = thrown === undefined ? {} : { err: errorOf(thrown) };
    logger[of]({ event: name, ...fields, ...error }, textOf(entry));
  };
};

/** The default log: prints errors to the console, and when a call that crashed goes on. */
export const errorsToConsole: Log = ({ level, name, fields, thrown }) => {
  const { call, tool, message } = fields;
  if (name === "call.crashed") console.warn(`pawl: call ${String(call)} of ${String(tool)} ${String(message)}`);
  if (level === "error") console.error(`pawl: ${name}`, fields, ...(thrown === undefined ? [] : [thrown]));
};
