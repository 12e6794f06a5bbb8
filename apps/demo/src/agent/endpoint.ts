/** A client for models behind an OpenAI-compatible endpoint, on this machine or elsewhere. */
import {
  type Codec,
  type Json,
  array,
  describe,
  nullable,
  parse,
  read,
  record,
  string,
  stringify,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { type WireCall, WireCallCodec, completionOfStream } from "./completion-stream.ts";
import type { Message, Model, ModelCall, Turn } from "./model.ts";
import { messageOf } from "../engine/message.ts";

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

/** The timeout of an answer: models on small machines take minutes. */
const timeoutMs = 300_000;

interface Answer {
  readonly content: string | null;
  readonly tool_calls: readonly WireCall[] | null;
}
interface Completion {
  readonly choices: readonly { readonly message: Answer }[];
}
const CompletionCodec: Codec<Completion> = record<Completion>("a completion", {
  choices: array(
    record<Completion["choices"][number]>("a choice", {
      message: record<Answer>("a message", { content: nullable(string), tool_calls: nullable(array(WireCallCodec)) }),
    }),
  ),
});

const wireOf = (message: Message): Json => {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.id, content: stringify(message.result) };
    case "model": {
      const calls = message.calls.map(({ label: id, tool, args }) => ({
        id,
        type: "function",
        function: { name: tool, arguments: stringify(args) },
      }));
      return { role: "assistant", content: message.text, ...(calls.length > 0 && { tool_calls: calls }) };
    }
  }
};

/** Parses arguments. A text that is not JSON is passed on as it is: the tool's schema refuses it. */
const argsOf = (text: string): Json => {
  const args = parse(text === "" ? "{}" : text);
  return E.isRight(args) ? args.right : text;
};

/** Gives each call a unique id: some servers send none, or the same one twice. */
const callsOf = (calls: readonly WireCall[]): readonly ModelCall[] => {
  const taken = new Set<string>();
  return calls.map(({ id, function: { name, arguments: text } }, i) => {
    const own = id === null || id === "" || taken.has(id) ? `call-${i + 1}` : id;
    taken.add(own);
    return { label: own, tool: name, args: argsOf(text) };
  });
};

/** Reads an answer that came whole. */
export const answerIn = (text: string): Answer => {
  const completion = pipe(
    parse(text),
    E.chain((json) => read(CompletionCodec, json)),
  );
  if (E.isLeft(completion))
    throw new Error(`the answer of the model's endpoint has another form: ${describe(completion.left)}`);
  const answer = completion.right.choices[0]?.message;
  if (answer === undefined) throw new Error("the model's endpoint returned no choice");
  return answer;
};

const readableError = (thrown: unknown, url: string, ms: number): Error => {
  if (thrown instanceof Error && thrown.name === "TimeoutError")
    return new Error(`the model's endpoint did not answer within ${ms / 1000} s: start over, or choose another model`);
  const what = messageOf(thrown);
  return thrown instanceof TypeError
    ? new Error(
        `the model's endpoint at ${url} could not be reached (${what}): is it running, and does it allow requests from this page?`,
      )
    : new Error(what);
};

export const endpointModel =
  ({ url, model, key }: Endpoint, withinMs = timeoutMs): Model =>
  async (messages, tools): Promise<Turn> => {
    const functions = tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }));
    try {
      const response = await fetch(`${url.replace(/\/$/, "")}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
        body: stringify({ model, messages: messages.map(wireOf), tools: functions, stream: false }),
        signal: AbortSignal.timeout(withinMs),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`the model's endpoint answered ${response.status}: ${text.slice(0, 500)}`);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      const answer = isStream ? completionOfStream(text) : answerIn(text);
      return { text: answer.content ?? "", calls: callsOf(answer.tool_calls ?? []) };
    } catch (thrown) {
      throw readableError(thrown, url, withinMs);
    }
  };
