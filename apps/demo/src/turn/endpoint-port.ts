/** A model behind an OpenAI-compatible endpoint, asked by a turn: its words are passed on as they come. */
import type { FailureClass, PromptMessage } from "@pawl/sansio-core/driver";
import { type ModelAnswer, type ModelCall, ModelError, type ModelPort } from "@pawl/runtime/driver";
import { type Json, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { CompletionStream, type WireCall } from "../agent/completion-stream.ts";
import { type Endpoint, answerIn } from "../agent/endpoint.ts";
import { messageOf } from "../engine/message.ts";

const textIn = (content: Extract<PromptMessage, { readonly role: "user" | "assistant" }>["content"]): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

type Output = Extract<
  Extract<PromptMessage, { readonly role: "tool" }>["content"][number],
  { readonly output: unknown }
>["output"];

const resultText = (output: Output): string => ("text" in output ? output.text : stringify(output as unknown as Json));

const wireOf = (message: PromptMessage): readonly Json[] => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: textIn(message.content) }];
    case "assistant": {
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call"
          ? [{ id: part.id, type: "function", function: { name: part.tool, arguments: stringify(part.args) } }]
          : [],
      );
      return [{ role: "assistant", content: textIn(message.content), ...(calls.length > 0 && { tool_calls: calls }) }];
    }
    case "tool":
      return message.content.flatMap((part) =>
        "output" in part ? [{ role: "tool", tool_call_id: part.id, content: resultText(part.output) }] : [],
      );
  }
};

const bodyOf = (model: string, { prompt, tools }: ModelCall): string =>
  stringify({
    model,
    stream: true,
    messages: prompt.flatMap(wireOf),
    tools: tools.map(({ name, description, input_schema: parameters }) => ({
      type: "function",
      function: { name, ...(description !== undefined && { description }), parameters },
    })),
  });

const kindOf = (status: number): FailureClass => {
  if (status === 429) return "rate_limit";
  if (status === 401 || status === 403) return "auth";
  return status >= 500 ? "provider" : "invalid_request";
};

const errorOf = (status: number, text: string): ModelError =>
  new ModelError(kindOf(status), `the model's endpoint answered ${status}: ${text.slice(0, 500)}`);

const argsIn = (text: string): { readonly args: Json } | { readonly input: string } => {
  const args = parse(text === "" ? "{}" : text);
  return E.isRight(args) ? { args: args.right } : { input: text };
};

const answerOf = (calls: readonly WireCall[], usage: ModelAnswer["usage"]): ModelAnswer => ({
  pieces: calls.map(({ id, function: { name, arguments: text } }, i) => ({
    b: i + 1,
    part: { type: "tool-call", id: id ?? `call-${i + 1}`, tool: name, ...argsIn(text) },
  })),
  finish: { reason: calls.length > 0 ? "tool-calls" : "stop" },
  usage,
});

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Says the words of a stream as they come. */
const streamed = async ({ body }: Response, { say }: ModelCall): Promise<ModelAnswer> => {
  const stream = new CompletionStream();
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    const isFirst = stream.content === "";
    const text = stream.feed(read.value);
    if (text !== "") say({ b: 0, text, ...(isFirst && { type: "text" }) });
  }
  return answerOf(stream.calls, stream.usage);
};

/** Says an answer that came whole: some servers do not stream. */
const whole = (text: string, { say }: ModelCall): ModelAnswer => {
  const { content, tool_calls: calls } = answerIn(text);
  if (content !== null && content !== "") say({ b: 0, type: "text", text: content });
  return answerOf(calls ?? [], {});
};

export const endpointPort = ({ url, model, key }: Endpoint): ModelPort => ({
  async ask(call): Promise<ModelAnswer> {
    const response = await fetch(`${url.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
      body: bodyOf(model, call),
      signal: call.signal,
    }).catch((thrown: unknown) => {
      throw new ModelError("transport", `the model's endpoint at ${url} could not be reached: ${messageOf(thrown)}`);
    });
    if (!response.ok) throw errorOf(response.status, await response.text());
    return isStream(response) ? streamed(response, call) : whole(await response.text(), call);
  },
});
