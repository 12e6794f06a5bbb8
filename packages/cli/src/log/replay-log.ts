/** Replays logs, with a progress line, and refuses sealed ones without their keys. */
import { type Replay, type ReplayOptions, replay, type State, describeFault, type Fault } from "@pawl/sansio-core";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";
import { linesIn } from "@pawl/sansio-core/driver";
import { SealedError, isSealedLine } from "@pawl/runtime/driver";
import { CliError, exit, type Exit } from "../exit.ts";
import type { JournalFile } from "../journal-file.ts";
import type { JsonDocument } from "../command.ts";

const eventsPerLook = 1000;

/** Passes the pieces of a text on and shows progress. */
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

/** The hint whenever keys are needed. */
export const keysHint = "add --keys <folder>, or set PAWL_KEYS";

/** Refuses a log with sealed values. */
export const refuseSealed = (lines: Iterable<string>, message: string, ends: Exit, hint: string = keysHint): void => {
  for (const line of lines) if (isSealedLine(line)) throw new CliError("sealed", message, { exit: ends, hint });
};

const isSealed = async ({ text }: LogSource): Promise<boolean> => {
  for (const line of linesIn(await text())) if (isSealedLine(line)) return true;
  return false;
};

/** Returns the error of a sealed log that cannot be replayed without its keys. */
const unreadableFor = async (log: LogSource, fault: Fault | undefined): Promise<CliError | undefined> => {
  if (fault === undefined || !(await isSealed(log))) return undefined;
  const message = `${log.name} cannot be replayed: its values are sealed, and no keys were given`;
  return new CliError("sealed", message, { exit: exit.unreachable, hint: keysHint });
};

const ofKeys = ({ code, message }: SealedError): CliError => new CliError(code, message, { exit: exit.unreachable });

/**
 * Replays a log. Returns an error if its values are sealed and the keys are missing or deleted: the log itself is not
 * at fault.
 */
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

/** Replays a log, or throws if its keys are missing. */
export const replayOrRefuse = async (...of: Parameters<typeof replayOpen>): Promise<Replay> => {
  const replayed = await replayOpen(...of);
  if (replayed instanceof CliError) throw replayed;
  return replayed;
};

export const unreadJson: JsonDocument = {
  what: "Each log that is sealed, without its keys",
  fields: "log, unread, remedy?",
};

/** Prints that a log could not be read, among others that can. */
export const printUnread = (log: LogSource, { code, message, hint }: CliError, terminal: Terminal): void =>
  terminal.print({ log: log.name, unread: { code, message }, remedy: hint }, () => [
    `${terminal.paint("yellow", "unread")}  ${log.name}`,
    `    ${message}`,
    ...(hint === undefined ? [] : [`    ${terminal.paint("green", hint)}`]),
  ]);

/** Says that nothing may be added to a log whose values cannot be read. */
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
