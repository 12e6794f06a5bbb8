/** Prompts in the short form of the cases: a message a line, results as one text. */
import { type AttachmentRef, type Json, mimeOf } from "@pawl/tool-value";
import type { PromptMessage, ResultOutput, ResultPart } from "../../../src/turn/prompt.ts";

const fileText = ({ media_type }: AttachmentRef): string => `[file ${mimeOf(media_type)}]`;

type Shown = Extract<PromptMessage, { readonly role: "user" | "assistant" }>["content"][number];

const textOf = (part: Shown): string => {
  if (part.type === "text") return part.text;
  return part.type === "file" ? fileText(part.ref) : "";
};

const contentText = (content: readonly Shown[]): string => content.map(textOf).join("");

const resultText = (output: ResultOutput): string => {
  if (output.type !== "content") return output.text;
  return output.parts.map((part) => (part.type === "text" ? part.text : fileText(part.ref))).join("");
};

const shortResult = (part: ResultPart): Json =>
  part.type === "approval"
    ? ["approval", part.approval_id, part.approved]
    : [part.id, part.output.type === "error" ? "error" : "ok", resultText(part.output)];

export const shortMessage = (message: PromptMessage): Json => {
  switch (message.role) {
    case "system":
      return { system: message.content };
    case "user":
      return { user: contentText(message.content) };
    case "tool":
      return { tool: message.content.map(shortResult) };
    case "assistant": {
      const calls = message.content.flatMap((part): Json[] =>
        part.type === "tool-call" ? [[part.id, part.tool, part.args]] : [],
      );
      const reasoning = message.content.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
      return {
        assistant: contentText(message.content),
        ...(calls.length === 0 ? {} : { calls }),
        ...(reasoning === "" ? {} : { reasoning }),
      };
    }
  }
};
