/** The verdict of the scene "Talk", from the log. */
import type { TurnStory } from "../turn/turn-story.ts";
import type { Verdict } from "./kill-verdict.ts";

const letters = (n: number): string => (n === 1 ? "1 letter" : `${n} letters`);

const overVerdict = ({ end, answers }: TurnStory): Verdict => {
  const asked = answers.reduce((sum, { attempts }) => sum + attempts, 0);
  const { model_calls: paid = 0, output_tokens: tokens = 0 } = end?.used ?? {};
  const means = `${answers.length} answers on record, ${paid} model calls, ${tokens} tokens of output.`;
  if (end?.status === "failed") return { kind: "harmed", words: `It failed: ${end.message ?? end.code}.`, means };
  if (end?.status === "stopped") return { kind: "", words: "You stopped it at its budget.", means };
  if (asked === answers.length)
    return { kind: "", words: "Done, without a crash.", means: "Start over, and kill the worker this time." };
  return { kind: "alive", words: "It was killed in mid-word, and every word stands once.", means };
};

export const turnVerdict = (turn: TurnStory, isAlive: boolean): Verdict => {
  const answer = turn.answers.at(-1);
  if (turn.end !== undefined) return overVerdict(turn);
  if (!isAlive && answer !== undefined && !answer.isOver)
    return {
      kind: "dead",
      words: "The worker is dead, in mid-word.",
      means: `${letters(answer.recorded)} are on record, ${letters(answer.said.length - answer.recorded)} were only shown.`,
    };
  if (!isAlive) return { kind: "dead", words: "The worker is dead.", means: "The next one has only the log." };
  if (turn.budget !== undefined)
    return {
      kind: "",
      words: "It asks before it goes on.",
      means: "A budget stops an agent over restarts and sub-agents.",
    };
  if (answer !== undefined && !answer.isOver && answer.attempts > 1)
    return {
      kind: "alive",
      words: "It goes on in mid-word.",
      means: "The model goes on after the words that are on record.",
    };
  if (answer !== undefined && !answer.isOver)
    return {
      kind: "",
      words: "Now kill the worker, in mid-word.",
      means: "Words on record stay. What was only shown is said again.",
    };
  if (answer !== undefined)
    return { kind: "", words: "It works.", means: "Its answer is on record, so its tools may act." };
  return {
    kind: "",
    words: "Run the agent, then kill its worker.",
    means: "Words on record stay. What was only shown is said again.",
  };
};
