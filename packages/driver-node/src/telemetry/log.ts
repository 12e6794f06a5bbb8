/** What a host logs, as pino writes it: one JSON object a line, `event` its stable name. */
import type { Log, LogLevel } from "@pawl/runtime";
import { type DestinationStream, pino } from "pino";

export const logTo = (stream: DestinationStream, level: LogLevel): Log => {
  const logger = pino({ level, base: { pid: process.pid } }, stream);
  return ({ name, level: of, fields, thrown }) => {
    if (!logger.isLevelEnabled(of)) return;
    const error = thrown === undefined ? {} : { err: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    logger[of]({ event: name, ...fields, ...error }, name);
  };
};

/** Where nobody says what becomes of it: errors are shown, for nobody else hears of them. */
export const errorsShown: Log = ({ level, name, fields, thrown }) => {
  if (level === "error") console.error(`pawl: ${name}`, fields, thrown);
};
