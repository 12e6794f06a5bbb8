/** What is said of a call that has ended. */
import { ToolCallOutput, formatToolOutput } from "@pawl/tool-value";
import type { Terminal } from "../terminal.ts";
import type { EndOfCall, History } from "./history.ts";
import { sinceText } from "./time.ts";

const outcomeWords = ({ outcome }: ToolCallOutput): string => {
  switch (outcome.status) {
    case "success":
      return "succeeded";
    case "failure":
      return `failed: ${outcome.payload.code}`;
    case "cancelled":
      return "was cancelled";
  }
};

export const endedJson = ({ timeOf }: History, { call, tool, seq, output }: EndOfCall): object => ({
  call,
  tool,
  seq,
  at: timeOf(seq),
  output: ToolCallOutput.encode(output),
});

export const endedWords = (
  { timeOf }: History,
  { call, tool, seq, output }: EndOfCall,
  { now, paint }: Terminal,
): readonly string[] => {
  const at = timeOf(seq);
  const when = at === undefined ? "" : `, ${sinceText(at, now())}`;
  const style = output.outcome.status === "success" ? "green" : "red";
  return [
    `${paint("bold", call)}  ${tool}  ${paint(style, outcomeWords(output))}  ${paint("dim", `at event ${seq}${when}`)}`,
    ...formatToolOutput(output)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
};
