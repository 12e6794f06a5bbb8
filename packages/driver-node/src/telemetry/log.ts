/** What a host logs, as pino writes it: one JSON object a line, `event` its stable name. */
import type { Log, LogEntry, LogLevel } from "@pawl/runtime";
import { type DestinationStream, pino } from "pino";

/** A line is told by its name; of a tool's internal error by what it means that it is here. */
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
    const error = thrown === undefined ? {} : { err: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    logger[of]({ event: name, ...fields, ...error }, textOf(entry));
  };
};

/** Where nobody says what becomes of it: errors are shown, for nobody else hears of them. */
export const errorsShown: Log = ({ level, name, fields, thrown }) => {
  if (level === "error") console.error(`pawl: ${name}`, fields, ...(thrown === undefined ? [] : [thrown]));
};
