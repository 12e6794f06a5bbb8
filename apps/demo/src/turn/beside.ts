/** A run beside the recorded one: one answer of the world is another, and the agent goes on from there in an engine of its own. */
import type { Engine } from "@pawl/inspector";
import { Recording, forkAt } from "@pawl/inspector/model";
import { EventCodec, type Recorded, nextDeadline } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Story } from "../page/story.ts";

/** A step of the log, and the value that it comes to in the run beside. */
export interface Swap {
  readonly step: string;
  readonly value: Json;
}

const isOf = ({ event }: Recorded, { step }: Swap): boolean =>
  event.type === "step.settled" && event.key.endsWith(step);

/** Returns the log up to the step, in the form that an engine takes. */
const forkOf = (log: string, swap: Swap): Parameters<Engine>[0] => {
  const recording = new Recording();
  recording.feed(log);
  recording.end();
  const found = [...recording.events(1, recording.trusted)].find((one) => isOf(one, swap));
  if (found?.event.type !== "step.settled") throw new Error(`the log has no end of the step "${swap.step}" yet`);
  const edited = { ...found.event, result: { status: "ok", value: swap.value } } as const;
  const fork = forkAt(recording, found.seq, EventCodec.encode(edited) as Json);
  if (E.isLeft(fork)) throw new Error(fork.left.message);
  const { at, state, header, lines } = fork.right;
  const { id: scope, epoch, protocol } = state.scope;
  return { scope, epoch, protocol, at, wakeAt: nextDeadline(state)?.at, header, lines, blobs: [] };
};

export interface Beside {
  readonly log: string;
  readonly session: string;
  readonly swap: Swap;
  readonly engine: Engine;
  readonly signal: AbortSignal;
  /** Called with the story each time that it has gone on. */
  readonly draw: (story: Story) => void;
}

/** Runs on beside the log until the signal aborts. */
export const runBeside = async ({ log, session, swap, engine, signal, draw }: Beside): Promise<void> => {
  const story = new Story(session);
  const { text } = await engine(forkOf(log, swap), signal);
  let seq = 0;
  let rest = "";
  for await (const piece of text) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      if (seq > 0) story.take({ seq, line }); // The first line is the header.
      seq += 1;
    }
    draw(story);
  }
};
