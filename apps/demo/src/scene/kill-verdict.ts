/** The verdict of the scene "Kill it", from the log and from the counts of the outside world. */
import type { EffectCount } from "../engine/world.ts";
import { type Crash, type Story, modelTool } from "../page/story.ts";

export interface Verdict {
  /** The tone, as a CSS class. */
  readonly kind: "" | "dead" | "alive" | "harmed";
  readonly words: string;
  readonly means: string;
}

export const isOver = ({ words }: Pick<Story, "words">): boolean => words.length > 1;

const stepsWords = (n: number): string => (n === 1 ? "1 step" : `${n} steps`);

const crashWords = ({ kept, again, left }: Crash): string => {
  const cut = [
    again > 0 && `${again} started again`,
    left > 0 && `${left} not repeated: ${left === 1 ? "it runs" : "they run"} at most once`,
  ];
  return [`${stepsWords(kept)} kept`, ...cut.filter((part) => part !== false)].join(", ");
};

/** Returns the final verdict, from the counts of the outside world. */
const overVerdict = (crashes: number, counts: readonly EffectCount[]): Verdict => {
  if (counts.length === 0) return { kind: "", words: "It is over.", means: "The effects are being counted." };
  const asked = counts.reduce((sum, one) => sum + one.asked, 0);
  const means = `The outside world got ${asked} requests for ${counts.length} effects.`;
  const doubled = counts.find(({ happened }) => happened > 1);
  if (doubled !== undefined) return { kind: "harmed", words: `Happened twice: ${doubled.effect}.`, means };
  if (crashes === 0)
    return { kind: "alive", words: "Done, without a crash.", means: "Start over, and kill the worker this time." };
  const survived = crashes === 1 ? "A crash" : `${crashes} crashes`;
  return { kind: "alive", words: `${survived}, and nothing happened twice.`, means };
};

const rule = "Recorded steps stay done. Only the steps that were cut off start again.";

export const verdictOf = (story: Story, isAlive: boolean, counts: readonly EffectCount[]): Verdict => {
  if (isOver(story)) return overVerdict(story.crashes.length, counts);
  const steps = story.calls.filter(({ tool }) => tool !== modelTool).flatMap((call) => call.steps);
  const underWay = stepsWords(steps.filter(({ status }) => status === "doing").length);
  const crash = story.crashes.at(-1);
  if (!isAlive)
    return {
      kind: "dead",
      words: `The worker is dead, with ${underWay} cut off.`,
      means: "The next worker has only the log.",
    };
  if (crash !== undefined)
    return { kind: "alive", words: "It continues from the log.", means: `${crashWords(crash)}.` };
  if (steps.length > 0) return { kind: "", words: "Now kill the worker, in mid-step.", means: rule };
  return { kind: "", words: "Run the agent, then kill its worker.", means: rule };
};
