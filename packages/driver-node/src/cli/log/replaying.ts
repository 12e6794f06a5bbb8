/** Replays a log, and shows how far it has got. */
import { type Replay, type ReplayOptions, replay } from "@pawl/sansio-core";
import type { LogSource } from "../place.ts";
import type { Terminal } from "../terminal.ts";

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
