/** A model behind an endpoint that speaks as OpenAI's does: a server on this machine, or anybody's. */
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
import { messageOf } from "../engine/message-of.ts";

/** Where an endpoint is. */
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

/** How long an answer may take: models on small machines think for minutes. */
const patienceMs = 300_000;

interface Said {
  readonly content: string | null;
  readonly tool_calls: readonly WireCall[] | null;
}
interface Completion {
  readonly choices: readonly { readonly message: Said }[];
}
const CompletionCodec: Codec<Completion> = record<Completion>("a completion", {
  choices: array(
    record<Completion["choices"][number]>("a choice", {
      message: record<Said>("a message", { content: nullable(string), tool_calls: nullable(array(WireCallCodec)) }),
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
      const calls = message.calls.map(({ id, tool, args }) => ({
        id,
        type: "function",
        function: { name: tool, arguments: stringify(args) },
      }));
      return { role: "assistant", content: message.text, ...(calls.length > 0 && { tool_calls: calls }) };
    }
  }
};

/** Arguments that are no JSON are handed on as the text that they are: the tool's schema refuses them. */
const argsOf = (text: string): Json => {
  const args = parse(text === "" ? "{}" : text);
  return E.isRight(args) ? args.right : text;
};

/** Some servers give calls no names of their own, or one name to several. */
const callsOf = (calls: readonly WireCall[]): readonly ModelCall[] => {
  const taken = new Set<string>();
  return calls.map(({ id, function: { name, arguments: text } }, i) => {
    const own = id === null || id === "" || taken.has(id) ? `call-${i + 1}` : id;
    taken.add(own);
    return { id: own, tool: name, args: argsOf(text) };
  });
};

const saidIn = (text: string): Said => {
  const completion = pipe(
    parse(text),
    E.chain((json) => read(CompletionCodec, json)),
  );
  if (E.isLeft(completion)) throw new Error(`the model's endpoint answered otherwise: ${describe(completion.left)}`);
  const said = completion.right.choices[0]?.message;
  if (said === undefined) throw new Error("the model's endpoint gave no choice");
  return said;
};

const inWords = (thrown: unknown, url: string, ms: number): Error => {
  if (thrown instanceof Error && thrown.name === "TimeoutError")
    return new Error(`the model's endpoint did not answer within ${ms / 1000} s: start over, or choose another model`);
  const what = messageOf(thrown);
  return thrown instanceof TypeError
    ? new Error(`the model's endpoint at ${url} was not reached (${what}): does it run, and does it let this page ask?`)
    : new Error(what);
};

export const endpointModel =
  ({ url, model, key }: Endpoint, withinMs = patienceMs): Model =>
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
      const said = isStream ? completionOfStream(text) : saidIn(text);
      return { text: said.content ?? "", calls: callsOf(said.tool_calls ?? []) };
    } catch (thrown) {
      throw inWords(thrown, url, withinMs);
    }
  };
