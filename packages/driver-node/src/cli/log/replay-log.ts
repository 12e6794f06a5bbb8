/** Replays a log, and shows how far it has got. */
import { type Replay, type ReplayOptions, replay, type State, describeFault, type Fault } from "@pawl/sansio-core";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { linesIn, SealedError, isSealedLine } from "@pawl/runtime";
import { CliError, exit, type Exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";
import type { JsonDocument } from "../command.ts";

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

export const unreadJson: JsonDocument = {
  what: "Each log that is sealed, without its keys",
  fields: "log, unread, remedy?",
};

/** A log that could not be read, as one of several that are looked at. */
export const printUnread = (log: LogSource, { code, message, hint }: CliError, terminal: Terminal): void =>
  terminal.print({ log: log.name, unread: { code, message }, remedy: hint }, () => [
    `${terminal.paint("yellow", "unread")}  ${log.name}`,
    `    ${message}`,
    ...(hint === undefined ? [] : [`    ${terminal.paint("green", hint)}`]),
  ]);

/** Without their keys values are not themselves: nothing may be added to them. */
const unchanged = (scope: string): string => `${scope} is not changed: its values are sealed`;

export const refuseToChangeSealed = (scope: string, lines: Iterable<string>): void =>
  refuseSealed(lines, unchanged(scope), exit.refused);

export const stateOf = async (journal: JournalFile, scope: string, sealed = unchanged(scope)): Promise<State> => {
  const text = await journal.textOf(scope);
  refuseSealed(linesIn(text), sealed, exit.refused);
  const { state, fault } = replay(await journal.textOf(scope));
  if (state !== undefined && fault === undefined) return state;
  const why = fault === undefined ? "it has no events" : (describeFault(fault).split("\n")[0] ?? fault.code);
  const hint = `pawl doctor ${journal.file}#${scope}`;
  throw new CliError("quarantined", `${scope} is read-only: ${why}`, { exit: exit.wrong, hint });
};

const eventsPerLook = 1000;

/** The pieces of a text, told of while they pass. */
function* watched(text: Iterable<string>, name: string, terminal: Terminal): Generator<string, undefined> {
  let pieces = 0;
  for (const piece of text) {
    if (pieces++ % eventsPerLook === 0) terminal.progress(`reading ${name}`);
    yield piece;
  }
  terminal.progress("");
  return undefined;
}

export const replayLog = async (
  { name, text }: LogSource,
  terminal: Terminal,
  options: ReplayOptions = {},
): Promise<Replay> => {
  let events = 0;
  const { onStep } = options;
  const result = replay(watched(await text(), name, terminal), {
    ...options,
    onStep: (recorded, transition) => {
      events += 1;
      if (events % eventsPerLook === 0) terminal.progress(`${name}: ${events} events`);
      onStep?.(recorded, transition);
    },
  });
  terminal.progress("");
  return result;
};
