/** A runtime in memory with some agents, for tests. */
import { openRuntime } from "@pawl/driver-node";
import type { Session } from "@pawl/runtime";
import { type Agent, type AgentHostOptions, type AgentTurn, type TurnFrame, agentHost } from "../src/index.ts";

export interface Opened {
  readonly session: Session;
  readonly close: () => Promise<void>;
}

export const open = async (
  agents: readonly Agent[],
  options: AgentHostOptions & { readonly file?: string } = {},
): Promise<Opened> => {
  const { file = ":memory:", ...how } = options;
  const { runtime, close } = openRuntime({ file, ...agentHost(agents, how) });
  return { session: await runtime.session("s"), close };
};

/** Reads a turn to its end. */
export const framesOf = async (turn: AgentTurn): Promise<readonly TurnFrame[]> => {
  const frames: TurnFrame[] = [];
  for await (const frame of turn) frames.push(frame);
  return frames;
};

/** The text that frames tell, resets applied. */
export const textOf = (frames: readonly TurnFrame[]): string => {
  let text = "";
  let done = "";
  for (const frame of frames) {
    if (frame.type === "text" && frame.of === undefined) text = text.slice(0, frame.at) + frame.text;
    if (frame.type === "reset") text = text.slice(0, frame.keep);
    if (frame.type === "answered" || frame.type === "cut") [done, text] = [done + text, ""];
  }
  return done + text;
};
