/** What becomes of the trip that may be killed: read off its log, and off what the world outside has counted. */
import type { EffectCount } from "../engine/world.ts";
import { type Crash, type Story, modelTool } from "../page/story.ts";
import type { Verdict } from "./verdict.ts";

export const isOver = ({ words }: Pick<Story, "words">): boolean => words.length > 1;

const stepsWords = (n: number): string => (n === 1 ? "1 step" : `${n} steps`);

const takenOver = ({ kept, again, left }: Crash): string => {
  const cut = [
    again > 0 && `${again} begun again`,
    left > 0 && `${left} left alone: ${left === 1 ? "it says" : "they say"} once`,
  ];
  return [`${stepsWords(kept)} kept`, ...cut.filter((part) => part !== false)].join(", ");
};

/** By what the world outside has counted itself. */
const overVerdict = (crashes: number, counts: readonly EffectCount[]): Verdict => {
  if (counts.length === 0) return { kind: "", words: "It is over.", means: "What happened is being counted." };
  const asked = counts.reduce((sum, one) => sum + one.asked, 0);
  const means = `The world outside was asked ${asked} times for ${counts.length} things.`;
  const doubled = counts.find(({ happened }) => happened > 1);
  if (doubled !== undefined) return { kind: "harmed", words: `Happened twice: ${doubled.effect}.`, means };
  if (crashes === 0)
    return { kind: "alive", words: "Done, without a crash.", means: "Start over, and kill the worker this time." };
  const survived = crashes === 1 ? "A crash" : `${crashes} crashes`;
  return { kind: "alive", words: `${survived}, and nothing happened twice.`, means };
};

const rule = "What is on record stays. Only what was cut off begins again.";

export const verdictOf = (story: Story, isAlive: boolean, counts: readonly EffectCount[]): Verdict => {
  if (isOver(story)) return overVerdict(story.crashes.length, counts);
  const steps = story.calls.filter(({ tool }) => tool !== modelTool).flatMap((call) => call.steps);
  const underWay = stepsWords(steps.filter(({ status }) => status === "doing").length);
  const crash = story.crashes.at(-1);
  if (!isAlive)
    return {
      kind: "dead",
      words: `The worker is dead, with ${underWay} cut off.`,
      means: "The next one has the log, and nothing else.",
    };
  if (crash !== undefined) return { kind: "alive", words: "It goes on from the log.", means: `${takenOver(crash)}.` };
  if (steps.length > 0) return { kind: "", words: "Now kill the worker, in mid-step.", means: rule };
  return { kind: "", words: "Run the agent, then kill its worker.", means: rule };
};
