/** Fixed texts that models read. They belong to the protocol: a prompt of the same log is the same for ever. */
export const texts = {
  summary: (summary: string): string => `Summary of the earlier conversation:\n${summary}`,
  leftOut: "(Earlier messages were left out because they did not fit.)",
  wrapUp: "The limit of this turn is reached. Answer now with what you have. Tools are off.",
  repair: (message: string): string =>
    `The answer does not fit the wanted form: ${message}. Answer again with JSON alone.`,
  noVerdict: "nobody has checked it",
  summarize:
    "Summarize the conversation so far, so that it can be continued without the messages above. Keep goals, decisions, " +
    "open questions, names, numbers and results of tools.",
  edited: (args: string): string => `[A person changed the arguments to ${args}]\n`,
  notRun: "[Tool execution cancelled]\nnot run",
  cutOff: "The answer was cut off at its output limit before its calls could be made.",
} as const;
