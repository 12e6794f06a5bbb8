/** Logs whose values are sealed, met without the keys that open them. */
import { SealedError, isSealedLine, linesIn } from "@pawl/runtime";
import { type Fault, type Replay, type ReplayOptions } from "@pawl/sansio-core";
import type { Told } from "../command.ts";
import { CliError, type Exit, exit } from "../exit.ts";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { replayLog } from "./replaying.ts";

/** What there is to do, wherever keys are wanted. */
export const keysHint = "add --keys <folder>, or set PAWL_KEYS";

/** Refuses to work on values that are not themselves. */
export const refuseSealed = (lines: Iterable<string>, message: string, ends: Exit, hint: string = keysHint): void => {
  for (const line of lines) if (isSealedLine(line)) throw new CliError("sealed", message, { exit: ends, hint });
};

const isSealed = async ({ text }: LogSource): Promise<boolean> => {
  for (const line of linesIn(await text())) if (isSealedLine(line)) return true;
  return false;
};

/** Why a log that was replayed says nothing, if so: some of its values are read by the core, and they are sealed. */
const unreadableFor = async (log: LogSource, fault: Fault | undefined): Promise<CliError | undefined> => {
  if (fault === undefined || !(await isSealed(log))) return undefined;
  const message = `${log.name} can not be replayed: its values are sealed, and no keys were given`;
  return new CliError("sealed", message, { exit: exit.unreachable, hint: keysHint });
};

const ofKeys = ({ code, message }: SealedError): CliError => new CliError(code, message, { exit: exit.unreachable });

/** What a log comes to, or why that can not be said: its keys are not here, or are gone. That is no fault of the log. */
export const replayOpen = async (
  log: LogSource,
  terminal: Terminal,
  options: ReplayOptions = {},
): Promise<Replay | CliError> => {
  try {
    const replayed = await replayLog(log, terminal, options);
    return (await unreadableFor(log, replayed.fault)) ?? replayed;
  } catch (thrown) {
    if (thrown instanceof SealedError) return ofKeys(thrown);
    throw thrown;
  }
};

/** As `replayOpen`, where nothing else is to be done without the keys. */
export const replayOrRefuse = async (...of: Parameters<typeof replayOpen>): Promise<Replay> => {
  const replayed = await replayOpen(...of);
  if (replayed instanceof CliError) throw replayed;
  return replayed;
};

export const unreadJson: Told = {
  what: "Each log that is sealed, without its keys",
  fields: "log, unread, remedy?",
};

/** A log that could not be read, as one of several that are looked at. */
export const tellUnread = (log: LogSource, { code, message, hint }: CliError, terminal: Terminal): void =>
  terminal.tell({ log: log.name, unread: { code, message }, remedy: hint }, () => [
    `${terminal.paint("yellow", "unread")}  ${log.name}`,
    `    ${message}`,
    ...(hint === undefined ? [] : [`    ${terminal.paint("green", hint)}`]),
  ]);
