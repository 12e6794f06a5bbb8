/** The plan of a prompt: what the state alone says of it. `promptOf` makes the prompt of the plan and the log. */
import type { State } from "../kernel/vocabulary.ts";
import { callIn } from "./conversation.ts";
import { type Entry, entriesOf } from "./frame.ts";

/** All that the model of an attempt is shown, by reference. */
export interface Plan {
  /** The event that published the agent. */
  readonly agent: number;
  readonly route: number;
  readonly provider: string;
  readonly entries: readonly Entry[];
  /** The prompt asks for a summary of what it shows. */
  readonly summarizes: boolean;
  /** Tools are shown; they are off where this is false. */
  readonly tools: boolean;
  /** The text that the answer goes on from, as the model's own. */
  readonly prefix: string;
}

/** Shows an answer that was cut off in front of what has cut it off; where that is gone, the model is asked as before. */
const withoutLastCut = (entries: readonly Entry[]): readonly Entry[] =>
  entries.at(-1)?.type === "cut" ? entries.slice(0, -1) : entries;

/** Returns the plan of the prompt that the running turn's model is shown; undefined where it has no model call. */
export const promptPlan = ({ conversation }: State, request: string): Plan | undefined => {
  const { running, frames } = conversation;
  const call = running === undefined ? undefined : callIn(running.phase);
  const frame = running === undefined ? undefined : frames.get(running.frame);
  const route = call === undefined ? undefined : running?.agent?.routes[call.route];
  if (running?.request !== request || running.agent === undefined) return undefined;
  if (call === undefined || frame === undefined || route === undefined) return undefined;
  return {
    agent: running.agent.seq,
    route: call.route,
    provider: route.provider,
    entries: call.kind === "compact" ? entriesOf(frame, call.range) : withoutLastCut(frame.entries),
    summarizes: call.kind === "compact",
    tools: call.withoutTools !== true,
    prefix: call.mode === "continue" ? call.prefix : "",
  };
};
