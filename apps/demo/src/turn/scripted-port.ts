/** The model that ships with the demo: it says its lines word by word, and goes on in mid-word where it is asked to. */
import type { PromptMessage } from "@pawl/sansio-core/driver";
import type { ModelAnswer, ModelPort } from "@pawl/runtime/driver";
import { type Json, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

interface Said {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args: Json }[];
}

/** A line of the script, made of the results that the prompt has. */
export type Line = (results: readonly Json[]) => Said;

/** The pace of a model that speaks some 14 words a second. */
const wordMs = 70;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });

/** Reads the results of tools in a prompt, behind a note that a person changed the arguments; null where one is no JSON. */
const resultsIn = (prompt: readonly PromptMessage[]): readonly Json[] =>
  prompt.flatMap((message) => {
    if (message.role !== "tool") return [];
    return message.content.map((part) => {
      const value =
        "output" in part && part.output.type === "text" ? parse(part.output.text.replace(/^\[.*\]\n/, "")) : undefined;
      return value !== undefined && E.isRight(value) ? value.right : null;
    });
  });

/** Counts tokens as the script does: one a word. */
const tokensIn = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

export const scriptedPort = (lines: readonly Line[], perWordMs = wordMs): ModelPort => ({
  async ask({ prompt, prefix = "", say, signal }): Promise<ModelAnswer> {
    const results = resultsIn(prompt);
    const { text, calls } = lines[Math.min(results.length, lines.length - 1)]?.(results) ?? { text: "", calls: [] };
    const rest = text.startsWith(prefix) ? text.slice(prefix.length) : text;
    let isFirst = true;
    for (const word of rest.match(/\s*\S+/g) ?? []) {
      await pause(perWordMs, signal);
      say({ b: 0, text: word, ...(isFirst && { type: "text" }) });
      isFirst = false;
    }
    return {
      pieces: calls.map(({ tool, args }, i) => ({
        b: i + 1,
        part: { type: "tool-call", id: `call-${results.length + 1}-${i + 1}`, tool, args },
      })),
      finish: { reason: calls.length === 0 ? "stop" : "tool-calls" },
      usage: { input_tokens: tokensIn(JSON.stringify(prompt)), output_tokens: tokensIn(rest) },
    };
  },
});
