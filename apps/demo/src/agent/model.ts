/** A model as an agent asks it: what was said so far goes in, words and calls come out. */
import { type Codec, type Json, array, describe, json, optional, parse, read, record, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
}

export type Message =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "model"; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: "tool"; readonly id: string; readonly result: Json };

/** What a model says next; without calls it is done. */
export interface Turn {
  readonly text: string;
  readonly calls: readonly ModelCall[];
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

export type Model = (messages: readonly Message[], tools: readonly ToolSpec[]) => Promise<Turn>;

const ModelCallCodec: Codec<ModelCall> = record<ModelCall>("a call", { id: string, tool: string, args: json });
export const TurnCodec: Codec<Turn> = record<Turn>("a turn", { text: string, calls: array(ModelCallCodec) });

/** Where an OpenAI-compatible endpoint is. */
export interface Endpoint {
  readonly url: string;
  readonly model: string;
  readonly key: string;
}
export const EndpointCodec: Codec<Endpoint> = record<Endpoint>("an endpoint", {
  url: string,
  model: string,
  key: string,
});

interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Completion {
  readonly choices: readonly {
    readonly message: { readonly content?: string; readonly tool_calls?: readonly WireCall[] };
  }[];
}
const WireCallCodec: Codec<WireCall> = record<WireCall>("a tool call", {
  id: string,
  function: record<WireCall["function"]>("a function", { name: string, arguments: string }),
});
const CompletionCodec: Codec<Completion> = record<Completion>("a completion", {
  choices: array(
    record<Completion["choices"][number]>("a choice", {
      message: record<Completion["choices"][number]["message"]>("a message", {
        content: optional(string),
        tool_calls: optional(array(WireCallCodec)),
      }),
    }),
  ),
});

const wireOf = (message: Message): object => {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.id, content: JSON.stringify(message.result) };
    case "model": {
      const calls = message.calls.map(({ id, tool, args }) => ({
        id,
        type: "function",
        function: { name: tool, arguments: JSON.stringify(args) },
      }));
      return { role: "assistant", content: message.text, ...(calls.length > 0 && { tool_calls: calls }) };
    }
  }
};

/** Arguments that are no JSON are handed on as the text that they are: the tool's schema refuses them. */
const callOf = ({ id, function: { name, arguments: text } }: WireCall): ModelCall => ({
  id,
  tool: name,
  args: E.getOrElse((): Json => text)(parse(text === "" ? "{}" : text)),
});

/** A model behind an endpoint that speaks as OpenAI's does. */
export const endpointModel =
  ({ url, model, key }: Endpoint): Model =>
  async (messages, tools) => {
    const body = {
      model,
      messages: messages.map(wireOf),
      tools: tools.map((tool) => ({ type: "function", function: tool })),
    };
    const response = await fetch(`${url.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`the model's endpoint answered ${response.status}: ${await response.text()}`);
    const completion = read(CompletionCodec, (await response.json()) as Json);
    if (E.isLeft(completion)) throw new Error(`the model's endpoint answered otherwise: ${describe(completion.left)}`);
    const message = completion.right.choices[0]?.message;
    if (message === undefined) throw new Error("the model's endpoint gave no choice");
    return { text: message.content ?? "", calls: (message.tool_calls ?? []).map(callOf) };
  };
